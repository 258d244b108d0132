"""Model files: listed, downloaded, checked and stored."""
