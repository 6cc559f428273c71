"""The floor of the expert parallel film: tokens at home, experts at home, the router's bars, and ribbons between."""

from app.board.film.composition import Composition
from app.board.film.lens import plain
from app.board.film.pieces import LETTERS, faded, sweep, tile
from app.board.film.track import BLINK, Way
from app.board.legend import words_width
from app.board.scenes.ep.case import DRAWN, GPUS
from app.board.scenes.ep.places import places
from app.board.scenes.ep.story import Story, staggered
from app.board.svg import OWNERS

AWAY = 0.3  # opacity of a token whose copies are under way
WIDEST = 15.0  # of a ribbon


class Floor:
    """What stays where it is while copies travel."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens, self.until = places(picture), story.lens, story.leave[0][0]

    def draw(self) -> None:
        with self.picture.actor(
            "ribbons", "wire", self._act(Way(0, 0, here=False).show(self.story.ticketed[0][0] + 0.3))
        ):
            self._ribbons()
        with self.picture.actor("homes", "words", self._act(Way(0, 0))):
            for gpu in range(GPUS):
                self._home(gpu)
        for gpu in range(GPUS):
            self._scores(gpu)
            self._idle(gpu)
        for token in range(GPUS * DRAWN):
            self._token(token)
        self._heads()

    def sweeps(self) -> None:
        """Work on the queues. Drawn above them."""
        story, most = self.story, self.case.values["capacity"]
        spans: dict[int, list[tuple[float, float]]] = {}
        for gpu in range(GPUS):
            for expert, start, end in (*story.works(gpu, story.sent), *story.works(gpu, story.again, most)):
                spans.setdefault(expert, []).append((start, end))
        for expert, times in spans.items():
            x, y, wide, tall = self.at.expert(self.case, expert)
            top = y + self.at.name
            sweep(self.picture, f"work-{expert}", x, top, wide, tall - self.at.name, times, self.lens)

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, 0.0, self.until)

    def _home(self, gpu: int) -> None:
        picture, at = self.picture, self.at
        y = at.row(gpu)
        if picture.is_wide:
            for x in (12.0, at.experts[0] - 16):
                picture.circle(x, y + at.tall / 2, 11, fill=OWNERS[gpu], key=f"badge-{gpu}-{x:.0f}")
                picture.text(x, y + at.tall / 2 + 6, LETTERS[gpu], "read", anchor="middle", ink="letter")
        picture.rectangle(at.tokens[0] - 4, y, at.tokens[1] - at.tokens[0] + 6, at.tall, key=f"home-{gpu}")
        picture.line(at.tokens[0], at.rail(gpu), at.wires[0], at.rail(gpu), ink="rule", key=f"out-{gpu}")
        picture.line(at.wires[1], at.rail(gpu), at.experts[1] - 4, at.rail(gpu), ink="rule", key=f"in-{gpu}")
        for expert in range(gpu * self.case.a_gpu, (gpu + 1) * self.case.a_gpu):
            x, y, wide, tall = at.expert(self.case, expert)
            with picture.why(f"expert {expert} lives on GPU {LETTERS[gpu]}, whole; only tokens travel"):
                picture.rectangle(x, y, wide, tall, fill="board", key=f"expert-{expert}")
            style = "read" if words_width(f"E{expert}") < wide - 2 else "small"
            picture.text(x + wide / 2, y + 15, f"E{expert}", style, anchor="middle")

    def _ribbons(self) -> None:
        """As wide as what flows between two GPUs."""
        at, flows = self.at, [[self.case.flow(i, j) for j in range(GPUS)] for i in range(GPUS)]
        most = max(flows[i][j] for i in range(GPUS) for j in range(GPUS))
        left, right = at.wires
        for i in range(GPUS):
            for j in range(GPUS):
                if not flows[i][j]:
                    continue
                half, y, z = WIDEST * flows[i][j] / most / 2, at.rail(i), at.rail(j)
                corners = f"{left:.1f} {y - half:.1f}L{right:.1f} {z - half:.1f}L{right:.1f} {z + half:.1f}L{left:.1f} {y + half:.1f}Z"
                words = f"{LETTERS[i]} sends {flows[i][j]} of the copies drawn to {LETTERS[j]}"
                with self.picture.why("these stay at home: no wire" if i == j else words):
                    self.picture.path(f"M{corners}", fill="plain" if i == j else "ep-pale", ink="")
                    self.picture.line(
                        left, y, right, z, ink="rule" if i == j else "ep", stroke="thin", key=f"way-{i}-{j}"
                    )

    def _scores(self, gpu: int) -> None:
        """What the router says of the first token of a GPU."""
        at, token = self.at, gpu * DRAWN
        shares, (left, right) = self.case.routing.scores(token), self.at.wires
        pitch, since = (right - left - 12) / self.case.experts, self.story.scored
        base, high = at.row(gpu) + at.tall, at.tall - 10
        for expert, share in enumerate(shares):
            span = staggered(since, expert, self.case.experts, 0.6)
            way = Way(left + 6 + expert * pitch, base, here=False, tall=0.05).show(span[0][0], 0.0)
            way.grow(span, tall=1, eased=True).hide(self.story.ticketed[0][0], 3 * BLINK)
            chosen = expert in self.case.routing.choices[token]
            with self.picture.actor(
                f"score-{gpu}-{expert}", "score", way, why=f"how well expert {expert} suits the token"
            ):
                tall = high * share / max(shares)
                fill = OWNERS[gpu] if chosen else "plain"
                self.picture.cells([(1, -tall, max(pitch - 2, 2), tall)], fill=fill, ink="ink" if chosen else "ghost")

    @property
    def _tile(self) -> tuple[float, float]:
        """Width and height of a token."""
        return min(24.0, self.at.step - 4), 20.0

    def _token(self, token: int) -> None:
        """A token; it is faded while its copies are away, and made whole again by their weighted results."""
        gpu, (x, y) = token // DRAWN, self.at.token(token)
        wide, tall = self._tile
        mine = [trip for trip in self.story.trips if trip.copy.token == token]
        home = {
            trip.copy.expert: self.lens.ends(trip.back[1]) if trip.back else self.story.settle[-1][0] for trip in mine
        }
        whole, again = max(home.values()), self.story.return_
        self._sum(token, home)
        way = Way(x, y).hide(self.story.stay[0][0], 0.3, AWAY)
        way.show(whole).hide(max(again[0][0], whole), 0.3, AWAY)
        why = "the token itself: what its experts say is added to it"
        with self.picture.actor(f"token-{token}", "token", self._act(way), why=why):
            tile(self.picture, wide, tall, gpu, f"token-{token % DRAWN}")

    def _sum(self, token: int, home: dict[int, float]) -> None:
        """Its results so far, each with its weight.

        home   when the result of each expert is there   [film seconds]
        """
        gpu, (x, y) = token // DRAWN, self.at.token(token)
        wide, tall = self._tile
        gates = dict(zip(self.case.routing.choices[token], self.case.routing.gates(token), strict=True))
        total, sums = 0.0, Way(x, y, here=False, shown=0)
        for expert, t in sorted(home.items(), key=lambda pair: pair[1]):
            start = max(t, self._latest(sums))
            total += gates[expert]
            sums.show(start, 0.0).uncover(plain(start, start), min(total, 1.0))
        sums.hide(max(self.story.return_[0][0], max(home.values())), 0.3)
        with self.picture.actor(
            f"sum-{token}", "sum", sums, window=(wide, tall), why="results so far, by their weights"
        ):
            self.picture.cells([(0, 0, wide, tall)], fill=OWNERS[gpu], ink="")

    def _latest(self, way: Way) -> float:
        return way.track().shown[-1].t

    def _idle(self, gpu: int) -> None:
        """Hatched from the moment its experts are done."""
        story, most = self.story, self.case.values["capacity"]
        turns = ((story.done(gpu, story.sent), story.computed), (story.done(gpu, story.again, most), story.capped))
        for at, (start, end) in enumerate(turns):
            if end - start < 1e-9 * end:
                continue
            begins, ends = self.lens.begins(start), self.lens.ends(end) if at == 0 else self.until
            way = Way(0, 0, here=False).show(begins + BLINK).hide(max(ends, begins + BLINK))
            with self.picture.actor(
                f"idle-{gpu}-{at}", "idle", way, why="its experts are done: it waits for the busiest"
            ):
                for expert in range(gpu * self.case.a_gpu, (gpu + 1) * self.case.a_gpu):
                    x, y, wide, tall = self.at.expert(self.case, expert)
                    self.picture.cells(
                        [(x + 2, y + self.at.name, wide - 4, tall - self.at.name - 2)], fill="waiting", ink=""
                    )

    def _heads(self) -> None:
        picture, at = self.picture, self.at
        with picture.actor("heads", "words", self._act(Way(0, 0))):
            picture.text(at.tokens[0], 17, "tokens", "read", ink="soft")
            picture.text(at.experts[1], 17, "experts", "read", anchor="end", ink="soft")
        story = self.story
        steps = (
            (0.0, ""),
            (story.scored[0][0], "router"),
            (story.ticketed[0][0], ""),
            (story.stay[0][0], "dispatch →"),
            (self.lens.ends(story.sent), ""),
            (self.lens.begins(story.computed), "← combine"),
            (story.return_[0][0], ""),
        )
        picture.runs("exchange", sum(at.wires) / 2, 17, steps, "read", anchor="middle", ink="ep")
