"""What a demo is, without running it: its words, its knobs, what they may be together, and what it predicts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.runner.knobs import Knob, Value
from app.runner.predict import Prediction
from app.runner.rules import Rule

Params = Mapping[str, Value]


def _ranks_knob(params: Params) -> int:
    return int(params["ranks"])


@dataclass(frozen=True)
class Demo:
    """One demo.

    idea        in one sentence
    axes        which parallel dimensions it has
    predict     knobs -> what the run will show, before it runs
    ranks       knobs -> processes it starts
    group       "strategies" or "faults"
    agent       whether its ranks are started by an agent that starts them again, as torchrun's does
    strategy    file in app/runner/strategies that builds it; its own name with underscores, unless said
    reference   the file that builds what it is compared with: one process with the same model
    unrecorded  why there is no recorded run of it, for machines without torch; empty where there is one
    """

    name: str
    title: str
    idea: str
    axes: tuple[str, ...]
    knobs: tuple[Knob, ...]
    rules: tuple[Rule, ...]
    predict: Callable[[Params], Prediction]
    ranks: Callable[[Params], int] = _ranks_knob
    group: str = "strategies"
    strategy: str = ""
    agent: bool = False
    reference: str = "single"
    unrecorded: str = ""

    @property
    def module(self) -> str:
        """The module that builds it: chosen here, never by a client."""
        return f"app.runner.strategies.{self.strategy or self.name.replace('-', '_')}"

    @property
    def reference_module(self) -> str:
        """The module that builds what it is compared with."""
        return f"app.runner.strategies.{self.reference}"
