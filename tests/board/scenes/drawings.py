"""Where the words of a frame stand, groups that move included: widths as the legend reckons them."""

import re
from html import unescape

from app.board.legend import words_width
from app.board.scenes.base import HEIGHT, WIDTH, SceneFigure

PART = re.compile(
    r'(<g[^>]*>)|(</g>)|<text class="t-(\w+)[^"]*" x="([-\d.]+)" y="([-\d.]+)"(?: text-anchor="(\w+)")?>([^<]*)</text>'
)
MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")


def texts_outside(figure: SceneFigure, slack: float = 4) -> list[str]:
    """Words that do not lie inside the frame."""
    found: list[str] = []
    origins = [(0.0, 0.0)]
    for opened, closed, style, x, y, anchor, written in PART.findall(figure.svg()):
        at_x, at_y = origins[-1]
        if opened:
            move = MOVE.search(opened)
            origins.append((at_x + float(move[1]), at_y + float(move[2])) if move else (at_x, at_y))
        elif closed:
            origins.pop()
        else:
            width = words_width(unescape(written), style)
            left = at_x + float(x) - {"middle": width / 2, "end": width}.get(anchor, 0.0)
            if left < -slack or left + width > WIDTH + slack or not 12 <= at_y + float(y) <= HEIGHT:
                found.append(unescape(written))
    return found
