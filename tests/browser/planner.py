"""The planner as a hand and an eye meet it."""

import re

from playwright.sync_api import Locator, Page, expect

ANSWER = ".plan-answer a.value"


class Planner:
    """A window that shows the planner."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def number(self, name: str) -> Locator:
        return self.page.locator(f"#{name}")

    def range(self, name: str) -> Locator:
        return self.page.locator(f"[data-field={name}] input[type=range]")

    def says(self, name: str) -> Locator:
        return self.page.locator(f"#says-{name}")

    def board(self) -> str:
        """All that the board says at once; notes are tried, and so change, when the hand has rested."""
        parts = self.page.locator("#plan-board :is(.column-figures, .plan-answer, .column-wide)")
        return "\n".join(parts.all_inner_texts())

    def shows(self, name: str, value: str) -> None:
        """Wait until the board is that of this value: its links carry the plan they belong to."""
        expect(self.page.locator(ANSWER).first).to_have_attribute("href", re.compile(rf"[?&]{name}={value}(&|$)"))

    def at(self, name: str, share: float) -> tuple[float, float]:
        """The point of a slider's track at this share of its length; half of the thumb is beyond each end."""
        self.range(name).scroll_into_view_if_needed()
        box = self.range(name).bounding_box()
        assert box
        return box["x"] + box["width"] * share, box["y"] + box["height"] / 2

    def grasp(self, name: str) -> None:
        """Press the mouse on the thumb."""
        value, low, high = self.range(name).evaluate("range => [range.value, range.min, range.max].map(Number)")
        self.page.mouse.move(*self.at(name, (value - low) / (high - low)))
        self.page.mouse.down()

    def pull(self, name: str, share: float, steps: int = 20) -> None:
        """Move the mouse along the track."""
        self.page.mouse.move(*self.at(name, share), steps=steps)
