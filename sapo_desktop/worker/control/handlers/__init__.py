"""The worker's handlers of clients' requests."""
