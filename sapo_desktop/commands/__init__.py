"""The commands, one short function each, grouped by subject; a module is imported when its command runs."""
