"""What the command line draws: the lines of a running node and its tables."""
