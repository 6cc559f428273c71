"""Where a page leads: its links, the parts it fetches, and its forms with every choice they offer."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

HOST = "testserver"
LEADS_NOWHERE = {"action", "formaction", "hx-post", "hx-push-url", "d", "pattern"}
IN_SCRIPT = re.compile(r'"(/[^"\s\\<>]*)"')
CHOICES, NUMBERS = ("radio", "checkbox"), ("number", "range")


@dataclass(frozen=True)
class Field:
    """One field of a form. `values` are those it offers: every option of a choice, both ends of a number."""

    name: str
    kind: str  # "choice", "number", "text" or "hidden"
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A form that asks (method GET), or one whose fields are asked about as they change (hx-get).

    path      where it leads; empty for a form that posts
    part      what it fetches while it is filled in; empty for none
    borrowed  the part belongs elsewhere on the page, and only takes this form's fields along
    """

    path: str
    part: str
    fields: tuple[Field, ...]
    borrowed: bool = False


@dataclass(frozen=True)
class Page:
    """Same-origin addresses of a page, without their fragments."""

    links: tuple[str, ...]
    parts: tuple[str, ...]
    forms: tuple[Form, ...]


def read_page(html: str, address: str) -> Page:
    """What a page at an address leads to.

    >>> page = read_page('<a href="/b?x=1#top"></a><p data-next="/c"></p><p hx-get="d"></p>', "/a")
    >>> page.links, page.parts
    (('/b?x=1', '/c'), ('/d',))
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    base = f"http://{HOST}{address}"

    def here(given: list[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(found for value in given if (found := _same_origin(base, value))))

    forms = [
        Form(
            _same_origin(base, form["action"]) if "action" in form else "",
            _same_origin(base, form["part"]) if "part" in form else "",
            _merged(fields),
            "borrowed" in form,
        )
        for form, fields in reader.forms
    ]
    return Page(here(reader.links), here(reader.parts), tuple(forms))


def _same_origin(base: str, value: str) -> str:
    """The address within this site, or nothing."""
    try:
        found = urlsplit(urljoin(base, value))
    except ValueError:
        return ""
    if found.scheme != "http" or found.netloc != HOST:
        return ""
    return (found.path or "/") + (f"?{found.query}" if found.query else "")


def _merged(fields: list[Field]) -> tuple[Field, ...]:
    """Radios of one name are one field."""
    found: dict[str, Field] = {}
    for field in fields:
        known = found.get(field.name, Field(field.name, field.kind))
        found[field.name] = Field(field.name, known.kind, tuple(dict.fromkeys((*known.values, *field.values))))
    return tuple(found.values())


class _Reader(HTMLParser):
    """Gathers what read_page needs, as it stands in the text.

    A control outside any form is the form of whatever is fetched with it: hx-include names its id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.parts: list[str] = []
        self.forms: list[tuple[dict[str, str], list[Field]]] = []
        self.ids: dict[str, int] = {}
        self.taken: list[tuple[str, str]] = []  # what is fetched, and the id of a control that goes with it
        self.inside: int | None = None
        self.select: tuple[int, str] | None = None
        self.script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name, value in given.items():
            if name == "hx-get":
                self.parts.append(value)
            elif name == "href" or (value.startswith("/") and name not in LEADS_NOWHERE):
                self.links.append(value)
        self.taken.extend(
            (given["hx-get"], word.strip(" #")) for word in given.get("hx-include", "").split(",") if "hx-get" in given
        )
        self.script = tag == "script"
        if tag == "form":
            self._form(given)
        elif tag == "option":
            if self.select and "value" in given:
                self._field(self.select[0], Field(self.select[1], "choice", (given["value"],)))
        elif given.get("name"):
            self._named(tag, given)

    handle_startendtag = handle_starttag

    def _form(self, given: dict[str, str]) -> None:
        form = {"part": given["hx-get"]} if "hx-get" in given else {}
        if given.get("method", "get").lower() == "get":
            form["action"] = given.get("action", "")
        self.inside = len(self.forms)
        if "id" in given:
            self.ids[given["id"]] = self.inside
        self.forms.append((form, []))

    def _named(self, tag: str, given: dict[str, str]) -> None:
        form = self.ids.get(given.get("form", ""), self.inside)
        if form is None and given.get("id"):
            form = self.ids[given["id"]] = len(self.forms)
            self.forms.append(({"alone": "", **({"part": given["hx-get"]} if "hx-get" in given else {})}, []))
        if form is not None:
            self._control(tag, given, form)

    def close(self) -> None:
        super().close()
        for part, name in self.taken:
            if name in self.ids:
                form, fields = self.forms[self.ids[name]]
                alone = {} if "alone" in form else {"borrowed": ""}
                self.forms.append(({"part": part, **alone}, fields))

    def _control(self, tag: str, given: dict[str, str], form: int) -> None:
        name, kind, value = given["name"], given.get("type", "text"), given.get("value", "")
        if tag == "select":
            self.select = (form, name)
        elif tag == "button" or kind in CHOICES:
            self._field(form, Field(name, "choice", (value,)))
        elif kind in NUMBERS:
            self._field(form, Field(name, "number", tuple(given[end] for end in ("min", "max") if end in given)))
        elif kind == "hidden":
            self._field(form, Field(name, "hidden", (value,)))
        elif tag in ("input", "textarea"):
            self._field(form, Field(name, "text"))

    def _field(self, form: int, field: Field) -> None:
        self.forms[form][1].append(field)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = None
        elif tag == "select":
            self.select = None
        elif tag == "script":
            self.script = False

    def handle_data(self, data: str) -> None:
        if self.script:
            self.links.extend(IN_SCRIPT.findall(data))
