"""These files run as processes of their own: they import torch, which the tests' own process never does."""

collect_ignore_glob = ["*.py"]
