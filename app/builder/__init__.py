"""Placing a pipeline schedule by hand."""
