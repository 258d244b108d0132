"""What a user stores in the system's keyring, and the keyring itself, which may block its caller."""
