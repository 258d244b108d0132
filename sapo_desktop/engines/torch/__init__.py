"""The engine that generates and learns in torch."""
