"""Real sockets: who may connect, whose turn it is, and how bytes are read and written."""
