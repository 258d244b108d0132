"""The base of both kinds of connection: rates, address ranges, bounded websockets, invite links."""
