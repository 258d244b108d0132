"""Files read within bounds and written so that a power cut leaves the old or the new."""
