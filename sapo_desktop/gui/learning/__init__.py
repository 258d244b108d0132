"""The page Learning."""
