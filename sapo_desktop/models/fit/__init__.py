"""Which model fits a computer, based on one estimate of memory."""
