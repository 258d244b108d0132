"""What two peers say to each other, as bytes, messages and a session without I/O."""
