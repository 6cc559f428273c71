"""A record: one line of JSON for each thing that was asked, with its answer; and a file of them, read where needed."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "record.jsonl"
PARTS = ("address", "scenario", "command")
ANSWER = ("status", "type", "location", "body", "errors")
Key = tuple[str, str, bool, str]


@dataclass(frozen=True)
class Record:
    """What was asked and what was answered.

    part      "address", "scenario" or "command"
    route     the pattern that answered, for counting only: a parameter may be renamed
    method    GET, POST …; RUN for a command, whose words are its address
    htmx      asked as a part of a page
    sent      the body of the request, or standard input
    sent_as   its content type
    status    of HTTP, or the exit code
    body      normalised; of what is no text, its digest
    errors    standard error of a command
    """

    part: str
    route: str
    method: str
    address: str
    htmx: bool = False
    sent: str = ""
    sent_as: str = ""
    status: int = 0
    type: str = ""
    location: str = ""
    body: str = ""
    errors: str = ""

    @property
    def key(self) -> Key:
        """What was asked: the same in both records, or the answers cannot be compared."""
        return (self.method, self.address, self.htmx, f"{self.sent_as} {self.sent}")

    @property
    def digest(self) -> bytes:
        """Of the answer."""
        return hashlib.sha256(repr([getattr(self, name) for name in ANSWER]).encode()).digest()

    @property
    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def written(path: Path, records: Iterable[Record]) -> None:
    """A file of records in an order that does not depend on how they were found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as file:
        for each in sorted(records, key=lambda record: (PARTS.index(record.part), record.key)):
            file.write(each.line)


class Records:
    """A file of records: where each stands and what it answers in short. Bodies stay on disk until they are asked for."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("rb")
        self.places: dict[Key, int] = {}
        self.digests: dict[Key, bytes] = {}
        self.parts: dict[Key, str] = {}
        self.routes: dict[Key, str] = {}
        while line := self._line_at(place := self.file.tell()):
            record = Record(**json.loads(line))
            self.places[record.key] = place
            self.digests[record.key] = record.digest
            self.parts[record.key] = record.part
            self.routes[record.key] = record.route

    def _line_at(self, place: int) -> bytes:
        self.file.seek(place)
        return self.file.readline()

    def __getitem__(self, key: Key) -> Record:
        return Record(**json.loads(self._line_at(self.places[key])))
