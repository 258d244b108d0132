"""The base of all commands: the grammar, their context, asking and waiting in a terminal."""
