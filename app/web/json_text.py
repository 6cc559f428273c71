"""JSON from outside and to outside: bytes to values that can be trusted, refusals to sentences. Shared by CLI and API."""

import json
import math
from typing import Any

import orjson
from markupsafe import Markup

from engine.language.refusal import Refusal
from engine.language.units import bytes_text

MOST_VALUES = 5_000  # an estimate has 30; the largest config.json of a model a few hundred
DEEPEST = 32
LONGEST_NUMBER = 400  # digits
LONGEST_SENTENCE = 600
WHERE = "document"


def value_of(data: bytes, limit: int) -> Any:
    """The value of JSON text, or a Refusal that says where the text is wrong.

    limit   largest text that is read   [bytes]

    >>> value_of(b'{"gpus": 1024}', 100)
    {'gpus': 1024}
    >>> value_of(b'{"gpus": 1024', 100)
    Traceback (most recent call last):
    engine.language.refusal.Refusal: document: is no JSON: expecting ',' delimiter at line 1, column 14
    """
    if len(data) > limit:
        raise too_large(limit)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(f"is no UTF-8 text: byte {error.start + 1} cannot be read") from None
    if not text.strip():
        raise _refused("is empty")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise _refused(f"is no JSON: {what} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _too_deep() from None
    _check(value)
    return value


def text_of(value: Any) -> bytes:
    """A value as one line of JSON."""
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def script_json(value: Any) -> Markup:
    """JSON that may stand in a script element: nothing in it can close the element.

    >>> script_json(["</script>"])
    Markup('["\\\\u003c/script>"]')
    """
    return Markup(orjson.dumps(value).decode().replace("<", "\\u003c"))


def too_large(limit: int) -> Refusal:
    """The refusal of a text that is longer than what is read."""
    return _refused(f"is larger than {bytes_text(limit)}, and no more is read", "too-large")


def sentence_of(refusal: Refusal) -> str:
    """A refusal as one line: the first thing that is wrong, and which other fields are.

    >>> sentence_of(Refusal("gpus", "many\\nmore", "needs a whole number"))
    'gpus = many more: needs a whole number'
    """
    others = [other.field for other in refusal.others]
    more = f" (and {len(others)} more: {', '.join(others[:8])}{', …' if len(others) > 8 else ''})" if others else ""
    return _one_line(refusal.sentence + more)


def error_of(refusal: Refusal) -> dict[str, Any]:
    """A refusal as the API gives it: the sentence, and everything that is wrong field by field."""
    refusals = [
        {
            "field": _one_line(r.field),
            "value": _shown(r.value),
            "rule": _one_line(r.rule),
            "nearest": r.nearest,
            "code": r.code,
        }
        for r in refusal.all[:100]
    ]
    return {"error": sentence_of(refusal), "refusals": refusals}


def _refused(rule: str, code: str = "invalid-json") -> Refusal:
    return Refusal(WHERE, None, rule, code=code)


def _too_deep() -> Refusal:
    return _refused(f"is nested more than {DEEPEST} levels deep")


def _one_line(text: str) -> str:
    """Without line breaks, control characters and halves of characters, and no longer than a person reads."""
    clean = "".join(c if c.isprintable() else "�" for c in " ".join(text.split()))
    return clean if len(clean) <= LONGEST_SENTENCE else clean[: LONGEST_SENTENCE - 1] + "…"


def _shown(value: object) -> Any:
    """The value itself where it is short and plain, else its beginning as text."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = _one_line(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 100 else text[:99] + "…"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refusal(twice, None, "stands twice in one object", code="duplicate-key")
    return found


def _constant(text: str) -> float:
    raise _refused(f"holds {text}, which is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _refused(f"holds {text[:40]}, which is too large to be a number")
    return value


def _int(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise _refused(f"holds a number of {len(text)} digits, which is too large")
    return int(text)


def _check(value: Any) -> None:
    """Refuse what is too deep or too much to be a scenario, and text that is no text."""
    waiting, seen = [(value, 1)], 0
    while waiting:
        inner, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST:
            raise _too_deep()
        if seen > MOST_VALUES:
            raise _refused(f"holds more than {MOST_VALUES:,} values")
        if isinstance(inner, dict):
            waiting += [(part, depth + 1) for pair in inner.items() for part in pair]
        elif isinstance(inner, list):
            waiting += [(part, depth + 1) for part in inner]
        elif isinstance(inner, str) and not inner.isascii() and any("\ud800" <= c <= "\udfff" for c in inner):
            raise _refused("holds half of a surrogate pair")
