"""The passages of the film of context parallelism: two acts on one clock, strips in order and strips dealt anew."""

from dataclasses import dataclass
from itertools import pairwise

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.film.pieces import LETTERS
from app.board.scenes.cp.case import BACKWARD, Case
from engine.language.units import count_text, digits_text, seconds_text, share_text
from engine.lens.ring_attention import dealt_loads
from engine.lens.ring_steps import PairSpan, RingStep, idle_share, pair_spans, step_work


@dataclass(frozen=True)
class Act:
    """Attention of one layer, with strips dealt in one way.

    key       for names of actors
    strips    of each GPU
    steps     of each GPU, in engine time
    dealing   span in which strips go to their GPUs
    until     when its drawing is gone   [film seconds]
    """

    key: str
    strips: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[RingStep, ...], ...]
    dealing: Span
    until: float

    @property
    def ranks(self) -> int:
        return len(self.strips)

    @property
    def count(self) -> int:
        """Strips in all."""
        return sum(map(len, self.strips))

    @property
    def since(self) -> float:
        return self.dealing[0][0]

    @property
    def begins(self) -> float:
        """In engine time."""
        return self.steps[0][0].start

    @property
    def ends(self) -> float:
        return max(mine[-1].end for mine in self.steps)

    @property
    def pairs(self) -> tuple[PairSpan, ...]:
        return pair_spans(self.strips, self.steps)

    @property
    def owners(self) -> list[int]:
        """The rank of each strip."""
        owner = {strip: rank for rank, mine in enumerate(self.strips) for strip in mine}
        return [owner[strip] for strip in range(self.count)]

    def works(self, rank: int) -> list[RingStep]:
        """Steps of a rank in which it has anything to compute."""
        return [step for step in self.steps[rank] if step.end > step.start]

    def idle(self, rank: int) -> list[tuple[float, float]]:
        """When a rank waits, until all are done."""
        edges = [self.begins, *(e for step in self.works(rank) for e in (step.start, step.end)), self.ends]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return [(start, end) for start, end in gaps if end - start > 1e-9 * self.ends]

    @property
    def marks(self) -> list[float]:
        """Moments at which the busiest rank begins a step, and those in between at which a hop or its work ends."""
        busiest = max(range(self.ranks), key=lambda rank: self.steps[rank][-1].end)
        own = self.steps[busiest]
        between = [m for now, after in pairwise(own) for m in (min(now.end, after.arrived), after.start)]
        return [*between, self.ends]


class Story:
    """The film of one setting of the knobs."""

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self.last = LETTERS[case.last]
        self.steps = case.steps(case.in_order)
        self._deal()
        self._in_order()
        self._merged()
        self._anew()
        self.lens: Lens = self.script.lens

    @property
    def first_act(self) -> Act:
        return Act("first", self.case.in_order, self.steps, self.dealt, self.change[0][0])

    @property
    def second_act(self) -> Act:
        steps = self.case.steps(self.case.strips, self.ends)
        return Act("second", self.case.strips, steps, self.dealt_anew, self.script.now)

    @property
    def ends(self) -> float:
        """Engine time at the end of the first act."""
        return max(mine[-1].end for mine in self.steps)

    def clock(self, e: float) -> str:
        """The engine's time as words: of the first act, then of the second, which begins anew."""
        return seconds_text(e if e <= self.ends else e - self.ends) if e > 0 else ""

    # passages

    def _deal(self) -> None:
        case = self.case
        tokens = count_text(case.values["sequence"] / case.ranks)
        first, last = (sum(step_work(case.in_order, rank, k) for k in range(case.ranks)) for rank in (0, case.last))
        parts = f"{last / first:g} times"
        self.script.open(
            "strips",
            f"{count_text(case.values['sequence'])} tokens ask and are asked; later ones see more.",
            f"A square of queries by keys of which the causal mask leaves a triangle, cut into {case.ranks} strips. "
            f"The last strip has {parts} the work of the first.",
        )
        self.dealt = self.script.passage(
            "who holds what",
            2.6,
            f"One strip a GPU: queries, keys and values of {tokens} tokens.",
            f"GPUs A to {self.last}, each with queries, keys and values of its own {tokens} tokens; a ring of wires joins them.",
        )

    def _in_order(self) -> None:
        case, script, marks = self.case, self.script, self._marks()
        hop, block = case.hop(2, "hop").text, case.forward_block.text
        script.passage(
            "first hop",
            1.4,
            "Keys and values leave for the next GPU; everyone starts on its own.",
            f"On the ring {hop} go from each GPU to the next, in {case.forward_hop.text}. In the triangle the squares on "
            "the diagonal begin to fill, each in the hue of its keys.",
            until=marks[0],
        )
        script.passage(
            "own square",
            1.5,
            f"They arrive long before they are needed: {case.forward_hop.text} against {seconds_text(self.steps[0][0].end)}."
            if case.hidden
            else "Own squares are done and the keys are not there: the wires are slower.",
            f"The diagonal is full. A hop takes {case.forward_hop.text}, a full block {block}.",
            until=marks[1],
        )
        if case.ranks > 2:
            script.run(1.2, until=marks[2])
            script.run(2.0, until=marks[3])
            script.stop(
                "one hop on",
                "A has nobody before it to ask; the others go on.",
                f"A second diagonal is full. A got keys of {self.last}, which lie in the future of all its queries: it waits.",
            )
        self._round(marks[4 : 2 * case.last])
        script.passage(
            "finish flags",
            3.0,
            f"{self.last} works to the end alone: {share_text(idle_share(self.steps))} of GPU time is waiting.",
            f"Strips in order: {self.last} does {case.worst.text}. The layer takes {seconds_text(self.ends)}; "
            "all others are done before and wait.",
            until=self.ends,
        )

    def _marks(self) -> list[float]:
        return Act("", self.case.in_order, self.steps, ((0.0, 0.0),), 0.0).marks

    def _round(self, marks: list[float]) -> None:
        """The steps between the second and the last, one passage."""
        if not marks:
            return
        hop, rest = (1.0, 2.0) if len(marks) == 2 else (1.6 / len(marks) * 2, 2.6 / len(marks) * 2)
        for at, mark in enumerate(marks):
            self.script.run(rest if at % 2 else hop, until=mark)
        rows = self.case.merging
        larger = rows[1].scale is not None and rows[1].scale < 1
        self.script.stop(
            "round the ring",
            "A larger max came: what was summed shrinks first. Still exact."
            if larger
            else "Block after block arrives and is merged into max and sum.",
            f"Only {self.last} still has keys to ask. Its query has met {len(rows) - 1} blocks: largest score "
            f"{rows[-2].result.maximum:g}, sum {rows[-2].result.total:.2f}.",
        )

    def _merged(self) -> None:
        result = self.case.merging[-1].result
        self.merge = self.script.passage(
            "exact merge",
            1.8,
            "Merged block by block, or all keys at once: the same answer.",
            f"One query of {self.last}: {result.output:.3f} from {self.case.ranks} blocks, "
            f"{self.case.at_once.output:.3f} over all keys at once.",
        )

    def _anew(self) -> None:
        case, script = self.case, self.script
        loads = dealt_loads(case.strips)
        level = max(loads) - min(loads) < 1e-9
        self.change = script.run(0.5)
        words = "Cut twice as fine, and deal early with late:" if level else "Cut twice as fine, and dealt anew:"
        dealt = "; ".join(f"{LETTERS[rank]} takes {a} and {b}" for rank, (a, b) in enumerate(case.strips))
        self.dealt_anew = script.run(2.6)
        script.stop("dealt anew", f"{words} two half-strips to a GPU.", f"{2 * case.ranks} half-strips: {dealt}.")
        act = self.second_act
        for at, mark in enumerate(act.marks):
            script.run((2.4 if at % 2 else 2.8) / case.ranks, until=mark)
        self.result = script.run(1.0)
        took = seconds_text(act.ends - act.begins)
        behind = f"{case.hop(4, 'hop').text} a hop, against {case.block_s(BACKWARD, 'block').text} for a full block"
        script.stop(
            "new deal",
            f"All end together: {took} instead of {seconds_text(self.ends)}."
            if level
            else f"The slowest GPU does {digits_text(max(loads))} times the mean: {took}, not {seconds_text(self.ends)}.",
            f"Waiting takes {share_text(idle_share(act.steps))} of GPU time. Backward the ring turns once more and gradients "
            f"of keys and values ride along: {behind}.",
        )
