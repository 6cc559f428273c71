"""Lanes of the film of context parallelism: what each GPU computes and when it waits, both deals on one axis."""

from app.board.film.composition import Composition
from app.board.film.pieces import LETTERS, Axis, Cell, faded, hue, playhead, waited, written
from app.board.film.track import Way
from app.board.legend import words_width
from app.board.scenes.cp.places import LETTERED, places
from app.board.scenes.cp.story import Act, Story
from engine.language.units import seconds_text


class Lanes:
    """One act's lanes."""

    def __init__(self, picture: Composition, story: Story, act: Act):
        self.picture, self.story, self.act = picture, story, act
        self.at, self.lens = places(picture), story.lens
        longest = max(story.ends, act.ends - act.begins)
        self.axis = Axis(*self.at.axis, act.begins, act.begins + longest)
        self.bottom = self.at.lanes[0] + self.at.lanes[1]

    def draw(self) -> None:
        for rank in range(self.act.ranks):
            self._lane(rank)
        since = self.act.dealing[-1][0]
        top, act = self.at.lanes[0] - 4, self.act
        so_far = Axis(self.axis.left, self.axis.x(act.ends), act.begins, act.ends)
        playhead(self.picture, f"now-{act.key}", so_far, top, self.bottom + 2, self.lens, since, self.act.until)

    def _lane(self, rank: int) -> None:
        y, tall = self.at.lane(rank, self.act.ranks)
        cells = [
            Cell(
                step.start,
                step.end,
                LETTERS[step.source],
                hue(step.source, self.act.ranks),
                self._why(rank, step.source),
            )
            for step in self.act.works(rank)
        ]
        idle = [Cell(start, end, why="it waits") for start, end in self.act.idle(rank)]
        written(self.picture, f"works-{self.act.key}-{rank}", self.axis, y, cells, self.lens, self.act.until, tall)
        waited(self.picture, f"waits-{self.act.key}-{rank}", self.axis, y, idle, self.lens, self.act.until, tall)
        for at, cell in enumerate(cells):
            wide = self.axis.x(cell.end) - self.axis.x(cell.start)
            if tall < LETTERED or wide < words_width(cell.words) + 4:
                continue
            way = Way(self.axis.x(cell.start) + wide / 2, y + tall / 2 + 6, here=False)
            faded(way.show(self.lens.ends(cell.end)), self.lens, 0.0, self.act.until)
            with self.picture.actor(f"whose-{self.act.key}-{rank}-{at}", "words", way):
                ink = "ink" if cell.fill == "plain" else "letter"
                self.picture.text(0, 0, cell.words, "read", anchor="middle", ink=ink)
        self._flag(rank, y, tall)

    def _why(self, rank: int, source: int) -> str:
        asks = LETTERS[rank]
        return f"{asks} asks its own keys" if rank == source else f"queries of {asks} ask keys of {LETTERS[source]}"

    def _flag(self, rank: int, y: float, tall: float) -> None:
        """Done: it rises where the GPU has computed its last pair."""
        end = self.act.works(rank)[-1].end
        last = end >= self.act.ends * (1 - 1e-9)
        level = all(self.act.works(other)[-1].end >= self.act.ends * (1 - 1e-9) for other in range(self.act.ranks))
        way = Way(min(self.axis.x(end), self.at.axis[1] - 1), y + tall, here=False, tall=0.1)
        done = self.lens.ends(end)
        way.show(done, 0.0).grow(((done, 0.0), (done + 0.35, 1.0)), tall=1, eased=True)
        if self.act.until < self.lens.length:
            way.hide(max(self.act.until, done + 0.35), 0.3)
        ink = "bad" if last and not level else "good"
        high = min(tall + 2, 20)
        with self.picture.actor(f"flag-{self.act.key}-{rank}", "flag", way, why=f"{LETTERS[rank]} is done"):
            self.picture.line(0, 0, 0, -high, ink=ink, stroke="thick", key=f"pole-{rank}")
            pennant = ((0, -high), (-11, -high * 0.75), (0, -high * 0.5))
            self.picture.polyline(pennant, fill="board", ink=ink, key=f"pennant-{rank}")


def draw_rules(picture: Composition, story: Story) -> None:
    """Under each lane a line, and whose it is."""
    at, ranks = places(picture), story.case.ranks
    for rank in range(ranks):
        y, tall = at.lane(rank, ranks)
        picture.line(at.axis[0], y + tall, at.axis[1], y + tall, ink="rule", stroke="thin", key=f"lane-{rank}")
        if tall >= LETTERED or rank in (0, ranks - 1):
            picture.text(at.axis[0] - 8, y + tall / 2 + 6, LETTERS[rank], "read", anchor="end")


def draw_in_order(picture: Composition, story: Story) -> None:
    """Where the last GPU was done with strips in order: it stays while they are dealt anew."""
    at = places(picture)
    y, tall = at.lanes
    with picture.actor(
        "in-order", "mark", faded(Way(at.axis[1], y, here=False), story.lens, story.change[-1][0], story.lens.length)
    ):
        picture.line(0, -6, 0, tall + 6, ink="bad", stroke="dashed", key="in-order")
        picture.text(0, tall + 24, f"in order: {seconds_text(story.ends)}", "remark", anchor="end", ink="bad")
