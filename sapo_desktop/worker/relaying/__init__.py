"""What operators of relays need in addition: the backbone between several relays, ban lists, metrics."""
