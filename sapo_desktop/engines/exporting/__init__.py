"""Models written for use elsewhere."""
