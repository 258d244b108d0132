"""The page Model."""
