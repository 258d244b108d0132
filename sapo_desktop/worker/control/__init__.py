"""Both ends of the control channel between the worker and its clients."""
