"""What the operators of relays need beside a relay: the backbone between several, lists of bans, figures."""
