"""The background process: rounds, checkpoints, history, host processes and the control channel."""
