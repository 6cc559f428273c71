"""The scenes' pages: frames, predictions, players."""
