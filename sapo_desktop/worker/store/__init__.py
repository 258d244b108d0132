"""What lasts: checkpoints, the history's database, and the order in which they are written."""
