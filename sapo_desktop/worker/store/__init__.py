"""Storage: checkpoints, the history database, and the order in which they are written."""
