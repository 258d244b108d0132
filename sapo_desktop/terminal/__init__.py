"""What the command line draws: the live view of a running node and its tables."""
