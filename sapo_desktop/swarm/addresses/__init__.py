"""Whom to link to: addresses, where they come from, and which of them are dialled."""
