"""Stacks of what stages keep for their backward passes: pills that come with a forward and go with its backward."""

from functools import cached_property

from app.board.film.composition import Composition, Steps
from app.board.film.lens import plain
from app.board.film.pieces import faded
from app.board.film.track import Way
from app.board.legend import SIZES, words_width
from app.board.scenes.pp.places import places
from app.board.scenes.pp.story import Story, act, at_once
from engine.language.units import digits_text
from engine.lens.stacks import Kept, kept

PILLS = 700  # moves of pills up to which each is drawn; above, a stack is one column
FADED, DROPS = 0.4, 0.14  # of a pill of which only the weight gradient needs something; s of a pill that sinks


class Piles:
    """A stack under each stage, with the mark of its peak."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.at = picture, story, story.case, places(picture)
        self.run, self.lens = story.run, story.lens
        self.items = [kept(self.run.timeline, stage) for stage in range(self.case.p)]
        self.most = max(max(count for _, count in levels(items)) for items in self.items)
        top, base = self.at.stacks
        self.unit = min(22.0, (base - top) / self.most)
        self.wide = min(86.0, (self.at.sides[1] - self.at.sides[0]) / self.case.p - 12)

    @cached_property
    def pills(self) -> bool:
        """Whether each micro-batch has its pill."""
        if self.unit <= 4 or sum(map(len, self.items)) > PILLS:
            return False
        return sum(len(seats(item, items)) for items in self.items for item in items) <= PILLS

    def x(self, stage: int) -> float:
        """Left side of a stack."""
        return (self.at.wall(stage, self.case.p) + self.at.wall(stage + 1, self.case.p) - self.wide) / 2

    def draw(self) -> None:
        since, until = act(self.story, "step")
        base = self.at.stacks[1]
        top = base - self.unit * self.most
        with self.picture.actor("stacks", "words", faded(Way(0, 0), self.lens, since, until)):
            if self.picture.is_wide:
                self.picture.text(4, base - 4, "keeps", "read", ink="soft")
            for stage in range(self.case.p):
                self.picture.rectangle(
                    self.x(stage) - 3, top - 3, self.wide + 6, base - top + 6, ink="ghost", stroke="dashed", key="room"
                )
        for stage, items in enumerate(self.items):
            if self.pills:
                for item in items:
                    self._pill(stage, item, items)
            else:
                self._column(stage, items)
            self._peak(stage, items, until)

    def _pill(self, stage: int, item: Kept, items: tuple[Kept, ...]) -> None:
        base, moves = self.at.stacks[1], seats(item, items)
        way = Way(self.x(stage), base - (moves[0][1] + 1) * self.unit, here=False)
        way.show(self.lens.begins(item.taken), 0.0)
        for at, (e, seat) in enumerate(moves[1:], start=1):
            t = self.lens.begins(e)
            after = self.lens.begins(moves[at + 1][0]) if at + 1 < len(moves) else self.lens.ends(item.let_go)
            free = all(abs(other.taken - e) > 1e-9 for other in items)  # else another one lies down there at once
            way.go(plain(t, min(t + DROPS * free, after)), self.x(stage), base - (seat + 1) * self.unit)
        if item.let_go > item.freed:
            way.hide(self.lens.ends(item.freed), 0.0, FADED)
        way.hide(self.lens.ends(item.let_go), 0.0)
        label = str(item.micro_batch)
        why = f"stage {stage} keeps what the backward of micro-batch {label} needs"
        with self.picture.actor(f"pill-{stage}-{item.micro_batch}.{item.chunk}", "pill", way, why=why):
            tall, style = self.unit - min(2.0, self.unit / 5), self.at.number
            self.picture.rectangle(
                0, 0, self.wide, tall, fill="activations", stroke="thin", radius=min(7.0, tall / 2.2), key="pill"
            )
            if tall > SIZES[style] - 2 and words_width(label, style) < self.wide - 4:
                self.picture.text(self.wide / 2, tall / 2 + 0.34 * SIZES[style], label, style, anchor="middle")

    def _column(self, stage: int, items: tuple[Kept, ...]) -> None:
        """Too many to tell apart: a column as tall as they all, paler where only a weight gradient needs it."""
        for name, steps in (
            ("let-go", levels(items)),
            ("freed", merged_steps(self.run.timeline.memory_over_time(stage))),
        ):
            if name == "let-go" and not any(item.let_go > item.freed for item in items):
                continue
            way = Way(self.x(stage), self.at.stacks[1], tall=0)
            for e, count in steps:
                way.grow(at_once(self.lens.begins(e)), tall=count)
            why = f"what stage {stage} keeps for backward passes to come"
            way.hide(self.story.change[0][0], 0.0)
            with self.picture.actor(f"column-{name}-{stage}", "pill", way, why=why):
                self.picture.cells(
                    [(0, -self.unit, self.wide, self.unit)],
                    fill="activations" if name == "freed" else "plain",
                    ink="ink",
                )

    def _peak(self, stage: int, items: tuple[Kept, ...], until: float) -> None:
        base, share = self.at.stacks[1], self.run.timeline.chunk_share
        way, said, peak = Way(self.x(stage) - 6, base, here=False), [(0.0, "")], 0
        risen = [(e, count) for e, count in levels(items) if count]
        for e, count in risen:
            if count > peak:
                peak, t = count, self.lens.begins(e)
                if len(said) == 1:
                    way.show(t, 0.0)
                way.go(at_once(t), self.x(stage) - 6, base - peak * self.unit)
                said.append((round(t, 3), digits_text(peak * share)))
        way.hide(until, 0.3)
        said.append((round(until, 3), ""))
        with self.picture.actor(f"peak-{stage}", "peak", way, why="the most that this stage has kept so far"):
            self.picture.line(0, 0, self.wide + 12, 0, ink="bad", stroke="thick", key="peak")
        steps: Steps = tuple(said)
        middle = self.x(stage) + self.wide / 2
        self.picture.runs(f"peak-{stage}", middle, base + 17, steps, self.at.number, anchor="middle", ink="bad")


def seats(item: Kept, items: tuple[Kept, ...]) -> list[tuple[float, int]]:
    """Where in its stack a pill lies, from when on: it sinks as those below it go.

    >>> seats(Kept(1, 0, 1, 5, 5), (Kept(0, 0, 0, 3, 3), Kept(1, 0, 1, 5, 5)))
    [(1, 1), (3, 0)]
    """
    below = [other for other in items if other.taken < item.taken and other.let_go > item.taken]
    found = [(item.taken, len(below))]
    for other in sorted(below, key=lambda other: other.let_go):
        if other.let_go < item.let_go:
            found.append((other.let_go, found[-1][1] - 1))
    return found


def levels(items: tuple[Kept, ...]) -> list[tuple[float, int]]:
    """How many a stage keeps, from when on, weight gradients still to come included.

    >>> levels((Kept(0, 0, 0, 3, 3), Kept(1, 0, 3, 5, 5)))
    [(0, 1), (5, 0)]
    """
    changes = sorted([*((item.taken, 1) for item in items), *((item.let_go, -1) for item in items)])
    count, found = 0, []
    for e, change in changes:
        count += change
        found.append((e, count))
    return merged_steps(found)


def merged_steps(steps: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Without steps that are gone at the moment they come, or that change nothing."""
    last = [(e, count) for at, (e, count) in enumerate(steps) if at + 1 == len(steps) or steps[at + 1][0] - e > 1e-9]
    return [(e, count) for at, (e, count) in enumerate(last) if not at or last[at - 1][1] != count]
