"""How each demo builds its training: one file each, with one function `build(rank) -> Training`. These import torch."""
