"""How the window looks: colours, type and icons."""
