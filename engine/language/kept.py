"""Results that are kept for whoever asks again: as many as a number of bytes holds, where lru_cache would count entries."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
V = TypeVar("V")


class Kept(Generic[P, V]):
    """A function that knows what it gave before. Only `kept` makes one.

    most_bytes   that all results may hold together; the one asked for longest ago goes first, and one that is larger
                 than that alone is given and not kept   [bytes]
    held_bytes   that they hold now   [bytes]
    """

    def __init__(self, function: Callable[P, V], most_bytes: int, size: Callable[[V], int]):
        self.function, self.most_bytes, self.size, self.held_bytes = function, most_bytes, size, 0
        self._results: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()
        update_wrapper(self, function)

    def __len__(self) -> int:
        return len(self._results)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> V:
        key = args, tuple(kwargs.items())
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key][0]
        result = self.function(*args, **kwargs)  # two who ask at once may both make it
        size = self.size(result)
        if size <= self.most_bytes:
            with self._lock:
                self._keep(key, result, size)
        return result

    def _keep(self, key: Hashable, result: V, size: int) -> None:
        self.held_bytes += size - self._results.pop(key, (result, 0))[1]
        self._results[key] = result, size
        while self.held_bytes > self.most_bytes:
            self.held_bytes -= self._results.popitem(last=False)[1][1]

    def cache_clear(self) -> None:
        """Nothing is kept any more."""
        with self._lock:
            self._results.clear()
            self.held_bytes = 0


def kept(most_bytes: float, size: Callable[[Any], int]) -> Callable[[Callable[P, V]], Kept[P, V]]:
    """Keeps what a function gives, up to so many bytes. Its arguments are hashable.

    size   bytes of a result, cheaply told: it is asked once, when the result is new

    >>> fourfold = kept(10, len)(lambda letter: letter * 4)
    >>> [fourfold(letter) for letter in "abca"]
    ['aaaa', 'bbbb', 'cccc', 'aaaa']
    >>> fourfold.held_bytes, len(fourfold)
    (8, 2)
    """
    return lambda function: Kept(function, int(most_bytes), size)
