"""The verdict and the root cause are pure: events in, rows or a sentence out."""

from app.live.log import EventLog
from app.runner.event_kinds import Check, Comm, RankError, RankExit, RunDone, RunEvent, Step, Stuck
from app.runner.event_parts import FlightEntry, Issued
from app.runner.launch import FULL
from app.runner.plain_words import without_paths
from app.runner.predict import Calls, Prediction
from app.runner.root_cause import root_cause
from app.runner.verdict import verdict


def step(rank: int | str, loss: float, number: int = 0) -> Step:
    return Step(1.0, rank, number, loss, ms=1.0, t0=0.0, t1=1.0, tokens=8, phases={})


def comm(rank: int, op: str, n: int, size: int) -> Comm:
    return Comm(1.0, rank, step=0, calls=(Issued("dp", op, "backward", n, size, t0=0.0, t1=1.0),))


def rows(prediction: Prediction, *events: RunEvent) -> dict[str, bool]:
    return {row.name: row.ok for row in verdict(prediction, events)}


def test_a_loss_that_is_off_does_not_pass() -> None:
    assert rows(Prediction(), step("ref", 6.0), step(0, 6.1), step(1, 5.9)) == {"loss": True}
    assert rows(Prediction(), step("ref", 6.0), step(0, 6.1), step(1, 5.95)) == {"loss": False}


def test_counts_and_bytes_are_exact() -> None:
    said = Prediction(calls=(Calls("dp", "all_reduce", 2, 100, 2),))
    assert rows(said, comm(0, "all_reduce", 2, 100), comm(1, "all_reduce", 2, 100)) == {
        "calls.dp.all_reduce.every": True,
        "bytes.dp.all_reduce.every": True,
    }
    assert not any(rows(said, comm(0, "all_reduce", 2, 100), comm(1, "all_reduce", 3, 101)).values())


def test_what_nobody_predicted_does_not_pass() -> None:
    said = Prediction(calls=(Calls("dp", "all_reduce", 1, 4, 2),))
    assert rows(said, comm(0, "all_gather", 1, 4))["calls.dp.all_gather"] is False


def error(rank: int, message: str, t: float = 1.0) -> RankError:
    return RankError(t, rank, "RuntimeError", message)


def left(rank: int, signal: str | None = None, by_us: bool = False, t: float = 2.0) -> RankExit:
    return RankExit(t, rank, code=0 if signal else 1, signal=signal, by_us=by_us, cpu_s=0.1, said="")


def stuck(rank: int, *calls: str) -> Stuck:
    return Stuck(1.0, rank, tuple(FlightEntry(n, op, ((4,),), "step") for n, op in enumerate(calls, 1)))


def test_a_connection_that_was_closed_is_never_the_cause_where_another_is_known() -> None:
    closed = [error(0, "Connection reset by peer", 0.1), error(2, "[pair.cc:553] Connection closed by peer", 0.2)]
    assert root_cause([*closed, error(1, "shape '[8]' is invalid", 0.3)], [], 3).rank == 1
    assert root_cause(closed, [left(1, "SIGSEGV")], 3).rank == 1
    assert root_cause(closed, [left(1, "SIGKILL", by_us=True)], 3).sentence.startswith("rank 1 did not take part")


def test_flight_recorders_tell_who_is_somewhere_else() -> None:
    late = [error(0, "Timed out waiting 1000ms for recv operation")]
    same = [stuck(0, "all_reduce", "all_reduce"), stuck(2, "all_reduce", "all_reduce")]
    assert root_cause([*late, *same, stuck(1, "all_reduce", "barrier")], [], 3).rank == 1
    assert "has not issued collective 2" in root_cause([*late, *same, stuck(1, "all_reduce")], [], 3).sentence
    assert root_cause([*late, *same, stuck(1, "all_reduce", "all_reduce")], [], 3).rank is None


BARRIER = "SequenceNumber=20OpType=BARRIER"
SUM = "SequenceNumber=20, OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float"
GARBLED = "SequenceNumber=0OpType=REDUCE"  # how PyTorch tells of another rank's barrier


def differs(rank: int, own: str, other: int, theirs: str) -> RankError:
    """As a rank says it where PyTorch compares collectives before they run."""
    return error(
        rank,
        f"Detected mismatch between collectives on ranks. Rank {rank} is running collective: CollectiveFingerPrint({own}), "
        f"but Rank {other} is running collective: CollectiveFingerPrint({theirs}).",
    )


def test_a_mismatch_is_told_in_our_words_and_pytorchs_stand_beneath() -> None:
    seen = [differs(rank, SUM, 2, GARBLED) for rank in (3, 0, 1)]
    cause = root_cause([differs(2, BARRIER, 0, GARBLED), *seen], [], 4)
    assert cause.rank == 2 and cause.said == seen[1].message
    assert cause.sentence == (
        "rank 2 calls barrier where ranks 0, 1 and 3 call all-reduce of [4] (collective 20, compared before it ran)"
    )
    assert root_cause(seen, [], 4).sentence.startswith(
        "rank 2 calls another collective where ranks 0, 1 and 3 call all-reduce"
    )


def test_who_missed_a_barrier_and_who_waited_there() -> None:
    one = root_cause([error(0, "[Rank 0]: Ranks 2 failed to pass monitoredBarrier in 500 ms")], [], 4)
    assert one.sentence == (
        "rank 2 did not come to the monitored barrier, where ranks 0, 1 and 3 waited for it for 500 ms"
    )
    two = root_cause([error(0, "[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 500 ms")], [], 4)
    assert two.rank == 1 and two.sentence.startswith("ranks 1 and 3 did not come") and "waited for them" in two.sentence
    assert "monitoredBarrier" in two.said


def test_messages_lose_their_paths_ports_and_stacks() -> None:
    said = without_paths(
        "/home/me/x/worker.py: refused [127.0.0.1]:4513 Exception raised from foo at /a/b.cpp:1\nframe #0"
    )
    assert said == "worker.py: refused [127.0.0.1]"


def test_a_log_that_is_full_still_says_how_the_run_ends() -> None:
    log = EventLog[RunEvent](FULL, events=10)
    for number in range(50):
        log.add(step(0, 6.0, number))
    log.add(Check("loss", "loss", 0.0, 0.0, "nats", 0, True, ""))
    log.add(RunDone(reason="done", wall_s=1.0, ok=True))
    log.add(step(0, 6.0, 51))
    assert [event.KIND for event in log.events[-3:]] == ["rank.error", "check", "run.done"]
    assert len(log.events) < 15 and log.closed


def test_that_a_log_was_full_is_no_cause() -> None:
    assert root_cause([FULL], [left(1, "SIGKILL")], 2).rank == 1
    assert root_cause([FULL], [], 2).rank is None
