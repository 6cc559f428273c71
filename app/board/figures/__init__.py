"""Figures: one engine result in, one drawing out."""
