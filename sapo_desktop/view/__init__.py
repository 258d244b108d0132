"""What both front ends show of a node, as plain data: no Qt, no terminal."""
