"""Which peers to link to: addresses, their sources, and which of them are dialled."""
