"""The working of any formula."""
