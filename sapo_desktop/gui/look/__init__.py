"""The window's appearance: colours, type and icons."""
