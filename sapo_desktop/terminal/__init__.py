"""What the command line prints: the lines of a running node, and tables."""
