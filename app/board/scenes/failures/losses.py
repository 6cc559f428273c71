"""What a loss curve shows, and what it does not: a jump, and a bit that flips."""

from math import exp, sin
from zlib import crc32

from app.board.film.composition import Composition
from app.board.film.lens import plain
from app.board.film.pieces import faded
from app.board.film.track import Way
from app.board.pen import Point
from app.board.scenes.failures.places import Chart, places
from app.board.scenes.failures.story import Story

REPLICAS, ODD_REPLICA = 8, 5
BATCHES, SKIPPED = 18, (9, 10)
SPIKE, ROLLED_BACK = 0.56, 0.34  # places along the loss curve: the jump lies in what is skipped
JUMP = (0, 0.32, 0.5, 0.44, 0.48)


def loss(at: float) -> float:
    """A loss as it falls: made up, only its shape matters.   [0 to 1 over 0 to 1]"""
    return 0.2 + 0.62 * exp(-3.2 * at) + 0.012 * sin(61 * at) + 0.01 * sin(137 * at + 1)


def checksums(replicas: int, odd: int) -> list[str]:
    """A checksum of each replica's weights; one bit is flipped in the odd one.

    >>> checksums(3, 1)[0] == checksums(3, 1)[2] != checksums(3, 1)[1]
    True
    """
    weights = bytes(range(64))
    flipped = bytes([weights[0] ^ 1, *weights[1:]])
    return [f"{crc32(flipped if replica == odd else weights) & 0xFFFF:04x}" for replica in range(replicas)]


def falling(start: float, end: float, count: int = 30) -> list[Point]:
    return [(p, loss(p)) for p in (start + (end - start) * at / count for at in range(count + 1))]


class Spike:
    """A jump, the way back to a checkpoint before it, and the data that is never read again."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.act = picture, story, story.act("spike")
        x, y, _width, height = places(picture).chart
        right = 708.0 if picture.is_wide else 352.0
        self.chart = Chart(x, y, right - x, height if picture.is_wide else height + 60)

    def draw(self) -> None:
        picture, (since, until) = self.picture, self.act
        first, last = SKIPPED[0] / BATCHES, (SKIPPED[-1] + 1) / BATCHES
        jump = [(SPIKE + at / 90, loss(SPIKE) + up) for at, up in enumerate(JUMP)]
        back = [jump[-1], (ROLLED_BACK, loss(ROLLED_BACK))]
        legs = (
            (1.0, [*falling(0, SPIKE), *jump]),
            (0.7, back),
            (0.9, [*falling(ROLLED_BACK, first, 12), *falling(last, 1, 20)]),
        )
        whole = sum(seconds for seconds, _ in legs)
        pace, t, points = (until - since - 0.2) / whole, since + 0.1, []
        for seconds, leg in legs:
            for at, place in enumerate(leg):
                points.append((t + seconds * pace * at / max(1, len(leg) - 1), place))
            t += seconds * pace
        with picture.actor("loss-axes", "words", faded(Way(0, 0, here=False), self.story.lens, *self.act)):
            self.chart.draw(picture, "loss")
        turned, again = since + 0.1 + legs[0][0] * pace, since + 0.1 + (legs[0][0] + legs[1][0]) * pace
        self._trace("loss-run", [*falling(0, SPIKE), *jump], "ink", (since + 0.1, turned), (0, SPIKE + len(JUMP) / 90))
        self._trace(
            "loss-again",
            [*falling(ROLLED_BACK, first, 12)],
            "good",
            (again, again + 0.45 * legs[2][0] * pace),
            (ROLLED_BACK, first),
        )
        self._trace(
            "loss-on", [*falling(last, 1, 20)], "good", (again + 0.45 * legs[2][0] * pace, until - 0.1), (last, 1)
        )
        way = self.chart.walk(Way(*self.chart.at(0, loss(0)), here=False).show(since + 0.1, 0.0), points)
        with picture.actor("training", "point", way.hide(until, 0.2), why="where training is"):
            picture.circle(0, 0, 8, fill="board", ink="ink", stroke="thick", key="training")
        self._saved(since)
        self._batches(turned)

    def _trace(
        self, name: str, points: list[Point], ink: str, when: tuple[float, float], across: tuple[float, float]
    ) -> None:
        chart, until = self.chart, self.act[1]
        left, right = chart.at(across[0], 0)[0], chart.at(across[1], 0)[0]
        way = Way(left, 0, here=False, shown=0).show(when[0], 0.0).uncover(plain(*when)).hide(until, 0.2)
        with (
            self.picture.actor(
                name, "trace", way, window=(right - left + 4, chart.y + chart.height), why="the loss so far"
            ),
            self.picture.moved(-left, 0),
        ):
            chart.curve(self.picture, points, ink, "thick")

    def _saved(self, since: float) -> None:
        x, y = self.chart.at(ROLLED_BACK, loss(ROLLED_BACK))
        way = (
            Way(x, y, here=False, wide=2, tall=2)
            .show(since + 0.6, 0.1)
            .grow(plain(since + 0.5, since + 0.9), wide=1, tall=1)
        )
        with self.picture.actor(
            "saved", "checkpoint", way.hide(self.act[1], 0.2), why="the last checkpoint before the jump"
        ):
            self.picture.rectangle(-8, -8, 16, 16, fill="buffers", key="saved")
            self.picture.text(0, 32, "checkpoint", "caption", anchor="middle")

    def _batches(self, turned: float) -> None:
        """The data in a row; what lay at the jump is crossed out and falls."""
        chart, lens = self.chart, self.story.lens
        y = chart.y + chart.height + (26 if self.picture.is_wide else 34)
        width = chart.width / BATCHES
        for at in range(BATCHES):
            x = chart.x + at * width + 2
            way = faded(Way(x, y, here=False), lens, *self.act)
            if at in SKIPPED:
                way = (
                    Way(x, y, here=False)
                    .show(self.act[0], 0.3)
                    .go(plain(turned, turned + 0.6), x, y + 34)
                    .hide(self.act[1], 0.2)
                )
            with self.picture.actor(
                f"batch-{at}",
                "batch" if at in SKIPPED else "words",
                way,
                why="never read again" if at in SKIPPED else "",
            ):
                self.picture.rectangle(0, 0, width - 4, 26, fill="activations", stroke="thin", key="batch")
                if at in SKIPPED:
                    self.picture.cross(width / 2 - 2, 13, 12, key="skipped")


class Silent:
    """A bit flips in one copy: the curve shows nothing, the checksums do."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.act = picture, story, story.act("silent")
        x, y, _, _ = places(picture).chart
        self.chart = Chart(x, y, (708.0 if picture.is_wide else 352.0) - x, 170)

    def draw(self) -> None:
        picture, (since, until), chart = self.picture, self.act, self.chart
        with picture.actor("silent-axes", "words", faded(Way(0, 0, here=False), self.story.lens, since, until)):
            chart.draw(picture, "loss")
        when = since + 0.1, since + 1.3
        way = Way(chart.x, 0, here=False, shown=0).show(when[0], 0.0).uncover(plain(*when))
        with (
            picture.actor(
                "silent-trace", "trace", way, window=(chart.width, chart.y + chart.height), why="the loss falls as ever"
            ),
            picture.moved(-chart.x, 0),
        ):
            chart.curve(picture, falling(0, 1, 120), "ink", "thick")
        points = [(when[0] + (when[1] - when[0]) * at / 40, place) for at, place in enumerate(falling(0, 1, 40))]
        with picture.actor(
            "silent-point", "point", chart.walk(Way(*chart.at(0, loss(0)), here=False).show(when[0], 0.0), points)
        ):
            picture.circle(0, 0, 8, fill="board", ink="ink", stroke="thick", key="training")
        self._copies(when[1])

    def _copies(self, since: float) -> None:
        """Copies that should be equal rise one after another; the odd one stands out."""
        picture, columns = self.picture, REPLICAS if self.picture.is_wide else REPLICAS // 2
        left, right = (4.0, 716.0) if picture.is_wide else (4.0, 356.0)
        width = (right - left) / columns
        for at, text in enumerate(checksums(REPLICAS, ODD_REPLICA)):
            row, column = divmod(at, columns)
            x, y, odd = left + column * width, self.chart.y + self.chart.height + 40 + row * 96, at == ODD_REPLICA
            begin = since - 0.9 + 0.14 * at
            way = Way(x, y + 24, here=False).show(begin + 0.2, 0.2).go(plain(begin, begin + 0.4), x, y)
            with picture.actor(
                f"copy-{at}", "copy", way, why="another checksum: its weights differ" if odd else "equal to the others"
            ):
                picture.rectangle(
                    3, 0, width - 6, 78, fill="b" if odd else "board", ink="bad" if odd else "ink", key=f"copy-{at}"
                )
                picture.text(width / 2, 26, f"copy {at}", "read", anchor="middle")
                picture.text(width / 2, 56, text, "number", anchor="middle", ink="bad" if odd else "ink")
