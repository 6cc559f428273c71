"""Forward and backward: four exchanges of a layer, of the tokens and of their gradients."""

from app.board.film.composition import Composition
from app.board.film.pieces import LETTERS, Axis, Cell, badge, coin, faded, lane, named, playhead, sweep, waited, written
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.ep.case import EXCHANGES, GPUS
from app.board.scenes.ep.story import Story
from engine.language.units import seconds_text

PITCH = 52.0  # from one GPU's wire to the next


class BothWays:
    """Tokens left, experts right, a wire for each GPU."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.lens = picture, story, story.case, story.lens
        self.since = story.turn[-1][0]
        self.left, self.right = (96.0, 620.0) if picture.is_wide else (66.0, 290.0)
        self.top = 54.0

    def draw(self) -> None:
        with self.picture.actor("both-ways", "words", self._act(Way(0, 0, here=False))):
            self._still()
        spans = [self._span(1), self._span(4)]
        for gpu in range(GPUS):
            sweep(self.picture, f"both-{gpu}", self.right, self._y(gpu) - 17, 64, 34, spans, self.lens)
        self._lanes()

    def coins(self) -> None:
        """Each GPU's copies there and back; gradients are hatched. Drawn above all else."""
        sent = self.case.dispatch.value
        for gpu in range(GPUS):
            there = Wire(f"there-{gpu}", ((self.left, self._y(gpu)), (self.right, self._y(gpu))))
            back = Wire(f"back-{gpu}", there.points[::-1])
            for key, over, turns in (("copies", "", (0, 2)), ("gradients", "hatched", (3, 5))):
                rides = [(*self._span(turn), wire, sent) for turn, wire in zip(turns, (there, back), strict=True)]
                coin(self.picture, f"both-{key}-{gpu}", gpu, rides, self.lens, over)

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.since, self.lens.length)

    def _span(self, turn: int) -> tuple[float, float]:
        start, end = self.story.whole[turn]
        return self.story.backward + start, self.story.backward + end

    def _y(self, gpu: int) -> float:
        return self.top + gpu * PITCH

    def _still(self) -> None:
        picture = self.picture
        picture.text(self.left, 24, "tokens", "caption", anchor="end")
        picture.text(self.right, 24, "experts", "caption")
        for gpu in range(GPUS):
            y = self._y(gpu)
            badge(picture, self.left - 18, y, gpu)
            picture.line(self.left, y, self.right, y, ink="ep", key=f"both-{LETTERS[gpu]}")
            with picture.why("experts stay: their weights never travel in a step"):
                picture.rectangle(self.right, y - 17, 64, 34, fill="board", key=f"both-experts-{gpu}")
        story, start = self.story, self.story.backward
        words = ((0, "forward: out"), (2, "forward: back"), (3, "gradients out"), (5, "gradients back"))
        steps: list[tuple[float, str]] = [(0.0, "")]
        for turn, text in words:
            steps += [(self.lens.begins(start + story.whole[turn][0]), text)]
            steps += [(self.lens.ends(start + story.whole[turn][1]), "")] if turn != 2 else []
        steps = [step for step in steps if step[1] or step[0] < self.lens.length]
        picture.runs("way", (self.left + self.right) / 2, 24, tuple(steps), "caption", anchor="middle", ink="ep")

    def _lanes(self) -> None:
        story, case, wide = self.story, self.case, self.picture.is_wide
        y, start = 262.0 if wide else 272.0, story.backward
        left, right = (92.0, 712.0) if wide else (72.0, 354.0)
        end = start + story.whole[-1][1]
        axis = Axis(left, right, start, end)
        compute = [
            Cell(*self._span(1), "experts", "f", "experts, forward"),
            Cell(*self._span(4), "experts", "b", "experts, backward"),
        ]
        wires = [Cell(*self._span(turn), "", "ep-pale", "an exchange") for turn in (0, 2, 3, 5)]
        idle = [Cell(*self._span(turn), why="waits for the exchange") for turn in (0, 2, 3, 5)]
        with self.picture.actor("both-lanes", "words", self._act(Way(0, 0, here=False))):
            for name, top, cells in (("compute", y, compute), ("wires", y + 30, wires)):
                self.picture.text(0, top + 18, name, "read")
                lane(self.picture, axis, top, cells)
        waited(self.picture, "both-waits", axis, y, idle, self.lens, self.lens.length, 24)
        written(self.picture, "both-compute", axis, y, compute, self.lens, self.lens.length)
        written(self.picture, "both-wires", axis, y + 30, wires, self.lens, self.lens.length)
        with self.picture.actor("both-names", "words", self._act(Way(0, 0, here=False))):
            named(self.picture, axis, y, compute)
        playhead(self.picture, "now-both", axis, y - 6, y + 58, self.lens, self.since, self.lens.length)
        sums = (
            (f"{EXCHANGES} exchanges", seconds_text(case.exchanges_s.value)),
            ("experts compute", seconds_text(case.experts_s.value + case.experts_backward_s.value)),
        )
        for at, (name, text) in enumerate(sums):
            place = (left + at * 240, y + 112) if wide else (4.0, y + 112 + at * 60)
            with self.picture.actor(f"both-sum-{at}", "words", self._act(Way(0, 0, here=False))):
                self.picture.text(place[0], place[1] - 4, text, "answer")
                self.picture.text(place[0], place[1] + 18, name, "read", ink="soft")
