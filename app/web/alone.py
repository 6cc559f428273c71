"""A drawing that stands alone: an SVG file with its colours, its strokes and its faces inside, for one of the two boards.

The style is read from our own style sheets, so that a drawing taken away looks like the page. Everything is written out:
programs that open SVG know neither custom properties nor light-dark().
"""

import base64
import re
from functools import lru_cache
from pathlib import Path

from app.settings import settings
from app.web.assets import Assets

BOARDS = {"light": 0, "dark": 1}  # place of a board's colour in light-dark()
SHEETS = ("figures.css", "scenes/drawing.css")
AIR = 12.0  # units around a drawing
REM = 16.0  # px: what the page has
_TOKEN = re.compile(r"--([\w-]+): ([^;]+);")
_BOTH = re.compile(r"light-dark\(([^,]+), (.+)\)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_OURS = re.compile(r"\.(?:pen|bare|ink-|fill-|pattern-|t-|on-solid|zero-on)|pattern-|drawing text")
_FACE = re.compile(r"@font-face \{.*?\}", re.DOTALL)
_LENGTH = re.compile(r"calc\(([\d.]+)rem \* ([\d.]+)\)")


def standing_alone(drawing: str, width: float, height: float, board: str, assets: Assets) -> str:
    """A file of a drawing.

    drawing   <svg>s with their sizes, each in its place
    width     of the whole; it opens at one pixel a unit
    board     light or dark
    """
    style = f"{_faces(drawing, assets)}{_style(board)}"
    size = f'width="{width + 2 * AIR:g}" height="{height + 2 * AIR:g}"'
    box = f'viewBox="{-AIR:g} {-AIR:g} {width + 2 * AIR:g} {height + 2 * AIR:g}" {size}'
    ground = f'<rect x="{-AIR:g}" y="{-AIR:g}" {size} fill="{_tokens(board)["board"]}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} color="{_tokens(board)["ink"]}">'
        f"<style>{style}</style>{ground}{drawing}</svg>\n"
    )


def _read(sheet: str) -> str:
    text = (settings().static / "css" / sheet).read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


@lru_cache
def _tokens(board: str) -> dict[str, str]:
    """The value of each token on a board."""
    found: dict[str, str] = {}
    for name, value in _TOKEN.findall(_read("tokens.css").partition(':root[data-theme="light"]')[0]):
        both = _BOTH.fullmatch(value)
        found[name] = both[BOARDS[board] + 1] if both else value
    for name, value in found.items():
        found[name] = re.sub(r"var\(--([\w-]+)\)", lambda named: found[named[1]], value)
    return found


@lru_cache
def _style(board: str) -> str:
    """The rules of a drawing, every value written out."""
    tokens = _tokens(board)
    rules = [
        (" ".join(selector.split()), " ".join(body.split()))
        for sheet in SHEETS
        for selector, body in _RULE.findall(re.sub(r"@layer \w+ \{", "", _read(sheet)))
        if _OURS.search(selector) and ":hover" not in selector and ":focus" not in selector and "@" not in selector
    ]
    text = "".join(f"{selector}{{{body}}}" for selector, body in rules)
    text = re.sub(r"var\(--([\w-]+)(?:, [^)]+)?\)", lambda named: tokens.get(named[1], "none"), text)
    return _LENGTH.sub(lambda found: f"{float(found[1]) * REM * float(found[2]):g}px", text)


def _faces(drawing: str, assets: Assets) -> str:
    """The faces that a drawing is written in, each with its letters inside."""
    hand = {"kalam-bold": ("t-title", "t-answer", "t-caption"), "kalam": ("t-remark",)}
    mono = {"plex-mono": ("t-number", "t-cell")}
    used = {face for face, styles in (hand | mono).items() if any(style in drawing for style in styles)}
    if re.search(r"[\u0391-\u03c9\u2070-\u2099\u2190-\u22ff]", drawing):
        used.add("signs")
    return "".join(
        _face(block, assets) for block in _FACE.findall(_read("base.css")) if _named(block) in {"atkinson", *used}
    )


def _named(block: str) -> str:
    found = re.search(r'url\("([\w-]+)\.woff2"\)', block)
    return found[1] if found else ""


def _face(block: str, assets: Assets) -> str:
    return _with_letters(" ".join(block.split()), _named(block), assets.folder / assets.names[f"{_named(block)}.woff2"])


@lru_cache
def _with_letters(block: str, name: str, file: Path) -> str:
    letters = base64.b64encode(file.read_bytes()).decode()
    return block.replace(f'url("{name}.woff2")', f'url("data:font/woff2;base64,{letters}")')
