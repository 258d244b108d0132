"""Requests and replies between two processes, whatever carries them."""
