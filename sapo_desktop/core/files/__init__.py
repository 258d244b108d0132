"""Bounded reading, and writing that survives a power cut: the old or the new content remains."""
