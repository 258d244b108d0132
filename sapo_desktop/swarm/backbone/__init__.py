"""Between relays: each passes what it verified to the others in signed batches; sockets/backbone.py carries them."""
