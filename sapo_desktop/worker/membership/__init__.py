"""This node's part in the swarm: joining, sharing, drawing, marking what others sent."""
