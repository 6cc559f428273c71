"""A drawing whose parts can be pointed at: links around shapes, and named groups that the style sheet may tint."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from app.board.svg import Figure


class LinkedFigure(Figure):
    """A Figure with parts.

    >>> figure = LinkedFigure("bars", 100, 20, "Bars", "One bar.")
    >>> with figure.link("/working", "weights: 17.6 GB"):
    ...     figure.cells([(0, 0, 50, 20)], fill="weights")
    >>> '<a class="part" href="/working" aria-label="weights: 17.6 GB">' in figure.svg()
    True
    """

    _has_links = False

    @contextmanager
    def link(self, href: str, label: str, *, tab: bool = True) -> Iterator[None]:
        """What is drawn inside leads to an address. Words inside let the pointer through to the shapes below them.

        label   says where to, to those who hear the page; the pointer shows it too
        tab     whether the tab key stops here: off where the same address has another, calmer way to it
        """
        shapes, words = len(self._shapes), len(self._words)
        yield
        drawn, start = (self._shapes, shapes) if len(self._shapes) > shapes else (self._words, words)
        skip = "" if tab else ' tabindex="-1"'
        opened = (
            f'<a class="part" href="{escape(href)}" aria-label="{escape(label)}"{skip}><title>{escape(label)}</title>'
        )
        drawn[start:] = [opened, *drawn[start:], "</a>"]
        self._has_links = True

    @contextmanager
    def group(self, css: str) -> Iterator[None]:
        """What is drawn inside carries a class, shapes and words alike; no class, no group."""
        starts = [(drawn, len(drawn)) for drawn in (self._shapes, self._words) if css]
        yield
        for drawn, start in starts:
            if len(drawn) > start:
                drawn[start:] = [f'<g class="{css}">', *drawn[start:], "</g>"]

    def svg(self) -> str:
        """The whole drawing; one with links is a group of things, not one image, to those who hear the page."""
        text = super().svg()
        return text.replace(' role="img"', ' role="group"', 1) if self._has_links else text
