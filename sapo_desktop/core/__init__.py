"""What every other package may use: records, errors, settings, the node's states and the pure parts of a
round."""
