"""Groups that others shared: stored within bounds, drawn as a bounded sample, served on request."""
