"""What a user keeps in the system's keyring, and the keyring itself, which may keep its caller waiting."""
