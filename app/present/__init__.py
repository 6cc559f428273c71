"""The stage for a projector."""
