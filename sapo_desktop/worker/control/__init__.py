"""The control channel between the worker and its clients, both ends."""
