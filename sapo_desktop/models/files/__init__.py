"""Model files: asked for, fetched, checked and kept."""
