"""What the window calls things, in its language."""
