"""A published run beside its prediction: what was measured, what the engine says, and how far apart they are."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.catalog.scenarios import Preset, presets
from engine.estimate import Estimate, estimate
from engine.language.choice import choose
from engine.language.formula import Given, Number, Term, formula
from engine.language.units import share_text
from engine.run.speed import achieved_flop_per_s, tokens_per_second_per_gpu
from engine.scenario import scenario_from


@formula(r"\frac{<p> - <m>}{<m>}", unit="ratio", source="Predicted against measured, by time: positive is too slow")
def time_error(p: Number, m: Number) -> Number:
    """How much longer the predicted step is than the measured one.   [ratio]

    p   predicted time   [s]
    m   measured time    [s above 0]

    >>> round(time_error(15.0, 14.65), 3)
    0.024
    """
    return (p - m) / m


@formula(
    r"\frac{<m> - <p>}{<p>}", unit="ratio", source="Predicted against measured, as a time: a lower rate takes longer"
)
def rate_error(p: Number, m: Number) -> Number:
    """How much longer the predicted step is than the measured one, from two rates of the same work.   [ratio]

    p   predicted rate   [1/s above 0]
    m   measured rate    [1/s]

    >>> round(rate_error(400, 410), 3)
    0.025
    """
    return (m - p) / p


def _flop_per_s(found: Estimate, counted: str) -> Term:
    peak = found.scenario.cluster.gpu.peak(found.scenario.precision)
    return achieved_flop_per_s.explain("predicted rate per GPU", P=peak, u=getattr(found.mfu, counted))


def _tokens_per_second(found: Estimate, counted: str) -> Term:
    rate = found.tokens_per_second
    return tokens_per_second_per_gpu.explain("predicted tokens per second and GPU", r=rate, g=found.scenario.gpus)


# what a print can be of: how the engine says it, in which unit, and how two of them are compared
QUANTITIES: dict[str, tuple[Callable[[Estimate, str], Term], str]] = {
    "step_seconds": (lambda found, counted: found.step.seconds, "s"),
    "flop_per_s_per_gpu": (_flop_per_s, "FLOP/s"),
    "tokens_per_second_per_gpu": (_tokens_per_second, "tokens/s"),
}


@dataclass(frozen=True)
class Judged:
    """A published run and its prediction.

    measured    with its source
    error       of the predicted step time, with its sign   [ratio]
    """

    preset: Preset
    estimate: Estimate
    measured: Given
    predicted: Term
    error: Term

    @property
    def inside(self) -> bool:
        """Whether the measured time lies in the range that stands beside the predicted one."""
        return abs(self.error.value) <= self.estimate.step.band

    @property
    def error_words(self) -> str:
        """How far off, in words.

        >>> judged("llama-3-70b-1k").error_words
        '1.05 % slower than measured'
        """
        away = share_text(abs(self.error.value))
        return f"{away} {'slower' if self.error.value > 0 else 'faster'} than measured"


def judged(name: str) -> Judged:
    """A published run of the catalogue, estimated."""
    known = {name: preset for name, preset in presets().items() if preset.published}
    preset = choose("run", name, known, "the published runs are {names}")
    return judge(preset, estimate(scenario_from(preset.document)))


def judge(preset: Preset, found: Estimate) -> Judged:
    """A published run beside an estimate of its scenario."""
    published = preset.published
    assert published, "a preset that nobody ran has nothing to be judged by"
    say, unit = QUANTITIES[published.quantity]
    predicted = say(found, published.counted)
    measured = Given("measured", published.value, unit, preset.source)
    compare = time_error if published.quantity == "step_seconds" else rate_error
    return Judged(preset, found, measured, predicted, compare.explain("error", p=predicted, m=published.value))


def judgements() -> tuple[Judged, ...]:
    """Every published run of the catalogue, estimated."""
    return tuple(judged(name) for name, preset in presets().items() if preset.published)
