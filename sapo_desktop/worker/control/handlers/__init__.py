"""What the worker does on each request of a client."""
