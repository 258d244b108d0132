"""Real sockets: who is let in, whose turn it is, and how bytes come and go."""
