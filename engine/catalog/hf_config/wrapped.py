"""The text model inside a file: the whole of it, or the part of a multimodal one, and its family."""

from collections.abc import Mapping
from typing import Any

from engine.catalog.hf_config.asked import WHERE, Asked
from engine.catalog.hf_config.documents import other_file
from engine.catalog.hf_config.family import Family, families, kinds
from engine.language.refusal import Refusal

INSIDE = ("text_config", "llm_config", "language_config", "thinker_config", "text_model_config")
BY_HAND = (
    'a shape by hand works for any decoder: {"layers": …, "hidden": …, "heads": …, "vocab": …, "ffn": …, "gated": …}'
)
TELLING = (
    ("ssm", "a state-space model"),
    ("mamba", "a hybrid with state-space layers"),
    ("linear_attn", "linear attention"),
)


def text_part(config: object) -> tuple[Asked, str, Family, bool | None]:
    """The keys of the text model, the name of its family, the family, and whether the file around it ties the embedding."""
    asked = Asked(_object("", config))
    if what := other_file(asked.given):
        raise Refusal(WHERE, None, f"this is {what}")
    tied: bool | None = None
    outer = asked.given.get("model_type")
    while inside := _inside(asked):
        _refuse_kind(asked, outer)
        if "tie_word_embeddings" in asked.given:
            tied = asked.switch({"tie_word_embeddings": False})
        within = asked.given[inside]
        outer = within.get("model_type") or _inner_type(outer)
        asked = Asked(within, ".".join(part for part in (asked.at, inside) if part))
    return asked, *_family(asked, outer), tied


def _object(path: str, given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        field = ".".join(part for part in (WHERE, path) if part)
        raise Refusal(
            field, given, f"needs {'an object, or to be left out' if path else 'the object of a config.json'}"
        )
    return given


def _inside(asked: Asked) -> str | None:
    for key in INSIDE:
        if asked.given.get(key) is not None and _object(".".join(filter(None, (asked.at, key))), asked.given[key]):
            return key
    return None


def _inner_type(outer: object) -> object:
    """The family of a text part that names none: the outer one's own, if it has one."""
    known = families()
    return next((name for name in (f"{outer}_text", str(outer)) if name in known), None)


def _family(asked: Asked, name: object) -> tuple[str, Family]:
    if name is None:
        raise Refusal(
            asked.path("model_type"), None, "is needed: names of keys alone do not tell a family", _by_class(asked)
        )
    known = families()
    if not isinstance(name, str):
        raise Refusal(asked.path("model_type"), name, "needs text")
    for each in (name, name.removesuffix("_text")):
        if each in known:
            return each, known[each]
    _refuse_kind(asked, name)
    found = next(
        (f": its keys say {kind}" for part, kind in TELLING if any(part in str(key) for key in asked.given)), ""
    )
    if asked.given.get("is_encoder_decoder") is True:
        found = ": its keys say an encoder-decoder"
    raise Refusal(asked.path("model_type"), name, f"is no family that is read{found}; {BY_HAND}")


def _refuse_kind(asked: Asked, name: object) -> None:
    if isinstance(name, str) and name in kinds():
        raise Refusal(
            asked.path("model_type"), name, f"is {kinds()[name]}; this board models decoders of like attention layers"
        )


def _by_class(asked: Asked) -> str | None:
    """The family that the class in `architectures` belongs to."""
    classes = asked.given.get("architectures")
    said = str(classes[0]).partition("For")[0].lower() if isinstance(classes, list) and classes else ""
    return next((name for name in families() if name.replace("_", "") == said), None)
