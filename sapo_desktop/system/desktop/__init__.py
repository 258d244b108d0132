"""What the program asks of the user's desktop beside a window: to be started at login."""
