"""Copies of tokens: tickets under their token, coins on the wires, places in a queue; and those that a full expert drops."""

from app.board.film.composition import Composition, Flight
from app.board.film.lens import plain
from app.board.film.pieces import LETTERS
from app.board.film.track import BLINK, Way
from app.board.film.wire import Wire
from app.board.pen import Point
from app.board.scenes.ep.case import DRAWN
from app.board.scenes.ep.places import LETTERED, places
from app.board.scenes.ep.story import HOME, Story, Trip, staggered
from app.board.svg import OWNERS

RIDE = 0.45  # s that a copy takes to an expert at home


class Travel:
    """All copies of the drawn tokens."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = places(picture), story.lens
        self.size = self.at.size(story.case)
        self.local = [trip for trip in story.trips if not trip.out]

    def draw(self) -> None:
        for trip in self.story.trips:
            self._ticket(trip)
        for trip in self.story.trips:
            self._queued(trip)

    def coins(self) -> None:
        """What is on its way. Drawn above all else."""
        for trip in self.story.trips:
            wire = self.at.way(self.case, trip.copy, trip.place)
            if trip.out and trip.back:
                self._coin(trip, wire)
            else:
                self._stay(trip, wire)

    def _shape(self, source: int, x: float, y: float) -> None:
        size = self.size
        with self.picture.moved(x, y):
            self.picture.cells([(0, 0, size, size)], fill=OWNERS[source])
            if size >= LETTERED:
                self.picture.text(size / 2, size / 2 + 6, LETTERS[source], "read", anchor="middle", ink="letter")

    def _name(self, trip: Trip) -> str:
        return f"{trip.copy.token}-{trip.copy.expert}"

    def _stays(self, trip: Trip, back: bool) -> tuple[tuple[float, float], ...]:
        """When a copy whose expert is at home goes there, and returns."""
        span = self.story.settle if back else self.story.stay
        return staggered(span, self.local.index(trip), len(self.local), min(RIDE, HOME))

    def leaves(self, trip: Trip) -> float:
        return self.lens.begins(trip.out[0]) if trip.out else self._stays(trip, False)[0][0]

    def arrives(self, trip: Trip) -> float:
        return self.lens.ends(trip.out[1]) if trip.out else self._stays(trip, False)[-1][0]

    def returns(self, trip: Trip) -> float:
        return self.lens.begins(trip.back[0]) if trip.back else self._stays(trip, True)[0][0]

    def _ticket(self, trip: Trip) -> None:
        """It comes out of its token, and waits there until its turn on the wire."""
        token, seat = self.at.token(trip.copy.token), self.at.ticket(self.case, trip.copy)
        (start, _), (end, _) = self.story.ticketed
        span = staggered(plain(start + BLINK, end), trip.copy.token % DRAWN, DRAWN, 0.7)
        way = Way(token[0] + 2, token[1] + 2, here=False).show(span[0][0], 0.0).go(span, *seat)
        way.hide(max(self.leaves(trip), span[-1][0]), 0.0)
        why = f"a ticket for expert {trip.copy.expert}, on GPU {LETTERS[trip.copy.target]}"
        with self.picture.actor(f"ticket-{self._name(trip)}", "ticket", way, why=why):
            self._shape(trip.copy.source, 0, 0)

    def _queued(self, trip: Trip) -> None:
        """In its expert's queue until its result goes back; then once more, for what a capacity would drop."""
        story, seat = self.story, self.at.queue(self.case, trip.copy, trip.place)
        again = story.return_[-1][0]
        way = Way(*seat, here=False).show(self.arrives(trip), 0.0).hide(self.returns(trip), 0.0).show(again, 4 * BLINK)
        why = f"a token of {LETTERS[trip.copy.source]} at expert {trip.copy.expert}"
        drops = trip.dropped
        if drops:
            start = story.drop[0][0] + 0.3
            over = self.at.expert(self.case, trip.copy.expert)[2] + 30
            way.go(((start, 0.0), (story.drop[-1][0], 1.0)), seat[0] - min(16.0, over), seat[1]).hide(start + 0.3, 0.5)
            self._ghost(trip, seat, start)
        else:
            way.hide(story.leave[0][0], 3 * BLINK)
        with self.picture.actor(f"queued-{self._name(trip)}", "queue", way, why=why):
            self._shape(trip.copy.source, 0, 0)

    def _ghost(self, trip: Trip, seat: Point, start: float) -> None:
        way = Way(*seat, here=False).show(start + 0.3).hide(self.story.leave[0][0], 3 * BLINK)
        with self.picture.actor(
            f"ghost-{self._name(trip)}", "ghost", way, why="dropped: the expert is full, the token passes it by"
        ):
            self.picture.rectangle(1, 1, self.size - 2, self.size - 2, ink="bad", stroke="dashed", key="dropped")

    def _coin(self, trip: Trip, wire: Wire) -> None:
        out, back = trip.out or (0.0, 0.0), trip.back or (0.0, 0.0)
        home = Wire(f"{wire.name}-back", wire.points[::-1])
        n_bytes = self.case.dispatch.value / (DRAWN * self.case.top_k)
        way, flights = Way(*wire.at(0), here=False), []
        for (start, end), line in ((out, wire), (back, home)):
            span = self.lens.span(start, end)
            way.show(span[0][0], 0.0).ride(span, line).hide(span[-1][0], 0.0)
            flights.append(Flight(line, span[0][0], span[-1][0], n_bytes))
        why = f"a copy of a token of {LETTERS[trip.copy.source]}, to expert {trip.copy.expert} and back"
        with self.picture.actor(f"coin-{self._name(trip)}", "coin", way, flights=flights, why=why):
            self._shape(trip.copy.source, -self.size / 2, -self.size / 2)

    def _stay(self, trip: Trip, wire: Wire) -> None:
        """Its expert is at home: it takes no wire and no time of the network."""
        way = Way(*wire.at(0), here=False)
        for back in (False, True):
            span = self._stays(trip, back)
            line = Wire(wire.name, wire.points[::-1]) if back else wire
            way.show(span[0][0], 0.0).ride(span, line).hide(span[-1][0], 0.0)
        with self.picture.actor(f"stay-{self._name(trip)}", "stay", way, why="its expert is on its own GPU: no wire"):
            self._shape(trip.copy.source, -self.size / 2, -self.size / 2)
