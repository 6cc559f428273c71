"""A config.json as a Model, with an account of every key: where it went, what it means, or that nobody read it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.catalog.hf_config.asked import ABSENT, WHERE, Asked
from engine.catalog.hf_config.experts import PLACES
from engine.catalog.hf_config.family import Family, families, key_lists
from engine.catalog.hf_config.own import OWN_KEYS, Draft
from engine.catalog.hf_config.shape import drafted
from engine.catalog.hf_config.wrapped import INSIDE, text_part
from engine.catalog.model import Model
from engine.language.document import read
from engine.language.refusal import Refusal, together

ATTENTION = ("full_attention", "sliding_attention", "chunked_attention", "attention", "global", "local")
OBJECTS = ("attn_config", "ffn_config")  # whose keys count one by one
ALWAYS = (
    "model_type",
    "is_encoder_decoder",
    "layer_types",
    "attn_type_list",
    "use_sliding_window",
    "_sliding_window_pattern",
)


@dataclass(frozen=True)
class Reading:
    """What became of a config.json.

    model      the shape
    family     the model_type that was read as
    used       key -> value, for every key that the shape rests on
    fields     key -> the field of the model that it gave
    assumed    field -> value, where the file is silent and its family has a usual value
    acts       a sentence for each key that changes cost but is not counted
    left_out   a sentence for each part of the model that is left out
    harmless   keys without effect on counts
    not_read   keys that nobody here knows
    kept       the file reduced to what gives this reading again
    """

    model: Model
    family: str
    used: Mapping[str, Any]
    fields: Mapping[str, str]
    assumed: Mapping[str, int]
    acts: tuple[str, ...]
    left_out: tuple[str, ...]
    harmless: tuple[str, ...]
    not_read: tuple[str, ...]
    kept: Mapping[str, Any]


def reading_of_config(config: object) -> Reading:
    """The reading of a parsed config.json, or a Refusal that names the key.

    >>> found = reading_of_config({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    ...                            "intermediate_size": 256, "vocab_size": 100, "use_cache": True, "colour": "red"})
    >>> found.fields["hidden_size"], found.assumed, found.harmless, found.not_read
    ('hidden', {'kv_heads': 4, 'head_dim': 16, 'tied': False}, ('use_cache',), ('colour',))
    """
    asked, name, family, tied = text_part(config)
    _refuse_layers(asked)
    draft = drafted(asked, name, family, tied)
    model = _model(asked, draft)
    sorted_out = _sorted_out(asked, name, model)
    acts, left_out = [*_acts(asked)], [*_left_out(asked.given)]
    if asked.at and isinstance(config, Mapping):
        left_out += _left_out(config)
    used = {key: value for key, value in asked.used.items() if key not in ("layer_types", "attn_type_list")}
    fields = {key: field for field, key in draft.sources.items()}
    kept = _kept(config, asked, used)
    return Reading(model, name, used, fields, draft.assumed, tuple(acts), tuple(left_out), *sorted_out, kept)


def _refuse_layers(asked: Asked) -> None:
    """Layers that are no attention, or an encoder beside the decoder."""
    for key in ("is_encoder_decoder", "add_cross_attention"):
        if asked.switch({key: False}):
            raise Refusal(asked.path(key), True, "an encoder beside the decoder is not modelled", "false")
    strange = [kind for kind in asked.texts("layer_types") or () if kind not in ATTENTION]
    if strange:
        rule = f"has layers of {strange[0]}; only attention layers are modelled"
        raise Refusal(asked.path("layer_types"), f"{len(strange)} of {strange[0]}", rule)
    if any(kind != 1 for kind in asked.texts("attn_type_list") or ()):
        raise Refusal(
            asked.path("attn_type_list"), 0, "has layers of linear attention; only attention layers are modelled"
        )


def _model(asked: Asked, draft: Draft) -> Model:
    """The Model of a draft; what is wrong with a field is said of the key that gave it."""
    shape = {field: value for field, value in draft.shape.items() if value is not None}
    try:
        return read(Model, shape, WHERE)
    except Refusal as refusal:
        said = []
        for each in refusal.all:
            field = each.field.rpartition(".")[2]
            key = draft.sources.get(field) or _usual_key(field)
            said.append(Refusal(asked.path(key), each.value, each.rule, each.nearest, each.code))
        raise together(said) from None


def _usual_key(field: str) -> str:
    """The usual key of a field that the file did not give."""
    return next((keys[0] for each in families().values() if (keys := each.names.get(field))), field)


@lru_cache(maxsize=1)
def known_to_matter() -> dict[str, str | None]:
    """Every key that some family reads, or that is known to change a model -> the field it gives, where it is one."""
    found: dict[str, str | None] = dict.fromkeys((*key_lists()["matters"], *OWN_KEYS, *PLACES))
    for family in families().values():
        found |= dict.fromkeys((*_switches(family), *family.needs))
        found |= {key: field for field, keys in family.names.items() for key in keys}
    return found


def _switches(family: Family) -> Iterator[str]:
    for switch in (*family.bias.values(), family.qk_norm_if):
        if isinstance(switch, Mapping):
            yield from switch


def _sorted_out(asked: Asked, name: str, model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys without effect, and keys that nobody knows; a key that matters and was not read is refused."""
    lists, matters = key_lists(), known_to_matter()
    harmless, unknown = [], []
    for key, value in _flat(asked.given):
        if key in asked.used or key in (*ALWAYS, *INSIDE, *lists["acts"], *lists["left_out"]):
            continue
        if key in lists["harmless"] or key.endswith(tuple(lists["harmless_endings"])):
            harmless.append(key)
        elif key in matters:
            field = matters[key]
            if not _neutral(value) and not (field and getattr(model, field) == value):
                raise Refusal(
                    asked.path(key),
                    value,
                    f"changes the model, and is not read for {name}; leave it out to count without it",
                )
            harmless.append(key)
        else:
            unknown.append(key)
    return tuple(harmless), tuple(unknown)


def _neutral(value: object) -> bool:
    return value is None or value is False or value in ([], {}, "") or (value in (0, 1) and value is not True)


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        if key in OBJECTS and isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", each) for inner, each in value.items())
        else:
            yield str(key), value


def _acts(asked: Asked) -> Iterator[str]:
    windowed = asked.given.get("use_sliding_window") is not False
    for key, sentence in key_lists()["acts"].items():
        value = asked.given.get(key)
        if value and (windowed or key != "sliding_window"):
            shown = f"{value:,}" if isinstance(value, int) else "so many"
            yield f"{asked.path(key).removeprefix(WHERE + '.')}: {sentence.replace('{value}', shown)}."


def _left_out(given: Mapping[str, Any]) -> Iterator[str]:
    for key, sentence in key_lists()["left_out"].items():
        if given.get(key) or given.get(key) == {}:
            yield f"{key}: {sentence.replace('{value}', str(given[key])[:20])}."


def _kept(config: object, asked: Asked, used: Mapping[str, Any]) -> dict[str, Any]:
    """The file with nothing but what gives this reading again."""
    lists = key_lists()
    marked = [
        key for key in (*lists["acts"], *lists["left_out"], "model_type", "use_sliding_window") if key in asked.given
    ]
    inner: dict[str, Any] = {key: _marked(asked.given[key]) for key in reversed(marked)}
    for key, value in used.items():
        place, parts = inner, key.split(".")
        for part in parts[:-1]:
            place = place.setdefault(part, {})
        if value is not ABSENT:
            place[parts[-1]] = value
    inner = {key: inner[key] for key in asked.given if key in inner}  # as the file has them
    if not asked.at or not isinstance(config, Mapping):
        return inner
    outside = {
        key: _marked(config[key]) for key in ("model_type", "tie_word_embeddings", *lists["left_out"]) if key in config
    }
    for part in reversed(asked.at.split(".")):
        inner = {part: inner}
    return {**outside, **inner}


def _marked(value: Any) -> Any:
    """A value that only has to be there."""
    return {} if isinstance(value, Mapping) else [] if isinstance(value, list) else value
