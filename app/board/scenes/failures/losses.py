"""Frames of the failures scene about what a loss curve shows, and what it does not: a jump, and a bit that flips."""

from app.board.scenes.base import WIDTH, Frame, SceneFigure
from app.board.scenes.failures import drawing as draw
from app.board.scenes.failures.case import Case

REPLICAS, ODD_REPLICA = 8, 5
BATCHES, SKIPPED = 18, (9, 10)
SPIKE, ROLLED_BACK = 0.56, 0.34  # places along the loss curve: the jump lies in what is skipped


def loss_spike(case: Case, number: int) -> Frame:
    caption = "The loss jumps: roll back to a checkpoint before it, skip that data, go on."
    about = "A falling loss jumps, training returns to an earlier checkpoint, leaves out the batches at the jump, and falls on as before."
    figure = SceneFigure("failures", number, caption, about)
    chart = draw.Chart(64, 24, WIDTH - 76, 262)
    chart.draw(figure, "loss")
    left, right = SKIPPED[0] / BATCHES, (SKIPPED[-1] + 1) / BATCHES
    for start, end, ink, stroke in (
        (0, ROLLED_BACK, "ink", "thick"),
        (ROLLED_BACK, left, "good", "thick"),
        (left, SPIKE, "ghost", "dashed"),
        (right, 1, "good", "thick"),
    ):
        steps = [start + (end - start) * step / 60 for step in range(61)]
        chart.curve(figure, [(p, draw.loss(p)) for p in steps], ink, stroke)
    chart.curve(figure, [(left, draw.loss(left)), (right, draw.loss(right))], "good", "dashed")
    chart.curve(
        figure,
        [(SPIKE + at / 90, draw.loss(SPIKE) + up) for at, up in enumerate((0, 0.32, 0.5, 0.44, 0.48))],
        "bad",
        "thick",
    )
    start, end = (
        chart.at(SPIKE + 0.016, draw.loss(SPIKE) + 0.46),
        chart.at(ROLLED_BACK + 0.006, draw.loss(ROLLED_BACK) + 0.06),
    )
    figure.arrow(*start, *end, ink="bad", lift=-34, key="back")
    start = chart.at(SPIKE + 0.045, draw.loss(SPIKE) + 0.46)
    figure.text(start[0] + 12, start[1] + 4, "detect, stop", "remark", ink="bad")
    figure.circle(*chart.at(ROLLED_BACK, draw.loss(ROLLED_BACK)), 8, fill="board", ink="ink", key="saved")
    x, y = chart.at(ROLLED_BACK, draw.loss(ROLLED_BACK))
    figure.text(x - 4, y + 34, "checkpoint", "caption", anchor="middle")
    x, y = chart.at(0.84, draw.loss(0.84))
    figure.text(x, y - 18, "rejoined", "remark", anchor="middle", ink="good")
    draw.batches(figure, 316, chart.x, chart.x + chart.width, BATCHES, SKIPPED)
    figure.text(chart.x, 378, "crossed out: never read again", "remark", ink="soft")
    return Frame("loss spike", caption, about, figure)


def silent(case: Case, number: int) -> Frame:
    caption = "A silent error: the loss looks fine, but one copy's checksum differs. Only comparing finds it."
    about = f"A loss that falls as ever. Below, {REPLICAS} copies that should be equal: the checksum of copy {ODD_REPLICA} is another."
    figure = SceneFigure("failures", number, caption, about)
    chart = draw.Chart(64, 24, WIDTH - 76, 176)
    chart.draw(figure, "loss")
    places = [step / 160 for step in range(161)]
    chart.curve(figure, [(p, draw.loss(p)) for p in places], "ink", "thick")
    x, y = chart.at(0.58, draw.loss(0.58))
    figure.circle(x, y, 9, fill="board", ink="bad", key="flip")
    figure.text(x, y - 46, "a bit flips here, and nothing shows", "remark", anchor="middle", ink="bad")
    figure.text(4, 248, "checksums of copies that should be equal", "caption")
    draw.replicas(figure, 266, draw.checksums(REPLICAS, ODD_REPLICA), ODD_REPLICA)
    figure.text(4, 384, "take its node out, go back to a save all agreed on", "remark", ink="soft")
    return Frame("silent error", caption, about, figure)
