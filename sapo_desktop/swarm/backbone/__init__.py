"""Between relays: what each verified goes to the others, in signed batches; sockets/backbone.py carries them."""
