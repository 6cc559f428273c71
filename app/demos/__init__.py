"""The demos' pages: runs and traces, live or recorded."""
