"""Statistics over the effects that works report: pooling, a forest plot, and a verdict from numbers."""
