"""The commands, one short function each, grouped by what they are about; a module is imported when its command runs."""
