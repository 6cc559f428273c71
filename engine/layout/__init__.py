"""How a model is cut over GPUs, and what about that has no meaning."""
