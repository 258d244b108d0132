"""The background process: rounds, checkpoints, history, its host processes and its control channel."""
