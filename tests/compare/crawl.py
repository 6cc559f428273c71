"""Every address of the running program that its own pages lead to, with every choice of their forms, one at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.compare.page_reader import Field, Form, read_page
from tests.compare.site import Route, Site, by_chance, filled

QUERIES_OF_A_PATH = 8  # followed; plans link to other plans without end
QUERIES_OF_A_ROUTE = 220
PATHS_OF_A_ROUTE = 400
COUNTED = 60  # of a place counted from 0, until it is refused


@dataclass(frozen=True)
class Lead:
    """An address that was found.

    choice   made by filling in a form: all of them are asked, and none leads on but to paths not yet seen
    """

    address: str
    htmx: bool = False
    choice: bool = False

    @property
    def path(self) -> str:
        return urlsplit(self.address).path

    @property
    def query(self) -> str:
        return urlsplit(self.address).query


@dataclass
class Crawl:
    """Asks in waves: what one wave leads to is the next."""

    site: Site
    seen: set[Lead] = field(default_factory=set)
    paths: dict[str, set[str]] = field(default_factory=dict)  # of each route
    queries: Counter[str] = field(default_factory=Counter)  # of each path, and of each route
    chosen: dict[tuple[str, str, str], str] = field(default_factory=dict)
    fields: dict[str, dict[str, tuple[str, Field]]] = field(default_factory=dict)  # route: name: (path, field)
    refused: Counter[str] = field(default_factory=Counter)  # routes with more addresses than are asked

    def run(self, starts: Iterable[str] = ()) -> None:
        """Everything that can be reached from the routes without parameters, and from `starts`."""
        roots = [route.path for route in self.site.routes if "GET" in route.methods and not route.parameters]
        self.follow(Lead(address) for address in (*roots, *starts))
        self.follow(self.places())

    def follow(self, leads: Iterable[Lead]) -> None:
        wave = list(leads)
        while wave:
            ordered = by_chance([f"{lead.address} {lead.htmx:d}{lead.choice:d}" for lead in dict.fromkeys(wave)])
            known = {f"{lead.address} {lead.htmx:d}{lead.choice:d}": lead for lead in wave}
            plain_first = sorted((known[text] for text in ordered), key=lambda lead: bool(lead.query))
            wave = [found for lead in plain_first if self.room(lead) for found in self.asked(lead)]

    def room(self, lead: Lead) -> bool:
        """Whether a lead is asked: it is new, answered here, and one of the first few of its kind."""
        route = self.site.route(lead.path)
        again = lead in self.seen or Lead(lead.address, lead.htmx, not lead.choice) in self.seen
        if again or not route:
            return False
        known = self.paths.setdefault(route, set())
        counts = (f"path {lead.path} {lead.htmx:d}", f"route {route} {lead.htmx:d}")
        if lead.path not in known and len(known) >= PATHS_OF_A_ROUTE:
            self.refused[route] += 1
            return False
        if lead.query and not lead.choice:
            most = (QUERIES_OF_A_PATH, QUERIES_OF_A_ROUTE)
            if any(self.queries[name] >= limit for name, limit in zip(counts, most, strict=True)):
                self.refused[route] += 1
                return False
            self.queries.update(counts)
        known.add(lead.path)
        self.seen.add(lead)
        return True

    def asked(self, lead: Lead) -> Iterator[Lead]:
        """What an answer leads to."""
        answer = self.site.get(lead.address, lead.htmx)
        if answer.location:
            yield Lead(answer.location)
        if not answer.type.startswith("text/html") or answer.status >= 400:
            return
        page = read_page(answer.body, lead.address)
        found = [*(Lead(link) for link in page.links), *(Lead(part, htmx=True) for part in page.parts)]
        yield from (each for each in found if not lead.choice or self.unseen(each.path))
        for form in page.forms:
            yield from () if lead.choice else self.choices(form, lead)

    def unseen(self, path: str) -> bool:
        return path not in self.paths.get(self.site.route(path), ())

    def choices(self, form: Form, page: Lead) -> Iterator[Lead]:
        """One address for each value of each field, the others left as the page has them.

        A part of a page that is asked as well, or that only takes the fields along, is asked one value of each.
        """
        hidden = [(field.name, value) for field in form.fields if field.kind == "hidden" for value in field.values]
        for path, htmx in ((form.path, False), (form.part, True)):
            target, whole = urlsplit(path).path, not form.borrowed and not (htmx and form.path)
            given = hidden if target != page.path else [*parse_qsl(page.query), *hidden]
            for each in form.fields if target else ():
                if whole:
                    self.fields.setdefault(self.site.route(target), {}).setdefault(each.name, (target, each))
                values = () if each.kind == "hidden" else each.values if whole else each.values[-1:]
                kept = [pair for pair in given if pair[0] != each.name]
                yield from (Lead(self.chosen_one(target, kept, each.name, value), htmx, True) for value in values)

    def chosen_one(self, path: str, kept: list[tuple[str, str]], name: str, value: str) -> str:
        """The address of a choice: the first that was found with it, whatever page it was found on."""
        return self.chosen.setdefault((path, name, value), f"{path}?{urlencode([*kept, (name, value)])}")

    def places(self) -> Iterator[Lead]:
        """Addresses that pages do not link to: places counted from 0 below every path that is known."""
        for route in self.site.routes:
            if "GET" in route.methods and len(route.parameters) > 1:
                for before in sorted(self.known_before(route)):
                    yield from self.counted(route, before)

    def known_before(self, route: Route) -> set[str]:
        """Values of the first parameter where an address that ends with it has answered."""
        start = route.path[: route.path.index("}") + 1]
        return {path.rpartition("/")[2] for path in self.paths.get(start, ()) if self.site.get(path).status < 400}

    def counted(self, route: Route, before: str) -> Iterator[Lead]:
        """The places below one path, and the first that is not there."""
        if len(route.parameters) != 2:
            return
        for number in range(COUNTED):
            lead = Lead(filled(route.path, [before, str(number)]))
            yield lead
            if self.site.get(lead.address).status >= 400:
                return
