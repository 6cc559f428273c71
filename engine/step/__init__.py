"""One training step: what computes, what waits, what shows."""
