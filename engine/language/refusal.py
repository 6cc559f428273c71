"""What has no meaning is refused, in one sentence: the field, the value given, the rule, the nearest value that works."""


class Refusal(ValueError):
    """An input that has no meaning.

    field     where it stands, dotted: "layout.tp"
    value     what was given (None when it is missing)
    rule      why it has no meaning
    nearest   a value, or values, that would work
    code      name of the rule, the same as a finding's code where one exists

    >>> print(Refusal("layout.tp", 6, "tp must divide the 64 heads", "4 or 8"))
    layout.tp = 6: tp must divide the 64 heads; the nearest that works: 4 or 8
    """

    def __init__(self, field: str, value: object, rule: str, nearest: str | None = None, code: str = "invalid"):
        self.field, self.value, self.rule, self.nearest, self.code = field, value, rule, nearest, code
        self.others: tuple[Refusal, ...] = ()
        super().__init__(self.sentence)

    @property
    def all(self) -> "tuple[Refusal, ...]":
        """This refusal and those found together with it, one for each field that is wrong."""
        return (self, *self.others)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Its sentence and those of the others."""
        return tuple(each.sentence for each in self.all)

    @property
    def advice(self) -> str:
        """The rule and the way out, for a page that already shows the field and its value."""
        return self.rule + (f"; the nearest that works: {self.nearest}" if self.nearest else "")

    @property
    def sentence(self) -> str:
        head = self.field if self.value is None else f"{self.field} = {_short(self.value)}"
        return f"{head}: {self.advice}"


def together(found: list[Refusal]) -> Refusal:
    """The first refusal, carrying the others."""
    found[0].others = tuple(found[1:])
    return found[0]


def _short(value: object, limit: int = 60) -> str:
    """The value on one line, cut where a person stops reading; a huge whole number as a power of ten."""
    if isinstance(value, int) and not isinstance(value, bool) and 2**53 < abs(value) < 10**300:
        return f"{value:g}"
    text = " ".join((value if isinstance(value, str) else repr(value)).split()) or '""'
    return text if len(text) <= limit else text[: limit - 1] + "…"
