"""Shardboard for people: pages, command line and demos over the engine. The version stands here and nowhere else."""

__version__ = "0.1.0"
