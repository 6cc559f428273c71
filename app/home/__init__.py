"""The front of the board."""
