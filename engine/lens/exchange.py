"""An all-to-all in slots: each port sends one copy and takes one copy at a time, and none waits longer than it must."""

from collections.abc import Sequence


def exchange_length(pairs: Sequence[tuple[int, int]]) -> int:
    """Slots until the busiest port is done: as many as it sends, or takes.   [slots]

    pairs   from where to where each copy goes; what stays takes no wire

    >>> exchange_length([(0, 1), (2, 1), (1, 1)])
    2
    """
    sent = [source for source, target in pairs if source != target]
    taken = [target for source, target in pairs if source != target]
    return max((ports.count(port) for ports in (sent, taken) for port in ports), default=0)


def exchange_slots(pairs: Sequence[tuple[int, int]]) -> tuple[int | None, ...]:
    """The slot of each copy, from 0, so that no port sends two or takes two at once; None: it stays at home.

    It takes no more slots than the busiest port needs (König 1916: edges of a bipartite graph have as many colours as
    its busiest corner has edges).

    >>> exchange_slots([(0, 1), (2, 1), (1, 1), (0, 2)])
    (1, 0, None, 0)
    """
    length, ports = exchange_length(pairs), 1 + max((max(pair) for pair in pairs), default=0)
    taken = [[[-1] * length for _ in range(ports)] for _ in (0, 1)]  # [sends or takes][port][slot] -> copy
    for copy, (source, target) in enumerate(pairs):
        if source == target:
            continue
        slot, other = taken[0][source].index(-1), taken[1][target].index(-1)
        if taken[1][target][slot] >= 0:
            _swap(taken, pairs, target, slot, other)
        taken[0][source][slot] = taken[1][target][slot] = copy
    found: list[int | None] = [None] * len(pairs)
    for port in taken[0]:
        for slot, copy in enumerate(port):
            if copy >= 0:
                found[copy] = slot
    return tuple(found)


def _swap(taken: list[list[list[int]]], pairs: Sequence[tuple[int, int]], target: int, slot: int, other: int) -> None:
    """Make a slot free at a target: copies that hang together over two slots change them with each other."""
    chain: list[tuple[int, int]] = []
    side, port, now = 1, target, slot
    while (copy := taken[side][port][now]) >= 0:
        chain.append((copy, now))
        side = 1 - side
        port = pairs[copy][side]
        now = slot + other - now
    for copy, now in chain:
        for side in (0, 1):
            taken[side][pairs[copy][side]][now] = -1
    for copy, now in chain:
        for side in (0, 1):
            taken[side][pairs[copy][side]][slot + other - now] = copy
