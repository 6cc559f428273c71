"""Which bytes are alive: every storage an operation makes, until it is freed. Fake tensors have sizes and no data."""

import weakref
from collections.abc import Callable
from typing import Any

import torch

RESIZE = "resize_"
PLAIN_RESIZE = torch.UntypedStorage.resize_


class Held:
    """Bytes of living storages, now and at most."""

    def __init__(self) -> None:
        self.now_bytes = 0
        self.peak_bytes = 0
        self._sizes: dict[int, int] = {}

    def add(self, tensor: torch.Tensor) -> None:
        """Count a tensor's storage, once."""
        storage = tensor.untyped_storage()
        name = id(storage)
        if name not in self._sizes:
            weakref.finalize(storage, self._freed, name)
            self._sizes[name] = 0
        self._sized(name, storage.nbytes())

    def _sized(self, name: int, size: int) -> None:
        self.now_bytes += size - self._sizes[name]
        self._sizes[name] = size
        self.peak_bytes = max(self.peak_bytes, self.now_bytes)

    def _freed(self, name: int) -> None:
        self.now_bytes -= self._sizes.pop(name)

    def resizing(self) -> Callable[[torch.UntypedStorage, int], Any]:
        """FSDP frees and fills gathered weights by resizing their storage, which no dispatcher sees."""

        def resize_(storage: torch.UntypedStorage, size: int) -> Any:
            done = PLAIN_RESIZE(storage, size)
            if id(storage) in self._sizes:
                self._sized(id(storage), size)
            return done

        return resize_
