"""The page Peers."""
