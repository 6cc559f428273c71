"""The film of expert parallelism: its passages, and the moments of engine time that its drawings need."""

from dataclasses import dataclass
from functools import cached_property
from math import inf

from app.board.film.film import Script
from app.board.film.lens import Lens, Span, plain
from app.board.film.pieces import LETTERS
from app.board.scenes.ep.case import CLUSTER, DRAWN, EXCHANGES, GPUS, MODEL, Case, Copy
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text, share_text
from engine.network.collectives import send_s

HOME = 0.9  # s in which copies whose expert is at home go there, without a wire


@dataclass(frozen=True)
class Trip:
    """A copy there and back.

    place    in its expert's queue, from 0
    out      start and end on the wires, in engine time; None: it stays at home
    back     likewise of its result
    dropped  whether a full expert would drop it
    """

    copy: Copy
    place: int
    out: tuple[float, float] | None
    back: tuple[float, float] | None
    dropped: bool


class Story:
    """The film of one setting of the knobs."""

    def __init__(self, case: Case):
        self.case, self.script = case, Script()
        self._route()
        self._layer()
        self._overflow()
        self._few_nodes()
        self._backward()
        self.lens: Lens = self.script.lens

    # moments of engine time

    @property
    def sent(self) -> float:
        """The end of the dispatch."""
        return self.case.slots * self.case.slot_s

    @property
    def computed(self) -> float:
        return self.sent + self.case.experts_s.value

    @property
    def combined(self) -> float:
        return self.computed + self.sent

    @property
    def hot(self) -> int:
        """The GPU of the busiest expert."""
        return self.case.busiest // self.case.a_gpu

    def works(self, gpu: int, begins: float, most: float = inf) -> list[tuple[int, float, float]]:
        """A GPU's experts, one after another: which, and from when to when."""
        found, now = [], begins
        for expert in range(gpu * self.case.a_gpu, (gpu + 1) * self.case.a_gpu):
            end = now + self.case.work_s(expert, most)
            if end > now:
                found.append((expert, now, end))
            now = end
        return found

    def done(self, gpu: int, begins: float, most: float = inf) -> float:
        """When a GPU's experts are done."""
        return max((end for _, _, end in self.works(gpu, begins, most)), default=begins)

    @cached_property
    def trips(self) -> tuple[Trip, ...]:
        """All copies, by the slot in which they travel; results go back in the mirrored order."""
        slot_s, places = self.case.slot_s, [0] * self.case.experts
        found = []
        for copy in sorted(self.case.copies, key=lambda copy: -1 if copy.slot is None else copy.slot):
            place = places[copy.expert]
            places[copy.expert] += 1
            out = back = None
            if copy.slot is not None:
                out = (copy.slot * slot_s, (copy.slot + 1) * slot_s)
                back = (self.combined - out[1], self.combined - out[0])
            found.append(Trip(copy, place, out, back, place >= self.case.places))
        return tuple(found)

    def clock(self, e: float) -> str:
        """The engine's time as words: of the layer, again from the dispatch on, of an exchange, and of both ways."""
        for start, offset in ((self.backward, 0.0), (self.limits, 0.0), (self.again, self.sent)):
            if e > start:
                return seconds_text(e - start + offset)
        return seconds_text(e) if e > 0 else ""

    # passages

    def _route(self) -> None:
        case, script = self.case, self.script
        script.open(
            "router scores",
            "Every GPU has tokens and a few experts.",
            f"{GPUS} GPUs with {DRAWN} tokens drawn each, of {count_text(case.tokens)}; {case.experts} experts, "
            f"{case.a_gpu} a GPU.",
        )
        self.scored = script.passage(
            "scores",
            1.8,
            "A small router scores all experts, for every token.",
            "For one token of each GPU a bar for each expert; the highest are its choice.",
        )
        tickets = f"{counted(case.top_k, 'ticket')}: one for each of its best experts"
        first = ", ".join(map(str, case.routing.choices[0]))
        self.ticketed = script.passage(
            "tickets",
            1.6,
            f"Each token draws {tickets if case.top_k > 1 else 'one ticket: for the expert it likes best'}.",
            f"{count_text(case.tokens * case.top_k)} copies a GPU. The first token drawn goes to {first}.",
        )

    def _layer(self) -> None:
        case, script = self.case, self.script
        load = digits_text(case.busiest_gpu.value)
        self.stay = script.run(HOME)
        script.run(4.0, until=self.sent)
        script.stop(
            "dispatch",
            "All-to-all: copies ride to their experts." + ("" if case.balanced else f" E{case.busiest} gets a queue."),
            f"If all left home, {case.dispatch.text} a GPU, {case.exchange_s.text}; of the copies drawn the busiest port "
            f"passes {case.slots}, which takes {seconds_text(self.sent)}.",
        )
        script.passage(
            "experts compute",
            3.0,
            "Experts compute. All have their share and end together."
            if case.balanced
            else f"Experts compute. {LETTERS[self.hot]} has {load} times its share; the others wait.",
            f"Evenly loaded {case.even_s.text}; with expert {case.busiest} at {case.skew:g} times the mean "
            f"{case.experts_s.text}. Who is done before is hatched.",
            until=self.computed,
        )
        script.run(3.4, until=self.combined)
        self.settle = script.run(HOME)
        gates = ", ".join(map(share_text, case.routing.gates(0)))
        script.stop(
            "combine",
            "All-to-all back: each token adds its results, weighted by its scores.",
            f"As many bytes return as went. The first token drawn adds its results with weights of {gates}.",
        )

    def _overflow(self) -> None:
        """The experts again, with a capacity."""
        case, script = self.case, self.script
        self.return_ = script.run(0.8)
        self.again = self.combined
        self.drop = script.run(1.2)
        most = case.values["capacity"]
        self.capped = self.again + max(self.done(gpu, 0.0, most) for gpu in range(GPUS))
        script.run(2.2, until=self.capped)
        saved = seconds_text(case.experts_s.value - (self.capped - self.again))
        script.stop(
            "overflow",
            f"A full expert drops {share_text(case.overflow.value)} of all visits; all end {saved} sooner."
            if case.overflow.value
            else "This capacity takes every copy: nothing is dropped, the busiest is waited for.",
            f"Expert {case.busiest} gets {case.skew:g} times the mean, capacity is {most:g} times the mean. Dropped tokens "
            f"leave a dashed place and pass by this layer. Waiting instead takes {case.experts_s.text}.",
        )

    def _few_nodes(self) -> None:
        case, script = self.case, self.script
        self.leave = script.run(0.6)
        self.limits = self.capped
        script.run(3.8, until=self.limits + max(case.exchange_s.value, self.handed_on))
        n = counted(case.nodes, "node")
        script.stop(
            "few nodes",
            f"At most {n} a token: one copy each, handed on over NVLink.",
            f"Free choice sends {case.dispatch.text} a GPU, {case.exchange_s.text}; with {n} of {GPUS} it sends "
            f"{case.limited.text}, {case.limited_s.text}, at {bytes_text(CLUSTER.nic_bytes_per_s)}/s.",
        )

    def _backward(self) -> None:
        case, script = self.case, self.script
        self.turn = script.run(0.6)
        self.backward = self.script.points[-1][1]
        for _, end in self.whole:
            script.run(0.7, until=self.backward + end)
        script.stop(
            "backward too",
            f"Backward repeats both with gradients: {EXCHANGES} exchanges a layer.",
            f"{EXCHANGES} exchanges of {case.dispatch.text}: {case.exchanges_s.text} on the wires, if nothing hides them; "
            f"a copy is {bytes_text(2 * MODEL.hidden)}.",
        )

    # few nodes: one token of each GPU stands for all of them

    @property
    def copy_s(self) -> float:
        """Time on the network of one copy of every token of a GPU.   [s]"""
        return self.case.exchange_s.value / self.case.top_k

    @property
    def hand_s(self) -> float:
        """Likewise on NVLink.   [s]"""
        copy = self.case.dispatch.value / self.case.top_k
        return send_s(copy, CLUSTER.gpu.fact("nvlink_bytes_per_s").value, 0.0)

    def reach(self, limited: bool) -> list[list[int]]:
        """For each node the experts there that a token visits."""
        visited = self.case.nodes if limited else GPUS
        return [
            [at for at in range(self.case.a_gpu) if at * visited + node < self.case.top_k] if node < visited else []
            for node in range(GPUS)
        ]

    def network(self, limited: bool) -> list[tuple[int, float, float]]:
        """Copies on the network, one after another: to which node, from when to when since the exchange began."""
        reach = self.reach(limited)
        nodes = [node for node, there in enumerate(reach) for _ in (there[:1] if limited else there)]
        return [(node, at * self.copy_s, (at + 1) * self.copy_s) for at, node in enumerate(nodes)]

    def handing(self) -> list[tuple[int, int, float, float]]:
        """Copies on NVLink, where nodes are limited: in which node, to which expert, from when to when."""
        reach = self.reach(True)
        return [
            (node, at, arrived + turn * self.hand_s, arrived + (turn + 1) * self.hand_s)
            for node, _, arrived in self.network(True)
            for turn, at in enumerate(reach[node])
        ]

    @property
    def handed_on(self) -> float:
        """When the last copy is where it belongs, if nodes are limited."""
        return max(end for *_, end in self.handing())

    # both ways

    @cached_property
    def whole(self) -> list[tuple[float, float]]:
        """A layer forward and backward since its beginning: exchange, experts, exchange, and again with gradients."""
        case, now = self.case, 0.0
        out = case.exchange_s.value
        found = []
        for length in (out, case.experts_s.value, out, out, case.experts_backward_s.value, out):
            found.append((now, now + length))
            now += length
        return found


def staggered(span: Span, at: int, of: int, each: float) -> Span:
    """One of several that go one after another within a span, each for so many seconds."""
    start, end = span[0][0], span[-1][0]
    begins = start + (end - start - each) * at / max(of - 1, 1)
    return plain(begins, begins + each)
