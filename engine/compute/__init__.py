"""Floating point work, and the time one GPU takes for it."""
