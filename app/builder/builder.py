"""A pipeline schedule placed by hand: what may come next, why not yet, and what it turned out to be. Pure.

The whole state is a text: a digit chooses a stage, each letter after it is that stage's next operation of its kind.
"0FF1F" is two forwards on stage 0, then one on stage 1; small letters are the second chunk. Micro-batches of a kind
keep their order on a stage, which loses nothing: they are all alike.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from app.builder.game import EVERY, Game, Move, chunks_of, known_timeline, runs_here
from engine.language.choice import one_of
from engine.language.refusal import Refusal
from engine.language.units import counted
from engine.pipeline.schedules import Op
from engine.pipeline.schedules.dependencies import Stuck, dependency, op_text
from engine.pipeline.simulator import even_durations, simulate
from engine.pipeline.timeline import Timeline
from engine.pipeline.waits import Wait, waits

LONGEST = 600  # characters of a state; the largest game takes fewer


@dataclass(frozen=True)
class Choice:
    """An operation that a stage could run next. `why` says what is missing where it cannot yet."""

    move: Move
    op: Op
    why: str = ""


@dataclass(frozen=True)
class Standing:
    """A schedule in the comparison.

    slots     length of its step      [slots]
    waiting   share of it that stages wait
    held      most micro-batches that a stage holds
    kind      whether it has the same operations as what was built
    """

    title: str
    slots: float
    waiting: float
    held: float
    kind: bool = False
    yours: bool = False


@dataclass(frozen=True)
class Built:
    """What has been placed so far, in the order of placing."""

    game: Game
    moves: tuple[Move, ...] = ()

    @property
    def text(self) -> str:
        """The state as an address writes it."""
        runs = groupby(self.moves, key=lambda move: move.stage)
        return "".join(f"{stage}{''.join(move.letter for move in run)}" for stage, run in runs)

    @cached_property
    def orders(self) -> tuple[tuple[Op, ...], ...]:
        """[stage] -> its operations, as the simulator takes them."""
        rows: list[list[Op]] = [[] for _ in range(self.game.stages)]
        counts: Counter[Move] = Counter()
        for move in self.moves:
            rows[move.stage].append(_op(move, counts[move]))
            counts[move] += 1
        return tuple(map(tuple, rows))

    @cached_property
    def timeline(self) -> Timeline:
        return simulate(self.orders, self.game.placement, even_durations(self.game.placement, 1.0, 1.0, 1.0))

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        return waits(self.orders, self.game.placement, self.timeline)

    @property
    def finished(self) -> bool:
        return len(self.moves) == self.game.operations

    @property
    def undone(self) -> "Built":
        """The same without the last move."""
        return replace(self, moves=self.moves[:-1])

    def choices(self, stage: int) -> tuple[Choice, ...]:
        """The next operation of each kind that a stage still has to run."""
        found = []
        for letter in self.game.letters:
            move = Move(stage, letter)
            if (placed := self.moves.count(move)) < self.game.micro_batches:
                op = _op(move, placed)
                stuck = self.missing(stage, op)
                found.append(Choice(move, op, sentence(stuck.rule) if stuck else ""))
        return tuple(found)

    def missing(self, stage: int, op: Op) -> Stuck | None:
        """What an operation needs and nobody has placed yet."""
        if op.kind == "F" and self.game.placement.places[stage][op.chunk].position == 0:
            return None
        owner, needed = dependency(self.orders, self.game.placement, stage, op)
        if needed in self.orders[owner]:
            return None
        return Stuck(stage, op, needed, owner, "and that has not been placed")

    def placed(self, move: Move) -> "Built":
        """One move further, or a Refusal that names what is missing."""
        game = self.game
        if move.stage >= game.stages or move.letter not in game.letters:
            raise Refusal(
                "moves",
                f"{move.stage}{move.letter}",
                f"there are stages 0 to {game.stages - 1} and {', '.join(game.letters)}",
            )
        if (count := self.moves.count(move)) >= game.micro_batches:
            rule = f"stage {move.stage} has run {op_text(_op(move, count - 1))}, the last one of its kind"
            raise Refusal("moves", f"{move.stage}{move.letter}", rule)
        if stuck := self.missing(move.stage, _op(move, count)):
            raise stuck
        return replace(self, moves=(*self.moves, move))

    def as_in(self, name: str) -> "Built":
        """All that is left, placed in the order in which a schedule runs it.

        Whatever was placed before, this never gets stuck: it leaves a working order's operations in their order.
        """
        one_of("like", name, self.game.known, f"here one can go on as {'{names}' if self.game.known else 'nobody'}")
        done = {(stage, op) for stage, order in enumerate(self.orders) for op in order}
        left = [
            Move(i.stage, i.kind.lower() if i.chunk else i.kind)
            for i in sorted(known_timeline(name, self.game).intervals, key=lambda i: i.start)
            if (i.stage, Op(i.kind, i.micro_batch, i.chunk)) not in done
        ]
        return replace(self, moves=(*self.moves, *left))

    def holds(self, stage: int) -> float:
        """Micro-batches whose activations a stage holds after what it has been given, in those of a full stage."""
        kinds = [op.kind for op in self.orders[stage]]
        return self.game.placement.chunk_share * (kinds.count("F") - kinds.count("B") - kinds.count("W"))

    @property
    def last_wait(self) -> str:
        """What the last move made its stage wait for."""
        if not self.moves:
            return ""
        stage = self.moves[-1].stage
        op = self.orders[stage][-1]
        pieces = [wait for wait in self.waits if wait.stage == stage and wait.op == op and wait.missing]
        slots = sum(wait.end - wait.start for wait in pieces)
        if not pieces or pieces[0].missing is None:
            return f"Stage {stage} goes on with {op_text(op)} at once."
        waited = counted(slots, "slot")
        return f"Stage {stage} waits {waited} for {op_text(pieces[0].missing)} from stage {pieces[0].owner}."

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Titles of the schedules that this is, once finished; several where they are the same at this size."""
        return tuple(known.title for name, known in self.game.known.items() if self.like(name) == self.game.stages)

    def like(self, name: str) -> int:
        """Stages whose order is that of a schedule.   [count]"""
        schedule = EVERY[name]
        orders = schedule.ops(self.game.stages, self.game.micro_batches, chunks_of(schedule))
        return sum(tuple(theirs) == mine for theirs, mine in zip(orders, self.orders, strict=True))

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """What was built beside every known schedule that runs at this size with one copy of the weights, shortest first."""
        mine = _standing("yours", self.timeline, kind=True, yours=True)
        known = (
            _standing(schedule.title, known_timeline(name, self.game), kind=name in self.game.known)
            for name, schedule in EVERY.items()
            if schedule.parameter_copies == 1 and runs_here(schedule, self.game)
        )
        return tuple(sorted((mine, *known), key=lambda each: (each.slots, each.held, not each.yours)))

    @property
    def best(self) -> Standing | None:
        """The shortest known schedule of the same operations, and of those the one that holds least."""
        return next((each for each in self.standings if each.kind and not each.yours), None)


def read(game: Game, text: str) -> tuple[Built, str]:
    """What a state says as far as it is legal, and a sentence about the rest.

    >>> built, said = read(Game(), "0FF1F1B")
    >>> built.text, said
    ('0FF1F', 'Stage 1 cannot run the backward of micro-batch 0: it needs the backward of micro-batch 0 on stage 2 first, and that has not been placed.')
    """
    built, stage = Built(game), 0
    if len(text) > LONGEST:
        return built, f"A board of this size is written in fewer than {LONGEST} signs."
    for sign in text:
        if sign in "0123456789":
            stage = int(sign)
            continue
        try:
            built = built.placed(Move(stage, sign))
        except Refusal as refusal:
            return built, sentence(refusal.rule)
    return built, ""


def _op(move: Move, count: int) -> Op:
    return Op(move.letter.upper(), count, int(move.letter.islower()))


def sentence(rule: str) -> str:
    """A rule as a sentence."""
    return f"{rule[:1].upper()}{rule[1:]}."


def _standing(title: str, timeline: Timeline, kind: bool, yours: bool = False) -> Standing:
    return Standing(title, timeline.makespan, timeline.bubble_of_total, max(timeline.held_until_weights), kind, yours)
