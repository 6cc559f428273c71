"""A form beside a board, as /plan and /topology are. Another such page needs its groups, and its board of a state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.datastructures import QueryParams

from app.plan.form import FIELDS, PASTED, field_of, given_twice, nics, query_of, state_of
from app.plan.notes import Notes
from app.plan.pasted import reading_words
from app.plan.pins import pin_of, query_text
from app.plan.presets import preset_queries
from app.plan.strip import Reading, strip_of
from app.web.beside import Said, dealt
from app.web.json_text import script_json
from app.web.query import ignored
from app.web.render import page, part
from engine.estimate import Estimate
from engine.language.held import show_held_in
from engine.language.inputs import Input, texts_of
from engine.language.refusal import Refusal, together

DOCUMENTS = ("config",)  # controls that hold a whole document
MOST_TOLD = 2  # refusals in the line above the board; all stand beside their fields
Groups = tuple[tuple[str, tuple[Input, ...]], ...]


class Board(Protocol):
    """What stands beside a form; `remarks` are its words under the controls, `estimate` what is in the strip."""

    @property
    def remarks(self) -> Mapping[str, str]: ...

    @property
    def estimate(self) -> Estimate: ...


B = TypeVar("B", bound=Board)


@dataclass(frozen=True)
class Frame(ABC, Generic[B]):
    """Everything such a page shows. `board` is missing where the state has no meaning; `said` then tells why.

    state     the text of each input: the plan's, and what the page adds
    pasted    a model's file as it came, before it was reduced
    ignored   sentences about names in the address that are no input
    path      of the page
    noun      what has no meaning yet
    lacks     said of a name in the address that is no input
    figures   the template of its board
    starts    scenarios of the catalogue to start from
    runs      published ones
    groups    titles, and the inputs that the form shows
    own       inputs that the page adds to a plan's query
    passing   names in its query that are no inputs of it
    """

    state: Mapping[str, str]
    said: Said
    board: B | None
    pasted: str = ""
    ignored: tuple[str, ...] = ()

    path: ClassVar[str]
    noun: ClassVar[str]
    lacks: ClassVar[str]
    figures: ClassVar[str]
    starts: ClassVar[tuple[str, ...]]
    runs: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[Groups]
    own: ClassVar[tuple[Input, ...]] = ()
    passing: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def board_of(cls, state: Mapping[str, str], narrow: bool) -> B:
        """The board of a state, or a Refusal."""

    @classmethod
    def of(cls, request: Request, sent: QueryParams | None = None) -> Self:
        """The page for a request: its query, and whether the browser asked for narrow figures.

        sent   the form's fields, where they came in the body: a pasted file is too long for an address
        """
        given = request.query_params if sent is None else sent
        state, pasted = state_of(given) | texts_of(cls.own, given), given.get("config", "").strip()
        told = ignored(given.multi_items(), cls.labels(), cls.lacks, cls.passing)
        show_held_in(state["units"])
        try:
            board = cls.board_of(cls.known(request, sent), request.cookies.get("narrow") == "1")
        except Refusal as refusal:
            return cls(state, dealt(refusal, cls.labels(), cls.place, DOCUMENTS), None, pasted, told)
        return cls(state, Said(), board, pasted, told)

    @classmethod
    def beside(cls) -> tuple[str, ...]:
        """Names in its query besides the plan's."""
        return (*(each.name for each in cls.own), *cls.passing)

    @classmethod
    def known(cls, request: Request, sent: QueryParams | None = None) -> dict[str, str]:
        """The state of a request, if its query says nothing twice."""
        given = request.query_params if sent is None else sent
        request.state.ignored = ignored(given.multi_items(), cls.labels(), cls.lacks, cls.passing)
        if twice := given_twice(given.multi_items(), cls.beside()):
            raise together(twice)
        show_held_in(given.get("units", ""))
        return state_of(given) | texts_of(cls.own, given)

    @classmethod
    def plan_in(cls, request: Request) -> str:
        """The shortest query of the plan that a request brings along."""
        state = cls.known(request)
        return query_of({name: state[name] for name in FIELDS})

    @classmethod
    def place(cls, refusal: Refusal) -> str:
        """The control that a refusal is about."""
        own = any(refusal.field == each.name for each in cls.own)
        return refusal.field if own else field_of(refusal)

    @classmethod
    def labels(cls) -> dict[str, str]:
        """The label of each control."""
        return {each.name: each.label for each in (*FIELDS.values(), *cls.own)}

    @property
    def plan(self) -> dict[str, str]:
        """The plan alone, without what the page adds."""
        return {name: self.state[name] for name in FIELDS}

    @property
    def query(self) -> str:
        """The shortest query of the plan."""
        return query_of(self.plan)

    @property
    def address(self) -> str:
        """The shortest address of this page as it stands."""
        own = urlencode({each.name: self.state[each.name] for each in self.own if self.state[each.name]})
        return f"{self.path}?{'&'.join(filter(None, (self.query, own)))}".rstrip("?")

    @property
    def hidden(self) -> dict[str, str]:
        """Fields of the plan that this page does not show, with their values: they travel along."""
        shown = {each.name for _, inputs in self.groups for each in inputs}
        usual = state_of({})
        return {name: text for name, text in self.plan.items() if name not in shown and text != usual[name]}

    @property
    def own_names(self) -> list[str]:
        """What the page adds to a plan: no other page is told of it."""
        return [each.name for each in self.own]

    @property
    def nics(self) -> dict[str, float]:
        """Each cluster's own network, for the form to follow a change of the cluster.   [Gb/s]"""
        return nics()

    @property
    def presets(self) -> dict[str, str]:
        """Title -> address of what to start from."""
        return self._addresses(self.starts)

    @property
    def published(self) -> dict[str, str]:
        """Title -> address of each published run."""
        return self._addresses(self.runs)

    def _addresses(self, names: tuple[str, ...]) -> dict[str, str]:
        return {title: f"{self.path}?{query}".rstrip("?") for title, query in preset_queries(names).items()}

    @property
    def remarks(self) -> Mapping[str, str]:
        read = {"config": reading_words(self.pasted)} if self.board and self.plan["model"] == PASTED else {}
        return {**(self.board.remarks if self.board else {}), **read}

    @property
    def strip(self) -> tuple[Reading, ...]:
        """The answer in short; nothing where the state has no meaning."""
        return strip_of(self.board.estimate, binary=self.state["units"] != "GB") if self.board else ()

    @property
    def pinned(self) -> str:
        """This plan as a pin: its query, this version, and what it answers."""
        return query_text([pin_of(self.query, self.board.estimate)]) if self.board else ""

    @property
    def state_words(self) -> str:
        """What stands above a board that does not show this state."""
        if self.board:
            return ""
        labels = self.labels()
        marked = [f"{labels[name]}: {words}" for name, words in self.said.beside.items()]
        return " ".join(self.said.page) or f"This {self.noun} has no meaning yet. {'; '.join(marked[:MOST_TOLD])}."

    @property
    def says_json(self) -> Markup:
        """What is said beside each control, for a script element."""
        names = dict.fromkeys((*self.said.beside, *self.remarks))
        said: dict[str, Any] = {
            name: {"refusal": self.said.beside.get(name, ""), "remark": self.remarks.get(name, "")} for name in names
        }
        if self.pasted and self.pasted != self.state["config"]:
            said.setdefault("config", {})["text"] = self.state["config"]
        return script_json({"state": self.state_words, "ignored": ". ".join(self.ignored), "fields": said})


def board_part(request: Request, view: Frame[Any]) -> HTMLResponse:
    """The board alone, and what is said beside each control. What has no meaning leaves the board as it is."""
    answer = part(request, "plan/_board.html" if view.board else "plan/_says.html", view=view)
    if view.board is None:
        answer.headers.update({"HX-Retarget": "#plan-says", "HX-Reswap": "outerHTML"})
    return answer


def notes_part(request: Request, notes: Notes, plan: str, back: str) -> HTMLResponse:
    """The notes alone, for a board to swap; without a script, a page of them that leads back.

    plan   the query of the plan they are about
    """
    template = "plan/_notes.html" if "HX-Request" in request.headers else "plan/advice.html"
    return page(request, template, notes=notes, plan=plan, back=back)
