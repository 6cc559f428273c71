"""The plan on its floor."""
