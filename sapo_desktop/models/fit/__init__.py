"""Which model fits a computer, by one estimate of memory."""
