"""Groups that others shared: kept within bounds, drawn as a bounded sample, given on request."""
