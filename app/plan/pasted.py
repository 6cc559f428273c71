"""A pasted config.json on its way into the address: reduced to the keys that are read, with words on what became of it."""

import json
from typing import Any

from app.web.json_text import value_of
from app.web.limits import BODY_BYTES
from engine.catalog.hf_config import Reading, reading_of_config
from engine.language.refusal import Refusal

CONFIG_BYTES = 20_000  # of a model in the address; a reduced config.json has about 1,000
MOST_NAMED = 6  # keys named one by one in a remark
WHERE = "model.hf_config"


def model_document(text: str) -> dict[str, Any]:
    """The model of a scenario document that a pasted text is: a config.json, or a shape in this board's own words.

    >>> model_document('{"layers": 2, "hidden": 64}'), model_document('{"num_hidden_layers": 2}')
    ({'layers': 2, 'hidden': 64}, {'hf_config': {'num_hidden_layers': 2}})
    """
    if not text:
        raise Refusal(WHERE, None, "paste a model's config.json here")
    given = _value(text, CONFIG_BYTES)
    own = isinstance(given, dict) and "model_type" not in given and {"layers", "hidden"} & given.keys()
    return given if own else {"hf_config": given}


def reduced_text(text: str) -> str:
    """A config.json without the keys that nobody reads; any other text as it is.

    >>> llama = '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, '
    >>> reduced_text(llama + '"intermediate_size": 256, "vocab_size": 100, "torch_dtype": "bfloat16"}')[-45:]
    ' "intermediate_size": 256, "vocab_size": 100}'
    """
    found = _reading(text)
    return text if found is None else json.dumps(found.kept, ensure_ascii=False)


def reading_words(text: str) -> str:
    """What became of a config.json: as which family it was read, what was assumed, what acts, what is left out, what is not read."""
    found = _reading(text)
    if found is None:
        return ""
    assumed = ", ".join(f"{name} {str(value).lower()}" for name, value in found.assumed.items())
    said = [
        f"Read as {found.family}, {len(found.used)} keys.",
        f"Not in the file, so as usual there: {assumed}." if assumed else "",
        *found.acts,
        *found.left_out,
        f"No effect on counts: {_named(found.harmless)}." if found.harmless else "",
        f"Not read: {_named(found.not_read)}." if found.not_read else "",
    ]
    return " ".join(filter(None, said))


def _named(keys: tuple[str, ...]) -> str:
    shown = ", ".join(key[:40] for key in keys[:MOST_NAMED])
    return shown if len(keys) <= MOST_NAMED else f"{shown} and {len(keys) - MOST_NAMED:,} more"


def _reading(text: str) -> Reading | None:
    """The reading of a text that is a config.json with a meaning."""
    if not text.startswith("{"):
        return None
    try:
        return reading_of_config(_value(text, BODY_BYTES))
    except Refusal:
        return None


def _value(text: str, limit: int) -> Any:
    try:
        return value_of(text.encode(), limit)
    except Refusal as refusal:
        raise Refusal(WHERE, None, refusal.rule) from None
