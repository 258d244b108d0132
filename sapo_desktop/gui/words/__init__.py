"""The window's texts, in its language."""
