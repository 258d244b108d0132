"""What every command stands on: the grammar, the context it is given, asking and waiting in a terminal."""
