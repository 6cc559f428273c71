"""Why a run failed: of all that its ranks said and how they ended, the one thing that came first. Pure.

The errors that arrive first are often not the cause: when one rank dies, the others see a connection that was closed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.runner.event_kinds import REFERENCE, RankError, RankExit, RankName, RunEvent, Stuck
from app.runner.event_parts import FlightEntry

_SECONDARY = re.compile(
    r"connection (was )?(closed|reset|refused)|timed out|broken pipe|socket (closed|timeout)|"
    r"application timeout caused pair closure|peer (closed|reset)",
    re.IGNORECASE,
)
_MISSING = re.compile(r"Ranks? (\d+(?:[, ]+\d+)*) failed to pass monitoredBarrier(?: in (\d+ ms))?", re.IGNORECASE)
_ACCUSED = re.compile(r"Detected mismatch between collectives.* but Rank (\d+) is running", re.DOTALL)
# what a rank says it calls itself: of another one it may be told in part only, as another operation
_CALLS = re.compile(r"SequenceNumber=(\d+),? ?OpType=(\w+)(?:, TensorShape=\[([\d, ]*)\])?")
_FULL = re.compile(r"allocate memory|out of memory", re.IGNORECASE)
OPS = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "alltoall": "all-to-all",
}  # as PyTorch writes them -> as people do
KILLED = {
    "SIGKILL": "was killed (SIGKILL)",
    "SIGXCPU": "used up its CPU time (SIGXCPU)",
    "SIGABRT": "aborted (SIGABRT)",
    "SIGSEGV": "crashed (SIGSEGV)",
}


@dataclass(frozen=True)
class Cause:
    """The rank at fault, None where no single one is, and a sentence. said: PyTorch's own words."""

    rank: RankName | None
    sentence: str
    said: str = ""

    @property
    def words(self) -> str:
        """Ours and PyTorch's."""
        return f"{self.sentence} {self.said}".strip()


def root_cause(events: Sequence[RunEvent], exits: Sequence[RankExit], ranks: int) -> Cause:
    """The cause of a failed run.

    events   of the run, its errors and where its ranks got stuck among them
    exits    how its ranks ended

    >>> seen = [RankError(1.0, 0, "RuntimeError", "Connection closed by peer")]
    >>> ended = [RankExit(1.1, 1, code=0, signal="SIGKILL", by_us=False, cpu_s=0.1, said="")]
    >>> root_cause(seen, ended, ranks=2).sentence
    'rank 1 was killed (SIGKILL)'
    """
    theirs = (each for each in events if isinstance(each, RankError) and each.rank is not None)
    errors = sorted(theirs, key=lambda error: error.t or 0.0)
    stuck = {each.rank: each.last for each in events if isinstance(each, Stuck)}
    return (
        _missed_barrier(errors, ranks)
        or _accused(errors)
        or _own(errors, exits)
        or _odd(stuck)
        or _silent(errors, exits, ranks)
    )


def secondary(error: RankError) -> bool:
    """Whether an error only says that another rank is gone or silent."""
    return bool(_SECONDARY.search(error.message)) and not _MISSING.search(error.message)


def _missed_barrier(errors: Sequence[RankError], ranks: int) -> Cause | None:
    """A monitored barrier names the ranks that did not come."""
    found = next((match for e in errors if (match := _MISSING.search(e.message))), None)
    if not found:
        return None
    missing = sorted(map(int, re.findall(r"\d+", found[1])))
    waited = [rank for rank in range(ranks) if rank not in missing]
    long, them = f" for {found[2]}" if found[2] else "", "it" if len(missing) == 1 else "them"
    sentence = f"{ranks_text(missing)} did not come to the monitored barrier, where {ranks_text(waited)} waited for {them}{long}"
    return Cause(missing[0], sentence, found.string)


def _accused(errors: Sequence[RankError]) -> Cause | None:
    """Where collectives are compared, every rank accuses one that differs from it: the odd one out is accused most."""
    found = [(e, int(match[1])) for e in errors if (match := _ACCUSED.search(e.message))]
    votes = Counter(accused for _, accused in found).most_common(2)
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return None
    rank = votes[0][0]
    accusers = sorted((e for e, accused in found if accused == rank), key=lambda error: str(error.rank))
    theirs, number = _called(accusers[0])
    own = next((_called(e)[0] for e in errors if e.rank == rank and _CALLS.search(e.message)), "another collective")
    others = ranks_text([e.rank for e in accusers])
    verb = "calls" if len(accusers) == 1 else "call"
    sentence = f"rank {rank} calls {own} where {others} {verb} {theirs} (collective {number}, compared before it ran)"
    return Cause(rank, sentence, accusers[0].message)


def _called(error: RankError) -> tuple[str, str]:
    """What a rank says of its own call, and the number of its collective."""
    if not (found := _CALLS.search(error.message)):
        return "another collective", "unknown"
    number, name, shape = found.groups()
    op = name.lower().strip("_").removesuffix("_base").replace("_", "-")
    return OPS.get(op, op) + (f" of [{shape}]" if shape else ""), number


def _own(errors: Sequence[RankError], exits: Sequence[RankExit]) -> Cause | None:
    """The first error that is a rank's own, or the first signal that ended one."""
    own = [(e.t or 0.0, Cause(e.rank, _failed_text(e), _error_text(e))) for e in errors if not secondary(e)]
    died = [(e.t, _ended(e)) for e in exits if e.signal and not e.by_us]
    return min([*own, *died], key=lambda found: found[0])[1] if own or died else None


def _odd(stuck: Mapping[RankName, Sequence[FlightEntry]]) -> Cause | None:
    """By the flight recorders: the rank whose collective differs from all others', or that has issued fewer."""
    calls = {rank: {call.number: _call_text(call) for call in last} for rank, last in stuck.items() if last}
    if len(calls) < 3:
        return None
    for number in sorted(set.intersection(*map(set, calls.values()))):
        (most, _), *others = Counter(made[number] for made in calls.values()).most_common()
        different = [rank for rank, made in calls.items() if made[number] != most]
        if others and len(different) == 1:
            return Cause(
                different[0],
                f"rank {different[0]} calls {calls[different[0]][number]} where "
                f"{_others(calls, different[0])} call {most} (collective {number}, by the flight recorder)",
            )
    ends = {rank: max(made) for rank, made in calls.items()}
    late = min(ends, key=lambda rank: ends[rank])
    ahead = sorted(ends.values())[1]
    if ends[late] < ahead:
        wanted = next(made[ends[late] + 1] for made in calls.values() if ends[late] + 1 in made)
        return Cause(
            late,
            f"rank {late} has not issued collective {ends[late] + 1}, {wanted}, in which {_others(calls, late)} wait "
            "(by the flight recorder)",
        )
    return None


def _silent(errors: Sequence[RankError], exits: Sequence[RankExit], ranks: int) -> Cause:
    """No rank has an error of its own: whoever said nothing is who the others waited for."""
    heard = {e.rank for e in errors} | {e.rank for e in exits if not e.by_us}
    silent = [rank for rank in range(ranks) if rank not in heard]
    if len(silent) == 1 and errors:
        sentence = f"rank {silent[0]} did not take part; the others waited for it until their collective timed out"
        return Cause(silent[0], sentence, _error_text(errors[0]))
    if errors:
        return Cause(
            None, "no rank failed by itself: all only saw that another was gone or silent", _error_text(errors[0])
        )
    return Cause(None, "the ranks ended without a word")


def _call_text(call: FlightEntry) -> str:
    sizes = ", ".join(str(list(size)) for size in call.sizes)
    return call.op.replace("_", "-") + (f" of {sizes}" if sizes else "")


def _others(calls: Mapping[RankName, object], rank: RankName) -> str:
    return ranks_text(sorted((other for other in calls if other != rank), key=str))


def _error_text(error: RankError) -> str:
    return f"{_rank_text(error.rank)}: {error.type}: {error.message}"


def _failed_text(error: RankError) -> str:
    what = (
        "asked for more memory than it may have"
        if _FULL.search(error.message)
        else f"failed first, by a {error.type} of its own"
    )
    return f"{_rank_text(error.rank)} {what}"


def _ended(exit: RankExit) -> Cause:
    signal = exit.signal or ""
    return Cause(exit.rank, f"{_rank_text(exit.rank)} {killed_text(signal)}", exit.said if signal == "SIGABRT" else "")


def ranks_text(ranks: Sequence[RankName | None]) -> str:
    """Some ranks in words.

    >>> ranks_text((1,)), ranks_text((0, 1, 2))
    ('rank 1', 'ranks 0, 1 and 2')
    """
    first, last = ", ".join(map(str, ranks[:-1])), str(ranks[-1])
    return f"ranks {first} and {last}" if first else f"rank {last}"


def killed_text(signal: str) -> str:
    """What a signal did to a process.

    >>> killed_text("SIGXCPU"), killed_text("SIGHUP")
    ('used up its CPU time (SIGXCPU)', 'was ended (SIGHUP)')
    """
    return KILLED.get(signal, f"was ended ({signal})")


def _rank_text(rank: RankName | None) -> str:
    return "the single-process reference" if rank == REFERENCE else f"rank {rank}"
