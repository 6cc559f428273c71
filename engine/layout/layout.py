"""How a model is cut over GPUs: degrees, schedule, batch, sharding, recomputation. Refuses only what has no meaning."""

from typing import Annotated, Literal

from engine.language.document import Count, Document, OneOf, Says, Whole
from engine.language.refusal import Refusal
from engine.layout.grid import Grid
from engine.pipeline.schedules import SCHEDULES, USUAL, Schedule

Axis = Literal["tp", "cp", "ep", "dp", "pp"]
Recompute = Literal["none", "selective", "full"]

AXES: tuple[Axis, ...] = ("tp", "cp", "ep", "dp", "pp")


class Layout(Document, frozen=True):
    """The parallel layout of one run. `dp` may be left out: it is then what the other degrees leave of the GPUs."""

    tp: Whole = Count(8, ge=1, le=4096, meaning="tensor parallel")
    cp: Whole = Count(1, ge=1, le=4096, meaning="context parallel")
    ep: Whole = Count(1, ge=1, le=4096, meaning="expert parallel")
    pp: Whole = Count(4, ge=1, le=128, meaning="pipeline stages")
    dp: Whole | None = Count(None, ge=1, le=1_048_576, meaning="data parallel; left out: what the others leave")
    vp: Whole = Count(1, ge=1, le=64, meaning="chunks per stage of an interleaved schedule")
    schedule: Annotated[str, OneOf(SCHEDULES)] = Says(
        "order of forward and backward passes in the pipeline", default=USUAL.name
    )
    micro_batch: Whole = Count(1, ge=1, le=65_536, meaning="sequences per micro-batch")
    micro_batches: Whole = Count(16, ge=1, le=1_048_576, meaning="micro-batches per pipeline and step")
    zero: Whole = Count(1, ge=0, le=3, meaning="ZeRO stage; 3 is FSDP")
    hsdp_shard: Whole | None = Count(
        None, ge=1, le=1_048_576, meaning="FSDP shards over so many ranks, replicates across"
    )
    sequence_parallel: bool = Says("cut the norms' tokens over tensor-parallel ranks too", default=True)
    recompute: Recompute = Says("what is computed again in the backward pass instead of kept", default="none")
    gradient_bytes: Literal[2, 4] = Says("size of a gradient: 4 is FP32, 2 is BF16", "bytes", default=4)
    rank_order: str = Says("which axis changes fastest over the ranks, first to last", default="tp-cp-ep-dp-pp")

    @property
    def runs(self) -> Schedule:
        """The schedule that its stages run."""
        return SCHEDULES[self.schedule].with_chunks(self.vp)

    @property
    def data_width(self) -> int:
        """Data-parallel width. Known once the layout has been placed on its GPUs."""
        assert self.dp is not None, "on_gpus() gives dp its value"
        return self.dp

    @property
    def global_batch(self) -> int:
        """Sequences per step."""
        return self.data_width * self.micro_batch * self.micro_batches

    @property
    def sp(self) -> int:
        """Ways the norms' tokens are cut: tp with sequence parallelism, else 1."""
        return self.tp if self.sequence_parallel else 1

    @property
    def expert_tp(self) -> int:
        """Tensor parallelism inside an expert: experts spread over ranks are kept whole (expert TP = 1)."""
        return self.tp if self.ep == 1 else 1

    @property
    def shard_width(self) -> int:
        """Ranks over which optimizer state (and what else ZeRO shards) is cut: dp x cp, or the HSDP group."""
        return self.hsdp_shard or self.data_width * self.cp

    @property
    def expert_shard_width(self) -> int:
        """The same for routed experts, whose copies are fewer: ranks of a stage over ep x expert TP."""
        copies = self.data_width * self.cp * self.tp // (self.ep * self.expert_tp)
        return min(copies, self.hsdp_shard) if self.hsdp_shard else copies

    @property
    def dense_grid(self) -> Grid:
        """Ranks of everything but routed experts, in the rank order; ep is no axis of it."""
        degrees = {"tp": self.tp, "cp": self.cp, "dp": self.data_width, "pp": self.pp}
        return Grid(tuple((axis, degrees[axis]) for axis in self.rank_order.split("-") if axis in degrees))

    @property
    def expert_grid(self) -> Grid:
        """Ranks of routed experts, as Megatron-LM deals them: cp is no axis of it, and dp what ep and expert TP leave.

        Needs ep to divide the ranks of a stage.
        """
        copies = self.data_width * self.cp * self.tp // (self.ep * self.expert_tp)
        degrees = {"tp": self.expert_tp, "ep": self.ep, "dp": copies, "pp": self.pp}
        return Grid(tuple((axis, degrees[axis]) for axis in self.rank_order.split("-") if axis in degrees))

    def refusals(self) -> list[Refusal]:
        """What has no meaning whatever the model: a rank order that does not name each axis once."""
        named = self.rank_order.split("-")
        if sorted(named) == sorted(AXES):
            return []
        return [
            Refusal(
                "layout.rank_order",
                self.rank_order,
                f"must name each of {', '.join(AXES)} once, from the fastest changing{_what_is_wrong(named)}",
                _mended(named, self.ep > 1 or self.cp > 1),
                "rank-order",
            )
        ]

    def on_gpus(self, gpus: int) -> "Layout":
        """The same layout with dp filled in: GPUs over tp x cp x pp."""
        rest = self.tp * self.cp * self.pp
        if self.dp is None and gpus % rest == 0:
            return self.model_copy(update={"dp": gpus // rest})
        return self


def _what_is_wrong(named: list[str]) -> str:
    twice = sorted({axis for axis in named if named.count(axis) > 1 and axis in AXES})
    strange = [" ".join(axis.split())[:12] or "nothing" for axis in named if axis not in AXES]
    missing = [axis for axis in AXES if axis not in named]
    said = [
        *(f"{axis} stands there {named.count(axis)} times" for axis in twice),
        *(f"{axis} is no axis" for axis in strange[:2]),
        *([f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing"] if missing else []),
    ]
    return f" ({'; '.join(said)})" if said else ""


def _mended(named: list[str], outermost: bool) -> str:
    """The order with each axis where it is first named, and what is missing where the default has it.

    outermost   put pp last, where experts may have another data-parallel width than the rest
    """
    kept = [axis for axis in dict.fromkeys(name.strip().lower() for name in named) if axis in AXES]
    for place, axis in enumerate(AXES):
        if axis not in kept:
            before = [kept.index(other) for other in AXES[:place] if other in kept]
            kept.insert(max(before) + 1 if before else 0, axis)
    return "-".join(sorted(kept, key=lambda axis: axis == "pp") if outermost else kept)
