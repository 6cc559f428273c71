"""The tensor parallel film's passages: what happens when, in film seconds and in engine time."""

from dataclasses import dataclass, field

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.scenes.tp import said
from app.board.scenes.tp.case import Case
from app.board.scenes.tp.places import MOST
from app.board.scenes.tp.timeline import Act, Timeline
from engine.language.units import seconds_text

CHANGE = 0.6  # s from one act to the next


@dataclass
class Passage:
    """An act in film seconds.

    since    when it is on the board
    until    when it leaves
    at       gestures outside the engine's time, by name
    """

    act: Act
    since: float = 0.0
    until: float = 0.0
    at: dict[str, Span] = field(default_factory=dict)


class Story:
    """The film of one setting of the knobs: its script and the moments that its drawings need."""

    def __init__(self, case: Case):
        self.case, self.script, self.timeline = case, Script(), Timeline(case)
        self.n = min(case.tp, MOST)
        self.mlp, self.attention, self.backward, self.halves, self.far = map(Passage, self.timeline.acts)
        self.passages = (self.mlp, self.attention, self.backward, self.halves, self.far)
        self.script.open("one MLP", *said.whole(case))
        self._first_cut()
        self._nonlinearity()
        self._second_cut()
        self._heads()
        self._mirror()
        self._sequence_parallel()
        self._nodes()
        self.lens: Lens = self.script.lens
        self.passages[-1].until = self.lens.length

    # passages

    def _first_cut(self) -> None:
        run = self.script.run
        self.mlp.at |= {"deal A": run(1.0), "X": run(0.6)}
        run(1.7, until=self.mlp.act.work[0].end)
        self.script.stop("cut A", *said.first_cut(self.case))

    def _nonlinearity(self) -> None:
        case, run, at = self.case, self.script.run, self.mlp.at
        if case.columns_first or case.alone:
            at |= {"σ": run(0.8), "aside": run(2.2)}
        else:
            at |= {"aside": run(2.2)}
            run(2.0, until=self.mlp.act.turns[1].end)
            at |= {"σ": run(0.7)}
        self.script.stop("nonlinearity", *said.nonlinearity(case))

    def _second_cut(self) -> None:
        act, run = self.mlp.act, self.script.run
        self.mlp.at |= {"deal B": run(0.7)}
        self._until(act.work[1].start, 1.4)
        run(1.3, until=act.work[1].end)
        self._until(act.end, 2.4)
        self.script.stop("cut B", *said.second_cut(self.case))

    def _heads(self) -> None:
        act, at = self.attention.act, self.attention.at
        self._change(self.attention)
        at |= {"deal A": self.script.run(1.0), "X": self.script.run(0.4)}
        self.script.run(0.9, until=act.work[0].end)
        at |= {"deal B": self.script.run(0.5)}
        self.script.run(0.6, until=act.work[1].end)
        self._until(act.end, 1.4)
        self.script.stop("heads", *said.heads(self.case))

    def _mirror(self) -> None:
        self._change(self.backward)
        paces = (1.0, 1.2, 1.5, 0.6, 0.6, 1.0)
        for turn, seconds in zip(self.backward.act.turns, paces, strict=True):
            self._until(turn.end, seconds)
        self.script.stop("the mirror", *said.mirror(self.case))

    def _sequence_parallel(self) -> None:
        scatter, gather = self.halves.act.turns
        self._change(self.halves)
        self._until(scatter.end, 1.4)
        self.halves.at |= {"norm": self.script.run(0.9)}
        self._until(gather.end, 1.2)
        self.script.stop("norms cut too", *said.sequence_parallel(self.case))

    def _nodes(self) -> None:
        act = self.far.act
        self._change(self.far)
        self.far.at |= {"X": self.script.run(0.4)}
        self.script.run(1.2, until=act.work[-1].end)
        self._until(act.end, 3.4)
        self.script.stop("over nodes", *said.stretched(self.case))

    def _change(self, passage: Passage) -> None:
        """One act leaves, the next one comes."""
        before = self.passages[self.passages.index(passage) - 1]
        start, end = (t for t, _ in self.script.run(CHANGE))
        before.until, passage.since = start, end

    def _until(self, e: float, seconds: float) -> None:
        """So many seconds for what the engine does until then; none if that is nothing."""
        if e > self.script.points[-1][1]:
            self.script.run(seconds, until=e)

    def clock(self, t: float) -> str:
        """The engine's time at a moment of the film as words: each act begins anew, and changes have none."""
        now = next((passage for passage in self.passages if passage.since <= t <= passage.until), None)
        passed = self.lens(t) - now.act.start if now else 0.0
        return seconds_text(passed) if passed > 0 else ""
