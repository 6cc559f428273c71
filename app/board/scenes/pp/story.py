"""The pipeline film's passages: one schedule's step, the same step against another schedule, and the step after it."""

from functools import cached_property
from math import sqrt

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.scenes.pp.case import EVERY, Case, Run, in_slots, slots_text
from engine.language.units import bytes_text, digits_text, share_text

STEP_S, RACE_S, NEXT_S = 13.0, 7.0, 4.2  # film seconds of the three acts, however many slots they show
CLOSE = 0.75  # of a slot: moments that lie closer are one stop


class Story:
    """The film of one setting of the knobs: its script, and the moments that its drawings need.

    Engine time is slots: of the step, then of the race, which begins anew, then of the end of the step and the next one.
    """

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self.run, self.rival = case.played, case.rival
        self.schedule = EVERY[case.name]
        self._step()
        self._race()
        if self.gains:
            self._next()
        self.lens: Lens = self.script.lens

    # moments of engine time

    @cached_property
    def end(self) -> float:
        """Of the axis: the longer of both steps.   [slots]"""
        return max(self.run.slots, self.rival.slots)

    @property
    def first(self) -> Run:
        """Who is home first; the one that is played, where both are."""
        return self.run if self.run.slots <= self.rival.slots + 1e-9 else self.rival

    @property
    def gap(self) -> float:
        """Between the ends of both steps.   [slots]"""
        return self.end - self.first.slots

    @cached_property
    def turns(self) -> float:
        """When the first backward begins."""
        return min(op.start for op in self.run.timeline.intervals if op.kind in "BI")

    @cached_property
    def home(self) -> float:
        """When the first backward has come to the first layers."""
        places = self.run.placement.places
        backward = (op for op in self.run.timeline.intervals if op.kind in "BI")
        return min(op.end for op in backward if places[op.stage][op.chunk].position == 0)

    @cached_property
    def last_in(self) -> float:
        """When the last forward has ended."""
        return max(op.end for op in self.run.timeline.intervals if op.kind == "F")

    @cached_property
    def gains(self) -> bool:
        """Whether steps follow each other sooner where no stage waits for the others in between."""
        return self.run.slots - self.run.next_step > 0.2

    @property
    def ramp(self) -> float:
        """How much of the end of the step, and of the next one's start, the last act shows.   [slots]"""
        return min(self.run.slots, 3 * (self.run.slots - self.run.next_step) + 2)

    # passages

    def _step(self) -> None:
        case, run = self.case, self.run
        parts = f" in {case.p * run.chunks} chunks" if run.chunks > 1 else ""
        sent = bytes_text(case.payload.value)
        self.script.open(
            "the pipe",
            f"{case.model.layers} layers dealt to {case.p} stages{parts}; marbles are micro-batches.",
            f"{case.p} stages side by side, forward in their upper lane, backward in the lower one. Nothing runs yet. "
            f"Between neighbours {sent} of activations travel for each of {case.m} micro-batches.",
        )
        shown = [(e, name) for e, name in self._moments]
        paces = [sqrt(e - before) for before, (e, _) in zip((0.0, *(e for e, _ in shown)), shown, strict=False)]
        for pace, (e, name) in zip(paces, shown, strict=True):
            self.script.passage(name, STEP_S * pace / sum(paces), self._caption(name), self._about(e), until=e)
        self.step_ends = self.script.now

    @cached_property
    def _moments(self) -> list[tuple[float, str]]:
        """Ends of the passages of the step: those that lie too close to a later one are left out."""
        wanted = [(self.turns, "turn round"), (self.home, "first home"), (self.last_in, "last one in")]
        found = [(self.run.slots, "step done")]
        for e, name in sorted(wanted, reverse=True):
            if CLOSE < e < found[0][0] - CLOSE:
                found.insert(0, (e, name))
        return found

    def _caption(self, name: str) -> str:
        run, case = self.run, self.case
        if name == "turn round":
            if self.schedule.phased:
                return f"All forwards first: every stage keeps all {case.m} micro-batches."
            return "A forward puts a pill on the stack; its backward takes it off."
        if name == "first home":
            return "Backward runs home; a stage that has to wait is hatched."
        if name == "last one in":
            if self.schedule.splits_backward:
                return "Weight gradients, green, can wait: no neighbour needs them."
            return "One backward, one forward: the stacks stay as high as they are."
        return f"{in_slots(run.slots)}, and {share_text(self.waiting(run))} of them waiting."

    def waiting(self, run: Run) -> float:
        return self.case.waiting(self.case.name, run).value

    def _about(self, e: float) -> str:
        run = self.run
        held = [digits_text(count * run.timeline.chunk_share) for count in self.held(e)]
        return (
            f"{run.title} after {slots_text(e)} of {in_slots(run.slots)}, {self.case.p} stages and {self.case.m} "
            f"micro-batches. What the stages keep now, in micro-batches: {', '.join(held)}; their peaks: "
            f"{', '.join(digits_text(most) for most in run.held)}."
        )

    def held(self, e: float) -> list[int]:
        """Chunks whose activations each stage holds at a moment of the step."""
        return [
            next((count for since, count in reversed(run_steps) if since <= e + 1e-9), 0)
            for run_steps in map(self.run.timeline.memory_over_time, range(self.case.p))
        ]

    def _race(self) -> None:
        run, rival, script = self.run, self.rival, self.script
        self.change = script.run(0.9)
        start, before = self.run.slots, script.now
        script.run(RACE_S * self.first.slots / self.end, until=start + self.first.slots)
        script.stop(
            "the race" if self.gap > 1e-9 else "both home",
            f"The same work on one clock: {rival.title} above, {run.title} below.",
            f"Both have run for {in_slots(self.first.slots)}; {self.first.title} is done.",
        )
        if self.gap > 1e-9:
            script.run(RACE_S - (script.now - before), until=start + self.end)
        self.race_ends = script.now
        self.named = script.run(1.1)
        script.stop("the gap", self._gap(), self._sums())

    def _gap(self) -> str:
        run, rival = self.run, self.rival
        mine, other = digits_text(max(run.held)), digits_text(max(rival.held))
        if self.gap > 1e-9:
            ahead = "sooner" if run.slots < rival.slots else "later"
            keeps = f"keeps {mine}, not {other}" if mine != other else f"keeps {mine} as well"
            return f"{run.title} is done {in_slots(self.gap)} {ahead}, and {keeps}."
        if mine == other:
            return f"No gap: {in_slots(run.slots)} each, and {mine} kept by each."
        return f"No gap: {in_slots(run.slots)} each. But {run.title} keeps {mine}, not {other}."

    def _sums(self) -> str:
        return " ".join(
            f"{run.title}: {in_slots(run.slots)}, {share_text(self.waiting(run))} waiting; most micro-batches "
            f"that a stage keeps: {digits_text(max(run.held))}."
            for run in (self.rival, self.run)
        )

    def _next(self) -> None:
        run, script = self.run, self.script
        self.turn = script.run(0.9)
        self.next_starts = self.run.slots + self.end
        script.run(NEXT_S, until=self.next_starts + 2 * self.ramp)
        script.stop(
            "no norm",
            "Above, all wait for one norm; below, each stage goes on.",
            "The end of this step and the start of the next. Above, the optimizer waits for the global norm, so the next "
            "step starts when the last stage has ended. Below, each stage updates its own weights and starts at once: the "
            "norm is checked afterwards, and a step that should have been clipped is undone.",
        )
        self.told = script.run(1.1)
        script.stop(
            "next step",
            f"A step every {in_slots(run.next_step)}, not {slots_text(run.slots)}: the next starts in the slant.",
            f"{run.title} alone takes {in_slots(run.slots)}. Step after step it takes {slots_text(run.next_step)}, if "
            "the optimizer does not wait for a number made of the gradients of all stages.",
        )

    def clock(self, e: float) -> str:
        """Slots of the step, then of the race, then beside the end of the step."""
        if e <= 0:
            return ""
        if e > self.run.slots:
            e -= self.run.slots
        if e > self.end:
            e += self.run.slots - self.ramp - self.end
        return f"slot {e:.1f}"


def act(story: Story, name: str) -> tuple[float, float]:
    """Film seconds between which an act is in the picture: step, race or next."""
    ends = story.turn[0][0] if story.gains else story.lens.length
    return {
        "step": (0.0, story.change[0][0]),
        "race": (story.change[-1][0] - 0.4, ends),
        "next": (story.turn[-1][0] - 0.4 if story.gains else ends, story.lens.length),
    }[name]


def at_once(t: float) -> Span:
    """A way that is done at one moment."""
    return ((t, 0.0), (t, 1.0))
