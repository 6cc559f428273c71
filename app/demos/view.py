"""What the demos' pages show: one demo before it runs, and one run at a moment. No FastAPI, no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from app.demos.board import RunBoard, last_moment, until
from app.demos.rows import VerdictRow, knobs_text, verdict_rows
from app.live.events import of_kind
from app.runner.catalog import DEMOS, checked
from app.runner.description import Demo
from app.runner.event_kinds import REFERENCE, RunEvent, State
from app.runner.recordings import can_run
from app.settings import settings
from app.web.beside import Said, dealt
from engine.asking.grade import nearness
from engine.asking.reading import amount
from engine.language.inputs import texts_of
from engine.language.refusal import Refusal

GUESS = "guess"


@dataclass(frozen=True)
class DemoPage:
    """One demo before it runs: its knobs, what they may not be, and what the engine predicts."""

    demo: Demo
    values: Mapping[str, str]
    said: Said
    rows: Sequence[VerdictRow]
    notes: Sequence[str]
    live: bool
    ranks: int

    @property
    def guessable(self) -> bool:
        """Whether there is a number to predict first."""
        return any(row.name == "state.optimizer" for row in self.rows)


@dataclass(frozen=True)
class RunPage:
    """One run: its board at a moment, and where its pieces are. over: whether it has ended, whatever the moment."""

    id: str
    title: str
    demo: str
    board: RunBoard
    guess: str
    said: str
    length_s: float
    unkept: str
    over: bool

    @property
    def knobs(self) -> str:
        """What its knobs stood at, in a line."""
        return knobs_text(self.demo, self.board.params)

    @property
    def again(self) -> str:
        return f"/demos/{self.demo}?{urlencode({**self.board.params})}" if self.demo in DEMOS else "/demos"

    @property
    def guessed(self) -> str:
        """What the guess was worth, once the optimizer state is measured."""
        row = next((row for row in self.board.rows if row.name == "state.optimizer"), None)
        if not self.guess or row is None or row.ok is None:
            return ""
        return f"You said {self.guess} of optimizer state on a rank; it is {row.measured}. {self.said}"


def is_live() -> bool:
    """Whether visitors may start processes here."""
    return settings().live_demos and can_run()


def demo_page(found: Demo, given: Mapping[str, str], refusal: Refusal | None = None) -> DemoPage:
    """A demo with these knobs; what has no meaning stands beside the knob it is about."""
    given = {key: text for key, text in given.items() if key != GUESS}
    values = texts_of(found.knobs, given)
    try:
        params = checked(found, given)
        predicted = found.predict(params).told()
    except Refusal as refused:
        return DemoPage(found, values, dealt(refused, values), (), (), is_live(), 0)
    rows, said = verdict_rows(predicted, ()), dealt(refusal, values)
    return DemoPage(found, values, said, rows, predicted.notes, is_live(), found.ranks(params))


def run_page(
    run_id: str, found: Sequence[RunEvent], at_s: float | None, guess: str, narrow: bool, unkept: str = ""
) -> RunPage:
    """A run as it is now, or as it was `at_s` seconds after its start.

    unkept   why it is not written down, where it is not
    """
    board, whole = RunBoard(until(found, at_s), narrow), RunBoard(found)
    title, said = DEMOS[name].title if (name := whole.demo) in DEMOS else name, _worth(guess, found)
    return RunPage(run_id, title, name, board, guess, said, last_moment(found), unkept, whole.over)


def _worth(guess: str, found: Sequence[RunEvent]) -> str:
    """How near a guess of the optimizer state came, in a word."""
    value = amount(guess, "bytes") if guess else None
    states = [state.opt_bytes for state in of_kind(found, State) if state.rank != REFERENCE]
    if value is None or not states:
        return ""
    return nearness(value, max(states))
