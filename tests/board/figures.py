"""What the tests of figures share: the fixed cases, reading a drawing, and snapshots.

SHARDBOARD_SNAPSHOTS=write renews the snapshots; without it a drawing that differs fails.
"""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from app.board.legend import SIZES, words_width
from app.board.svg import Figure
from engine.estimate import Estimate, estimate
from engine.scenario import scenario_from

SNAPSHOTS = Path(__file__).parent / "snapshots"
CASES = {
    "card": ("llama-3-70b", 1024, {}),
    "interleaved": ("llama-3-70b", 1024, {"schedule": "interleaved", "vp": 4}),
    "zb-h1": ("llama-3-70b", 1024, {"schedule": "zb-h1"}),
    "dualpipev": ("llama-3-70b", 1024, {"schedule": "dualpipev", "pp": 8, "micro_batches": 32}),
    "405B": ("llama-3-405b", 16384, {"pp": 16}),
    "many micro-batches": ("llama-3-405b", 16384, {"pp": 16, "micro_batches": 128}),
    "fsdp": ("llama-3-70b", 256, {"tp": 1, "pp": 1, "zero": 3, "micro_batches": 4}),
    "ddp": ("llama-3-70b", 256, {"tp": 1, "pp": 1, "zero": 0, "micro_batches": 4}),
    "64 stages": ("llama-3-405b", 4096, {"pp": 64, "micro_batches": 64}),
}


@cache
def case(name: str) -> Estimate:
    model, gpus, layout = CASES[name]
    return estimate(scenario_from({"model": model, "cluster": "hgx-h100", "gpus": gpus, "layout": layout}))


@dataclass(frozen=True)
class Words:
    """A text of a drawing and the box it takes, measured with the drawing's own ruler."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    style: str = "read"

    def overlaps(self, other: "Words", hair: float = 1.0) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > hair and down > hair


_TEXT = re.compile(r'<text class="t-(\w+)[^"]*" x="([-\d.]+)" y="([-\d.]+)"(?: text-anchor="(\w+)")?>([^<]*)</text>')
_MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")


class Drawn(Protocol):
    """A drawing as text: a figure, or a moment of a film."""

    def svg(self) -> str: ...


def words_of(figure: Drawn) -> list[Words]:
    found = []
    for style, x, y, anchor, text in _TEXT.findall(figure.svg()):
        wide, size = words_width(text, style), SIZES[style]
        left = float(x) - {"middle": wide / 2, "end": wide}.get(anchor, 0.0)
        found.append(Words(text, left, float(y) - 0.74 * size, left + wide, float(y) + 0.14 * size, style))
    return found


def placed(figure: Drawn) -> list[Words]:
    """The words of a drawing where they stand: what belongs to a group moves with it."""

    def walk(node: ET.Element, dx: float, dy: float) -> Iterator[Words]:
        moved = _MOVE.match(node.get("transform", ""))
        if moved:
            dx, dy = dx + float(moved[1]), dy + float(moved[2])
        if node.tag == "text":
            style = (node.get("class") or "").split()[0].removeprefix("t-")
            words, size = node.text or "", SIZES[style]
            wide, x, y = words_width(words, style), dx + float(node.get("x", 0)), dy + float(node.get("y", 0))
            left = x - {"middle": wide / 2, "end": wide}.get(node.get("text-anchor", ""), 0.0)
            yield Words(words, left, y - 0.72 * size, left + wide, y + 0.2 * size, style)
        for child in node:
            yield from walk(child, dx, dy)

    plain = re.sub(r' xmlns="[^"]+"', "", figure.svg())
    return list(walk(ET.fromstring(plain), 0.0, 0.0))


def assert_legible(figure: Figure) -> None:
    """No two texts share a place, none leaves the drawing."""
    words = words_of(figure)
    crossing = [(a.text, b.text) for at, a in enumerate(words) for b in words[at + 1 :] if a.overlaps(b)]
    assert not crossing
    outside = [
        w.text for w in words if w.left < -1 or w.right > figure.width + 1 or w.top < -1 or w.bottom > figure.height
    ]
    assert not outside


def fills_of(svg: str) -> set[str]:
    """Names of the surfaces in a drawing."""
    return set(re.findall(r'class="[^"]*\bfill-([\w-]+)', svg)) | set(re.findall(r'class="pattern-([\w-]+)"', svg))


def assert_as_before(figure: Figure, name: str) -> None:
    """The drawing equals its snapshot, one element a line."""
    text = figure.svg().replace("><", ">\n<") + "\n"
    file = SNAPSHOTS / f"{name}.svg"
    if os.environ.get("SHARDBOARD_SNAPSHOTS") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), "no snapshot yet: run with SHARDBOARD_SNAPSHOTS=write and look at it"
    assert text == file.read_text(encoding="utf-8"), "the drawing changed: look at it, then SHARDBOARD_SNAPSHOTS=write"
