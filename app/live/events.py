"""Events as frozen records. A family lists its kinds once, and reads and writes them as lines of JSON.

@dataclass(frozen=True)
class Joined(Event, kind="joined"):
    name: str

CLASSROOM = Family(Joined, ...)
line_of(Joined(name="Ada"))                                    b'{"event":"joined","name":"Ada"}\n'
CLASSROOM.read(b'{"event": "joined", "name": "Ada"}')          Joined(name='Ada')
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from app.live.bounds import Within
from app.live.reading import no_such_event
from engine.language.choice import choose
from engine.language.refusal import Refusal

MOST_BYTES, MOST_EVENTS = 2_500_000, 6_000  # of a text that is read
TOO_LARGE = "too-large"  # the code of that refusal
BOM = b"\xef\xbb\xbf"
SCALARS = {int, float, str, bool, type(None)}


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that was said. Each kind is a class, which says what JSON calls it, as `event`.

    LAST     whether nothing follows it
    ALWAYS   whether it is still written where a log is full
    seq      its number in a log, from 1; 0 outside one
    """

    KIND: ClassVar[str] = ""
    LAST: ClassVar[bool] = False
    ALWAYS: ClassVar[bool] = False
    seq: Annotated[int, Within(0, 1_000_000_000)] = 0

    def __init_subclass__(cls, kind: str = "", last: bool = False, always: bool = False) -> None:
        cls.KIND, cls.LAST, cls.ALWAYS = kind, last, always or last


def plain(value: object) -> Any:
    """A record as JSON has it. A field that holds its default is left out, which keeps lines short."""
    if type(value) in SCALARS:  # first, since most are: hundreds of collectives are thousands of numbers
        return value
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    if is_dataclass(value):
        held = ((each, getattr(value, each.name)) for each in fields(value))
        return {each.name: plain(inner) for each, inner in held if inner != each.default}
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return value


def document(event: Event) -> dict[str, Any]:
    """An event as JSON has it."""
    return {"event": event.KIND, **plain(event)}


def line_of(event: Event) -> bytes:
    """An event as a line of JSON. A loss that has become no number is written as NaN, and read again as such."""
    return json.dumps(document(event), separators=(",", ":")).encode() + b"\n"


def lines_of(events: Iterable[Event]) -> bytes:
    """Events as lines of JSON, for a file that others read: what is no number is null."""
    return b"".join(orjson.dumps(document(event), option=orjson.OPT_APPEND_NEWLINE) for event in events)


E = TypeVar("E", bound=Event)


def of_kind(events: Iterable[Event], kind: type[E]) -> list[E]:
    """Those that are of this kind, in their order."""
    return [event for event in events if isinstance(event, kind)]


class Family(Generic[E]):
    """The kinds of event that belong together. It reads what a process or a file says, and refuses what none of them is."""

    def __init__(self, *kinds: type[E]) -> None:
        self.kinds = {kind.KIND: kind for kind in kinds}
        assert len(self.kinds) == len(kinds), "two kinds of one name"

    def read(self, line: bytes, number: int = 1, no_number: float | None = float("nan")) -> E:
        """The event of a line, or a Refusal that names the line and the field.

        number      of the line, for the sentence
        no_number   what a number that is none is read as: JSON has no NaN, Python's writes one
        """
        try:
            found = json.loads(line, parse_constant=lambda _: no_number)
            text = json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Refusal("events", None, f"line {number} holds half of a surrogate pair") from None
        except (ValueError, RecursionError):
            said = line[:40].decode("utf-8", "replace")
            raise Refusal("events", said, f"line {number} is no JSON") from None
        if not isinstance(found, dict) or not isinstance(name := found.pop("event", None), str):
            raise Refusal("events", None, f'line {number} is no event: it needs an object with a field "event"')
        kind = choose("events.event", name, self.kinds, f"line {number} is no event that is known here: {{names}}")
        try:
            return _reader(kind).validate_json(text, strict=True)
        except ValidationError:
            raise no_such_event(name, number, found, partial(_problems, kind)) from None

    def read_lines(self, text: bytes) -> list[E]:
        """The events of lines of JSON, from this program or from elsewhere; the first line that is none is refused."""
        if len(text) > MOST_BYTES:
            raise Refusal("events", None, f"has {len(text):,} bytes; at most {MOST_BYTES:,} are read", code=TOO_LARGE)
        found: list[E] = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            if len(found) == MOST_EVENTS:
                raise Refusal("events", None, f"has more than {MOST_EVENTS:,} lines", code=TOO_LARGE)
            found.append(self.read(line.removeprefix(BOM), number, no_number=None))
        if not found:
            raise Refusal("events", None, "is empty; lines of JSON are needed")
        return found


@cache
def _reader(kind: type[E]) -> TypeAdapter[E]:
    """Made when the first line of its kind is read: whoever only writes does not pay for it."""
    return TypeAdapter(kind)


def _problems(kind: type[Event], found: Any) -> list[ErrorDetails]:
    """What is wrong with the fields of a line."""
    try:
        _reader(kind).validate_json(json.dumps(found, ensure_ascii=False).encode(), strict=True)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []
