"""The DDP film's end: more and more GPUs. What each sends stops growing, the hops do not."""

from app.board.film.composition import Composition, running
from app.board.film.lens import plain
from app.board.film.pieces import faded
from app.board.film.ring import DRAWN
from app.board.film.track import Way
from app.board.scenes.ddp.story import LAPS, Story
from engine.language.units import bytes_text, count_text
from engine.lens.buckets import ring_all_reduce_hops
from engine.network.collectives import ring_all_reduce_sent_bytes

RISE = 0.4  # s in which a column grows


class Growth:
    """Two rows of columns, one for each count of GPUs: bytes above, hops below."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.lens = picture, story, story.lens
        self.left, self.right = (8.0, 712.0) if picture.is_wide else (6.0, 354.0)
        self.tops, self.high = ((78.0, 248.0), 100.0) if picture.is_wide else ((110.0, 330.0), 130.0)
        self.since = story.turn[-1][0] - 0.3
        self.counts = story.counts
        self.pitch = (self.right - self.left) / len(self.counts)
        self.sent = [ring_all_reduce_sent_bytes(story.case.gradients.value, n) for n in self.counts]
        self.hops = [ring_all_reduce_hops(n) for n in self.counts]

    def draw(self) -> None:
        most = LAPS * self.story.case.gradients.value
        self._row(
            "sent", self.tops[0], [size / most for size in self.sent], "each sends its share of twice the gradients"
        )
        self._row("hops", self.tops[1], [hops / self.hops[-1] for hops in self.hops], "hops, one after another")
        self._line(most)
        self._names()
        self._running()

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.since, self.lens.length)

    def begins(self, at: int) -> float:
        """Film seconds at which a column begins to grow."""
        (start, _), (end, _) = self.story.grow
        return start + (end - start - RISE) * at / (len(self.counts) - 1)

    def _row(self, key: str, top: float, shares: list[float], why: str) -> None:
        picture, own = self.picture, self.counts.index(self.story.case.gpus)
        for at, share in enumerate(shares):
            start = self.begins(at)
            way = Way(self.left + (at + 0.16) * self.pitch, top + self.high, here=False, tall=0)
            way.show(start, 0.0).grow(plain(start, start + RISE), tall=1, eased=True)
            with picture.actor(f"{key}-{at}", key, way, why=why):
                tall = max(self.high * share, 1.5)
                fill, ink = ("dp", "ink") if at == own else ("dp-pale", "dp")
                picture.cells([(0, -tall, 0.68 * self.pitch, tall)], fill=fill, ink=ink)

    def _line(self, most: float) -> None:
        """Twice the gradients: nobody ever sends more."""
        picture, top = self.picture, self.tops[0]
        with picture.actor("limit", "words", self._act(Way(0, 0, here=False))):
            picture.line(self.left, top, self.right, top, ink="bad", stroke="dashed", key="limit")
            for y in (top + self.high, self.tops[1] + self.high):
                picture.line(self.left, y, self.right, y, ink="rule", stroke="thin", key="floor")
            words = f"twice the gradients: {bytes_text(most)}"
            picture.text(self.right, top - 8, words, "remark" if picture.is_wide else "read", anchor="end", ink="bad")

    def _names(self) -> None:
        """How many GPUs each column stands for; on a narrow picture every other one is named."""
        picture, last = self.picture, len(self.counts) - 1
        with picture.actor("counts", "words", self._act(Way(0, 0, here=False))):
            for top in self.tops:
                for at, n in enumerate(self.counts):
                    if picture.is_wide or (last - at) % 2 == 0:
                        x = self.left + (at + 0.5) * self.pitch
                        style = "read" if picture.is_wide else "small"
                        picture.text(x, top + self.high + 18, count_text(n), style, anchor="middle")

    def _running(self) -> None:
        """The numbers of the column that has just grown."""
        picture = self.picture

        def now(t: float) -> int:
            return max(sum(self.begins(at) + RISE / 2 <= t for at in range(len(self.counts))) - 1, 0)

        def sends(t: float) -> str:
            return f"each GPU sends {bytes_text(self.sent[now(t)])}" if t >= self.since + 0.3 else ""

        def hops(t: float) -> str:
            if t < self.since + 0.3:
                return ""
            n = self.counts[now(t)]
            return f"{count_text(n)} GPUs: {count_text(self.hops[now(t)])} hops"

        top, below = self.tops
        up = 8 if picture.is_wide else 44
        picture.runs("sends", self.left, top - up, running(self.lens.length, sends), "caption")
        picture.runs("hop-count", self.left, below - 12, running(self.lens.length, hops), "caption")
        if picture.is_wide and self.story.case.gpus > DRAWN:
            with picture.actor("own-count", "words", self._act(Way(self.right, below - 12, here=False))):
                picture.text(0, 0, f"full colour: {count_text(self.story.case.gpus)}", "remark", anchor="end")
