"""The window's frame: process, main window, tray, what every page is."""
