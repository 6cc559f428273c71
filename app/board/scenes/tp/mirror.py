"""Backward in the tensor parallel film: from Z to X, each product twice, and the sum stands at the other end."""

from app.board.film.composition import Composition, Steps
from app.board.film.pieces import tile
from app.board.film.track import BLINK, Way
from app.board.scenes.tp.field import LEAVE, PARTIAL, label, made, pieces, row_line, seated
from app.board.scenes.tp.places import places
from app.board.scenes.tp.ring import Gesture
from app.board.scenes.tp.story import Story
from engine.lens.turns import Turn

ROUNDS = ("MLP", "attention")


class Mirror:
    """Both half-blocks backward, one after the other in the same places."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.passage = picture, story, story.backward
        self.at, self.lens, self.n = places(picture, story.n), story.lens, story.n

    def draw(self) -> None:
        act = self.passage.act
        halves = (act.turns[:3], act.turns[3:])
        begins = [self.passage.since, self.lens.ends(halves[0][-1].end)]
        ends = [begins[1], self.passage.until]
        for name, turns, gesture, since, until in zip(ROUNDS, halves, act.gestures, begins, ends, strict=True):
            for gpu in self.at.drawn:
                self._half(name, gpu, turns, gesture, since, until)
        for gpu in self.at.drawn:
            seated(self.picture, "mirror", self.at, gpu, self.passage.since, self.passage.until)
            for name, turn in zip("BA", halves[0][:2], strict=True):
                self._weights(gpu, name, turn)
        since, turned, until = (*begins, self.passage.until)
        self._which(((0.0, ""), (since, f"{ROUNDS[0]}, backward"), (turned, f"{ROUNDS[1]}, backward"), (until, "")))

    def _half(self, name: str, gpu: int, turns: tuple[Turn, ...], gesture: Gesture, since: float, until: float) -> None:
        """Gradients of Z are the same everywhere; those of X are parts of a sum."""
        x, y, z = (self.at.matrix(gpu, each) for each in "XYZ")
        own = y.part(gpu, self.n, "columns")
        second, first = (self.lens.span(turn.start, turn.end) for turn in turns[:2])
        key, leave = f"{name}-{gpu}", LEAVE if until == self.passage.until else 0.0
        way = Way(z.x, z.y, here=False).show(since, BLINK if leave == 0.0 else 0.0).hide(until, leave)
        with self.picture.actor(
            f"dZ-{key}", "gradient", way, why="g passes on: the gradient of Z is the same everywhere"
        ):
            self.picture.rectangle(0, 0, z.wide, z.tall, fill="b", radius=6, key="field-gradient")
        why = "gradients of its own columns"
        made(self.picture, f"dY-{key}", own, second, until, fill="b", why=why, over=leave)
        row_line(self.picture, f"row-B-{key}", own.x, z.x + z.wide, own, second)
        summed = self.lens.ends(gesture.turn.end)
        made(
            self.picture,
            f"dX-{key}",
            x,
            first,
            summed if self.n > 1 else until,
            opacity=PARTIAL if self.n > 1 else 1.0,
            fill="b",
            why="full size, but only its own part of the sum",
            over=0.0,
        )
        row_line(self.picture, f"row-A-{key}", x.x, own.x + own.wide, own, first)
        if self.n > 1:
            pieces(self.picture, f"dX-{key}", x, gpu, self.n, "rows", gesture, self.lens, until, fill="b", over=leave)
            share = f"1/{self.story.case.tp}"
            scattered = self.lens.ends(gesture.halves(self.n)[0][-1][1])
            label(self.picture, f"dX-share-{key}", x, share, first[-1][0], scattered, over=0.0)
        label(self.picture, f"dZ-name-{key}", z, "dZ", since, until, over=leave)
        if leave:
            label(self.picture, f"dX-name-{key}", x, "dX", summed, until)

    def _weights(self, gpu: int, name: str, turn: Turn) -> None:
        """Gradients of a slice of weights stay where they are made: nothing of them travels."""
        seat = self.at.matrix(gpu, name).part(gpu, self.n, "columns" if name == "A" else "rows")
        key = f"slice-{name}-{gpu}"
        span = self.lens.span(turn.start, turn.end)
        way = Way(seat.x, seat.y, here=False, wide=0).show(span[0][0], 0.0).grow(span, wide=1)
        why = "gradients of its slice: they stay with their owner"
        with self.picture.actor(f"mirror-gradient-{key}", "gradient", way.hide(self.passage.until, LEAVE), why=why):
            tile(self.picture, seat.wide, seat.tall, gpu, key, "hatched", letter=False)

    def _which(self, steps: Steps) -> None:
        x, y = self.at.free
        self.picture.runs("half", x, y + 22, steps, "caption")
        if self.n == 1:
            return
        way = Way(x, y + 50, here=False).show(self.passage.since, LEAVE).hide(self.passage.until, LEAVE)
        with self.picture.actor("conjugates", "words", way):
            self.picture.text(0, 0, "at Z g passes on, at X f adds up", "read", ink="remark")
