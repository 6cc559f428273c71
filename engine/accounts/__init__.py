"""An estimate added up: what its wires carry, and what its kernels take."""
