"""What stays on the board of the tensor parallel film: GPUs with room for their matrices, and the wires between them."""

from app.board.film.composition import Composition, running
from app.board.film.pieces import LETTERS, badge, faded
from app.board.film.track import Way
from app.board.scenes.tp.case import CLUSTER
from app.board.scenes.tp.places import places
from app.board.scenes.tp.story import CHANGE, Story
from app.board.scenes.tp.timeline import Act
from engine.language.units import bytes_text


class Board:
    """GPUs, the ring, and what went over it."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story = picture, story
        self.at, self.lens = places(picture, story.n), story.lens

    def draw(self) -> None:
        for gpu in self.at.drawn:
            self._gpu(gpu)
        if self.at.n > 1:
            self._wires()
            self._size()
            self._sent()

    def _gpu(self, gpu: int) -> None:
        picture, at = self.picture, self.at
        x, y = at.boxes[gpu]
        picture.rectangle(x, y, at.width, at.tall, fill="board", key=f"gpu-{gpu}")
        own = at.matrix(gpu, "X")
        with picture.actor(f"badge-{gpu}", "badge", Way(own.middle, y + at.pad + 18), why=f"GPU {LETTERS[gpu]}"):
            badge(picture, 0, 0, gpu)
        for name in "XYZ":
            box = at.matrix(gpu, name)
            picture.rectangle(*box, ink="ghost", stroke="dashed", radius=6, key=f"room-{name}")

    def _wires(self) -> None:
        """The ring, thick inside a node and thin between nodes; its stems at every GPU."""
        picture, far = self.picture, self.story.far.since
        node, nic = CLUSTER.gpu.nvlink_bytes_per_s, CLUSTER.nic_bytes_per_s
        near = sorted({gesture.of for passage in self.story.passages for gesture in passage.act.gestures})
        for key, words, names, stroke, ink, since, until in (
            ("near", f"NVLink {bytes_text(node)}/s", near, "thick", "tp", 0.0, far - CHANGE),
            ("far", f"adapter {bytes_text(nic)}/s", ["Z"], "thin", "bad", far, self.lens.length),
        ):
            way = faded(Way(0, 0, here=since <= 0), self.lens, since, until)
            with picture.actor(f"wires-{key}", "wire", way, why=f"{words}: every GPU sends to the next one"):
                for gpu in self.at.drawn:
                    for name in names:
                        picture.polyline(self.at.hop(gpu, name), ink=ink, stroke=stroke, key=f"wire-{name}-{gpu}")
            with picture.actor(
                f"speed-{key}", "words", faded(Way(*self.at.speed, here=since <= 0), self.lens, since, until)
            ):
                picture.text(0, 0, words, "read", ink=ink)
        self._nodes(far)

    def _nodes(self, since: float) -> None:
        """Frames that part the GPUs: each in a node of its own."""
        at = self.at
        for gpu, (x, y) in enumerate(at.boxes):
            way = Way(x + at.width / 2, y + at.tall / 2, here=False, wide=1.15, tall=1.15)
            way.show(since, CHANGE).grow(((since, 0.0), (since + CHANGE, 1.0)), wide=1.0, tall=1.0, eased=True)
            with self.picture.actor(f"node-{gpu}", "node", way, why="a node of its own: NVLink ends here"):
                self.picture.rectangle(
                    -at.width / 2 - 5,
                    -at.tall / 2 - 5,
                    at.width + 10,
                    at.tall + 10,
                    ink="bad",
                    stroke="dashed",
                    key="node",
                )

    def _size(self) -> None:
        case, drawn = self.story.case, self.at.n
        words = f"{drawn} of {case.tp} GPUs drawn" if case.tp > drawn else "all GPUs drawn"
        if self.picture.is_wide and case.tp > drawn:
            words = f"{words}, {2 * (case.tp - 1)} hops as {2 * (drawn - 1)}"
        self.picture.text(*self.at.size, words, "remark" if self.picture.is_wide else "read", ink="remark")

    def _sent(self) -> None:
        """What a GPU has sent in the act so far."""
        stops = [stop.t for stop in self.story.script.stops]
        self.picture.runs("sent", *self.at.sent, running(self.lens.length, self.sent_words, stops))

    def sent_words(self, t: float) -> str:
        """As words, from an act's first collective to its end."""
        who = "each " if self.picture.is_wide else ""
        for passage in self.story.passages:
            first = next((g.turn.start for g in passage.act.gestures), 0.0)
            if passage.since <= t <= passage.until and self.lens(t) > first:
                return f"{who}sent {bytes_text(sent_until(passage.act, self.lens(t)))}"
        return ""


def sent_until(act: Act, e: float) -> float:
    """By each GPU, since the act began.   [bytes]"""
    return sum(
        gesture.sent * min(max((e - gesture.turn.start) / (gesture.turn.end - gesture.turn.start), 0.0), 1.0)
        for gesture in act.gestures
        if gesture.turn.end > gesture.turn.start
    )
