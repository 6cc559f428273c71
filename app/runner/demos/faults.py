"""What goes wrong on real clusters, on purpose: one rank of a data-parallel training misbehaves, and must be found."""

from dataclasses import replace

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.knobs import BATCH, HEADS, HIDDEN, LAYERS, SEQUENCE, STEPS, Knob, ranks_knob
from app.runner.predict import Failure, Measurable, Prediction
from engine.language.inputs import Amount, Choice

VICTIM = Amount("victim", "rank that misbehaves", 1, 0, 7)
AT = Amount("at", "in step", 2, 0, 19)
PATIENCE = Amount("patience", "a collective waits", 2, 1, 8, "s")
WATCH = Choice(
    "watch", "watched by", "timeout", {"timeout": "the timeout of the collective", "barrier": "a monitored barrier"}
)
ODD = Choice("odd", "what it calls", "barrier", {"barrier": "a barrier", "size": "the same with fewer numbers"})
CHECK = Choice("check", "TORCH_DISTRIBUTED_DEBUG", "detail", {"detail": "DETAIL", "none": "unset"})
LATE = Amount("late_ms", "late by", 100, 10, 500, "ms")
EVERY = Amount("every", "checkpoint every", 2, 1, 10, "steps")
RESTARTS = Amount("restarts", "restarts allowed", 1, 1, 3)
GOES_ON = "weights and moments come back exactly, so the losses are those of a training that never failed"
SMALL = (HIDDEN, replace(LAYERS, default=2), HEADS, SEQUENCE, BATCH, replace(STEPS, default=4))
FEWEST = 3  # of two ranks that differ nobody can say which one is wrong


def fails(says: str, why: str) -> Prediction:
    """A run that ends with the victim as its root cause."""
    return Prediction(failure=Failure(says, why), notes=(why,))


def _kill(_: Params) -> Prediction:
    return fails("SIGKILL", "the others only see a connection that was closed, at once; the launcher sees the signal")


def _hang(params: Params) -> Prediction:
    if params["watch"] == "barrier":
        return fails(
            "monitoredBarrier",
            "the barrier collects every rank's answer, so it knows who is missing, before any collective",
        )
    return fails(
        "",
        "the others wait until their collective times out and no message names the rank; the flight recorder shows who has "
        "not issued the collective they wait in",
    )


def _mismatch(params: Params) -> Prediction:
    if params["check"] == "detail":
        return fails(
            "Detected mismatch",
            "with DETAIL every collective is compared with those of all other ranks before it runs: an error "
            "at once, which names both",
        )
    return fails("", "silence until the timeout, or an abort; the flight recorder shows who called something else")


def _straggler(params: Params) -> Prediction:
    late = Measurable(
        "step",
        "every rank's step, at least",
        int(params["late_ms"]) / 1000,
        "s",
        at_least=True,
        why="gradients are summed over all ranks, so all wait for the slowest, in every step",
    )
    return Prediction(more=(late,), notes=(late.why,))


def _restart(params: Params) -> Prediction:
    repeated = Measurable(
        "repeated",
        "steps done twice",
        int(params["at"]) % int(params["every"]),
        "steps",
        why="what was computed since the last checkpoint is lost",
    )
    return Prediction(more=(repeated,), notes=(repeated.why, GOES_ON))


def _memory(_: Params) -> Prediction:
    return fails(
        "can't allocate memory",
        "each rank may map only so much memory (RLIMIT_AS): its own error is the cause, what the others report is not",
    )


def fault(name: str, title: str, idea: str, predict, knobs: tuple[Knob, ...], fewest: int = 2) -> Demo:  # type: ignore[no-untyped-def]
    """A fault demo: which rank, when, and what is special about it."""
    when = () if name == "straggler" else (AT,)
    timed = (rules.below("at", "steps", "steps count from 0, so it can happen in step"),) if when else ()
    return Demo(
        name,
        title,
        idea,
        ("dp",),
        (replace(ranks_knob(), low=fewest), *SMALL, VICTIM, *when, *knobs),
        (rules.batch_divides("ranks"), rules.below("victim", "ranks", "ranks count from 0, so there are"), *timed),
        predict,
        group="faults",
        strategy="faults",
    )


KILL = fault(
    "kill-rank",
    "A rank dies",
    "One rank is killed in the middle of its backward pass, as when a host goes down.",
    _kill,
    (PATIENCE,),
)
HANG = fault(
    "hang-rank",
    "A rank hangs",
    "One rank falls asleep before its step: nothing fails until somebody's patience ends.",
    _hang,
    (PATIENCE, WATCH),
)
MISMATCH = fault(
    "mismatch",
    "Ranks disagree",
    "One rank calls another collective than the others: the classic bug behind a training that hangs.",
    _mismatch,
    (PATIENCE, ODD, CHECK),
    FEWEST,
)
STRAGGLER = fault(
    "straggler",
    "A rank is slow",
    "One rank computes more slowly, and every step of every rank takes as long as its.",
    _straggler,
    (LATE,),
)
MEMORY = fault(
    "out-of-memory",
    "A rank runs out of memory",
    "One rank asks for more memory than it may have, and drags the others down.",
    _memory,
    (PATIENCE,),
)
RESTART = replace(
    fault(
        "restart",
        "Restart after a failure (torchrun)",
        "One rank dies; torchrun's agent ends the others, starts all again, and they go on from the last checkpoint.",
        _restart,
        (PATIENCE, EVERY, RESTARTS),
    ),
    agent=True,
)
ALL = (KILL, HANG, MISMATCH, STRAGGLER, MEMORY, RESTART)
