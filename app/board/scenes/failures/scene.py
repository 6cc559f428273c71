"""Failures: a slow GPU, a hang, the way back, how often to save, half a year by lot, a loss that jumps, a bit that flips."""

from math import log2

from app.board.legend import Entry, legend
from app.board.scenes.base import WIDTH, Frame, Scene, SceneFigure, Values
from app.board.scenes.failures import drawing as draw
from app.board.scenes.failures.case import DAYS, SLOW, Case, misconceptions, numbers, question
from app.board.scenes.failures.losses import loss_spike, silent
from app.board.scenes.pieces import Bar, Lane, lanes
from engine.catalog.calibration import fitted_calibration
from engine.language.inputs import Amount
from engine.language.units import DAY_S, HOUR_S, bytes_text, count_text, counted, digits_text, seconds_text, share_text
from engine.run.failures import WATCHDOG_S, checkpoint_overhead

FEW_DAYS = 14
NARROW = 0.1  # of the lane of time: names of shorter parts stand below it
KNOBS = (
    Amount("gpus", "GPUs", 1024, 16, 65_536, scale="doubling"),
    Amount(
        "hours",
        "hours between failures of a GPU",
        fitted_calibration().factor("gpu_hours_between_failures"),
        5000,
        200_000,
        step=500,
        unit="h",
    ),
    Amount("stall", "stall to save", fitted_calibration().factor("checkpoint_stall_s"), 1, 600, unit="s"),
    Amount("interval", "between checkpoints", 76.5, 1, 1440, step=0.5, unit="min", whole=False),
)


def hours_text(seconds: float) -> str:
    """A time between failures: hours as far as people count in them."""
    hours = seconds / HOUR_S
    return f"{digits_text(hours)} h" if 1 <= hours < 100 else seconds_text(seconds)


def _nearly(share: float) -> str:
    """A share that is not whole does not read as if it were."""
    most = 0.999
    return share_text(share) if share <= most else f"over {share_text(most)}"


def frames(values: Values) -> tuple[Frame, ...]:
    """The frames, in order."""
    case = Case(values)
    made = (heartbeats, slow_gpu, hang, restart, interval, calendar, loss_spike, silent)
    return tuple(drawn(case, number) for number, drawn in enumerate(made))


def heartbeats(case: Case, number: int) -> Frame:
    between, gpus = hours_text(case.between.value), count_text(case.gpus)
    caption = f"{gpus} GPUs beat as one. Each fails rarely; together they fail every {between}."
    about = f"Lanes of {gpus} GPUs in step. One GPU fails every {case.alone.text}, any of them every {between}: {case.daily.text} within a day."
    figure = SceneFigure("failures", number, caption, about)
    draw.lane_names(figure, case.gpus)
    draw.heartbeats(figure, 5)
    draw.facts(
        figure,
        (
            (between, f"any of {gpus} GPUs"),
            (hours_text(case.alone.value), "one GPU by itself"),
            (_nearly(case.daily.value), "something within a day"),
        ),
        ink="bad",
    )
    figure.text(draw.LEFT - 8, 366, f"{FEW_DAYS} days", "read", anchor="end")
    draw.ticks_over_days(figure, case.run, FEW_DAYS, 366, draw.LEFT, WIDTH - 8)
    figure.text(WIDTH - 8, 338, "each mark is a failure, drawn by lot", "remark", anchor="end", ink="soft")
    return Frame("heartbeats", caption, about, figure)


def slow_gpu(case: Case, number: int) -> Frame:
    caption = f"One GPU is {share_text(SLOW)} slower. Every step ends with it, so every lane stretches."
    loss, lost = share_text(case.slow.value), digits_text(case.slow_gpus.value)
    about = f"All lanes wait at the end of each step for one. The run loses {loss} of its speed, the work of {lost} of {count_text(case.gpus)} GPUs."
    figure = SceneFigure("failures", number, caption, about)
    draw.lane_names(figure, case.gpus)
    draw.steps(figure, 3, SLOW)
    draw.facts(
        figure,
        (
            (f"−{loss}", "speed of the whole run"),
            (f"{lost} GPUs", "might as well be off"),
            (f"+{share_text(SLOW)}", "time of one GPU"),
        ),
        ink="bad",
    )
    figure.text(draw.LEFT, 362, "hatched: waiting for the slow one", "remark", ink="soft")
    return Frame("one is slow", caption, about, figure)


def hang(case: Case, number: int) -> Frame:
    others, watchdog = count_text(case.gpus - 1), seconds_text(WATCHDOG_S)
    caption = f"One rank hangs inside a sum: {others} wait until the watchdog. The flight recorder names the absentee."
    about = f"One lane stands still, alive; the others wait {watchdog}, {case.hang.text} in all. The table shows who never came. (A rank that dies is seen at once: its connections close.)"
    figure = SceneFigure("failures", number, caption, about)
    draw.lane_names(figure, case.gpus)
    draw.hang(figure, watchdog)
    draw.recorder(figure)
    figure.text(draw.LEFT, 366, f"{digits_text(case.hang.value)} GPU-hours of waiting for one hang", "title")
    return Frame("a hang", caption, about, figure)


def restart(case: Case, number: int) -> Frame:
    i, down, worked = case.interval_s, case.down_s, case.interval_s / 2
    caption = "After a hang back to the last checkpoint: wait, restart, load, then do the lost steps again."
    about = (
        f"Progress falls to the last checkpoint: {seconds_text(worked)} of work are repeated after {seconds_text(down)} of standing still. "
        f"Reading {case.state.text} takes {case.reading.text}. A hang costs {case.each.text}; a crash, seen at once, less by the wait."
    )
    figure = SceneFigure("failures", number, caption, about)
    total = worked + down + worked + i / 4
    chart = draw.Chart(92, 22, 424, 232)
    chart.draw(figure, "progress")
    up = 0.98 / total
    _progress(figure, chart, case, total, up)
    x, y = chart.at(worked / total, worked * up)
    figure.cross(x, y, 18, key="failure")
    noticed = worked + WATCHDOG_S
    bars = (
        Bar(0, worked, "f", "work"),
        Bar(worked, noticed, "waiting", "hang", "until the watchdog notices"),
        Bar(noticed, worked + down, "buffers", "restart", "a new node, reloading, warming up"),
        Bar(worked + down, 2 * worked + down, "b", "again", "steps that were done before"),
        Bar(2 * worked + down, total, "f", "work"),
    )
    marks = ((worked + down / 2, "hang, restart"),) if total * NARROW > WATCHDOG_S else ()
    lanes(figure, 284, (Lane("time", bars),), total, right=516, marks=marks)
    level = worked + i / 8
    x1, y = chart.at(level / total, level * up)
    x2, _ = chart.at((level + case.each.value) / total, level * up)
    figure.arrow(x1 + 4, y, x2 - 4, y, ink="bad", key="later")
    figure.text(x2 - 2, y - 10, f"{seconds_text(case.each.value)} later", "caption", anchor="end", ink="bad")
    draw.facts(
        figure,
        (
            (seconds_text(case.each.value), "a hang costs"),
            (bytes_text(case.state.value), "a whole checkpoint"),
            (seconds_text(case.reading.value), "to read it back"),
        ),
        ink="bad",
    )
    figure.text(92, 372, "dashed: the same run without the failure", "remark", ink="soft")
    return Frame("the way back", caption, about, figure)


def _progress(figure: SceneFigure, chart: draw.Chart, case: Case, total: float, up: float) -> None:
    """Work done over time: up to the failure, standing still, down to the checkpoint, and up again.

    total   time drawn                       [s]
    up      of the drawing, for a second of work
    """
    i, down, worked = case.interval_s, case.down_s, case.interval_s / 2
    chart.curve(figure, ((0, 0), (1, 0.98)), "ghost", "dashed")
    noticed = worked + WATCHDOG_S
    chart.curve(figure, ((0, 0), (worked / total, worked * up), (noticed / total, worked * up)), "ink", "thick")
    chart.curve(figure, ((noticed / total, worked * up), (noticed / total, 0)), "bad", "dashed")
    chart.curve(
        figure,
        ((noticed / total, 0), ((worked + down) / total, 0), ((2 * worked + down) / total, worked * up)),
        "bad",
        "thick",
    )
    chart.curve(figure, (((2 * worked + down) / total, worked * up), (1, (worked + i / 4) * up)), "ink", "thick")


def interval(case: Case, number: int) -> Frame:
    best, share = case.best.text, share_text(case.best_overhead.value)
    caption = f"Saving often costs stalls, saving seldom costs work. Best here: every {best}, {share} lost."
    about = f"Cost over the time between checkpoints: least at {best}, {share}. At {seconds_text(case.interval_s)} it is {case.overhead.text}."
    figure = SceneFigure("failures", number, caption, about)
    chart, top = draw.Chart(64, 30, 452, 296), 5 * case.best_overhead.value
    chart.draw(figure)
    figure.text(64, 20, "share of the time lost", "read", ink="soft")
    figure.text(290, 376, "time between checkpoints", "read", anchor="middle", ink="soft")

    def cost(place: float, stall: bool = True, work: bool = True) -> float:
        i = case.best.value * 2 ** (8 * place - 4)
        whole, stalls = (checkpoint_overhead(C=c, i=i, M=case.between.value) for c in (case.stall_s, 0))
        return (whole if work else whole - stalls) / top if stall else stalls / top

    places = [step / 80 for step in range(81)]
    chart.curve(figure, [(p, cost(p, work=False)) for p in places if cost(p, work=False) < 1], "soft", "dashed")
    chart.curve(figure, [(p, cost(p, stall=False)) for p in places if cost(p, stall=False) < 1], "soft", "dashed")
    chart.curve(figure, [(p, cost(p)) for p in places if cost(p) < 1], "remark", "marker")
    figure.text(*chart.at(0.03, 0.2), "stalls", "caption", ink="soft")
    figure.text(*chart.at(0.98, 0.2), "lost work", "caption", anchor="end", ink="soft")
    _point(figure, chart, 0.5, cost(0.5), "best", "good")
    yours = min(1.0, max(0.0, (log2(case.interval_s / case.best.value) + 4) / 8))
    if abs(yours - 0.5) > 0.02:
        _point(figure, chart, yours, cost(yours), "yours", "bad")
    for place in (0.125, 0.5, 0.875):
        x, y = chart.at(place, 0)
        figure.text(
            x, y + 22, seconds_text(case.best.value * 2 ** (8 * place - 4)), "number", anchor="middle", ink="soft"
        )
    draw.facts(
        figure,
        (
            (best, "best between saves"),
            (share, "of the time, at best"),
            (share_text(case.overhead.value), f"yours: {seconds_text(case.interval_s)}"),
        ),
        ink="good",
    )
    return Frame("how often", caption, about, figure)


def calendar(case: Case, number: int) -> Frame:
    run, useful = case.run, share_text(case.run.useful_share)
    failed = counted(len(run.failures), "failure")
    caption = f"{DAYS} days, drawn by lot: {failed}, and {useful} of the time was useful."
    about = (
        f"{failed}, {case.expected.text} expected. Each, reckoned as a hang, costs {case.each.text} on average, {case.lost.text} in all. "
        f"Useful share {useful}, by the formula {case.goodput.text}."
    )
    figure = SceneFigure("failures", number, caption, about)
    draw.calendar(figure, run, 6, 76, 18, WIDTH - 84, 42)
    figure.text(4, 302, f"{failed}", "title", ink="bad")
    expected = f"{digits_text(case.expected.value)} expected, {seconds_text(case.each.value)} each"
    overlap = (
        case.lost.value > DAYS * DAY_S / 2
    )  # then failures fall into the way back from others: the sum says too much
    figure.text(186, 302, expected if overlap else f"{expected}: {seconds_text(case.lost.value)}", "read", ink="soft")
    figure.text(WIDTH - 6, 302, f"useful {useful}", "title", anchor="end", ink="good")
    saving = run.useful_share * case.stall_s / case.interval_s
    draw.meter(
        figure,
        4,
        326,
        WIDTH - 10,
        (
            ("useful", run.useful_share, "w"),
            ("saving", saving, "buffers"),
            ("lost", max(0.0, 1 - run.useful_share - saving), "b"),
        ),
    )
    legend(
        figure,
        (
            Entry("buffers", f"saving {share_text(saving)}"),
            Entry("b", f"failures {share_text(max(0.0, 1 - run.useful_share - saving))}"),
        ),
        4,
        368,
        WIDTH - 8,
    )
    return Frame("half a year", caption, about, figure)


def _point(figure: SceneFigure, chart: draw.Chart, across: float, up: float, name: str, ink: str) -> None:
    """A point of the curve with its name where the curve leaves room: above its lowest, outside its arms, below near the edges."""
    x, y = chart.at(across, up)
    edge = not 0.1 < across < 0.9
    side = 0 if edge or across == 0.5 else -1 if across < 0.5 else 1
    with figure.at(f"point-{name}", x, y):
        figure.circle(0, 0, 9, fill="board", ink=ink, stroke="thick", key=name)
        figure.text(
            16 * side,
            6 if side else 30 if edge else -18,
            name,
            "caption",
            anchor=("middle", "start", "end")[side],
            ink=ink,
        )


FAILURES = Scene(
    name="failures",
    title="When one of them fails",
    sentence="At this size failures are a rate: what buys goodput is noticing soon and saving cheaply.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="kill-rank",
)
