"""This node's part in the swarm: joining, sharing, drawing, scoring what others sent."""
