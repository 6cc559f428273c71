"""What is said about a schedule that somebody has finished: its name, its length and its memory beside the known ones."""

from dataclasses import dataclass

from app.builder.builder import Built, Standing
from engine.language.units import digits_text

HAIR = 1e-9


@dataclass(frozen=True)
class Verdict:
    """The judgement.

    title   what it is
    mood    good where no known schedule of these operations is shorter, bad where one is
    lines   of what is said
    rows    it and the known schedules, shortest first
    """

    title: str
    mood: str
    lines: tuple[str, ...]
    rows: tuple[Standing, ...]


def verdict_on(built: Built) -> Verdict:
    """The verdict on a finished schedule."""
    mine = next(row for row in built.standings if row.yours)
    best = built.best
    title = f"This is {' and '.join(built.names)}" if built.names else "A schedule of your own"
    if best is None:
        return Verdict(
            title,
            "advice",
            ("No known schedule of these operations runs at this size.", *_shorter(built, mine)),
            built.standings,
        )
    lines = [_length(mine, best)]
    lines.append(
        f"A stage holds {digits_text(mine.held)} micro-batches at most; under {best.title} {digits_text(best.held)}."
    )
    near = max(built.game.known, key=built.like)
    if not built.names and built.like(near):
        lines.append(f"{built.like(near)} of {built.game.stages} stages run as in {built.game.known[near].title}.")
    mood = "good" if mine.slots <= best.slots + HAIR else "bad"
    return Verdict(title, mood, (*lines, *_shorter(built, mine)), built.standings)


def _length(mine: Standing, best: Standing) -> str:
    if mine.slots < best.slots - HAIR:
        return f"{digits_text(mine.slots)} slots: shorter than {best.title}, the shortest we know of these operations."
    if mine.slots <= best.slots + HAIR:
        return f"{digits_text(mine.slots)} slots: no known schedule of these operations is shorter."
    return f"{digits_text(mine.slots)} slots: {digits_text(mine.slots - best.slots)} longer than {best.title}."


def _shorter(built: Built, mine: Standing) -> tuple[str, ...]:
    """What another way to cut the work would bring."""
    first = built.standings[0]
    if first.kind or first.slots >= mine.slots - HAIR:
        return ()
    return (f"Cut in another way it could be {digits_text(first.slots)}: {first.title}.",)
