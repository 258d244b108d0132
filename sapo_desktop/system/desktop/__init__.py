"""What the program asks of the user's desktop besides a window, for example to start at login."""
