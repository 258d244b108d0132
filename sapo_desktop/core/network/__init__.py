"""What both kinds of connection stand on: rates, address ranges, bounded websockets, invite links."""
