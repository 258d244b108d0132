"""The window's link to the worker."""
