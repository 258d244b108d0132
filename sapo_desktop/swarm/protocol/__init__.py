"""The protocol of two peers: bytes, messages and a session without I/O."""
