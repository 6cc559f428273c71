"""Megatron's arguments as the shape of a model, or the catalogue's name of one."""

import re
from typing import Any

from engine.catalog.model import Model, catalogue, model_named
from engine.export.megatron_shape import EXPERTS, LATENT, SIZES
from engine.export.named import name_of, shape_of, title_of
from engine.importing.imported import Remarks
from engine.importing.options import Options
from engine.language.refusal import Refusal
from engine.scenario import model_from

USUAL_MODEL = "llama-3-70b"
USUAL_VOCAB, GPT2_VOCAB = 128_256, 50_257
TOKENIZERS = ("--vocab-file", "--merge-file", "--tokenizer-type", "--tokenizer-model")
MOST_LAYERS = 10_000
POSITIONS = ("learned_absolute", "rope", "yarn", "mrope", "relative", "none")
PATTERN = re.compile(r"\[([01](?:,[01])*)\](?:\*([0-9]{1,5}))?")


def model_of(options: Options, sequence_tokens: int, remarks: Remarks) -> str | dict[str, Any]:
    """The model that the arguments describe: its catalogue name, or its shape; remarks gain what was assumed."""
    sizes = {field: options.whole(name) for name, field in SIZES}
    missing = [name for name, field in SIZES[:3] if sizes[field] is None]
    if len(missing) == 3:
        remarks.assumed.append(
            f"model: the text has no {missing[0]}, so choose it on the page; until then {USUAL_MODEL} is assumed"
        )
        return USUAL_MODEL
    if missing:
        raise Refusal(missing[0], None, "is needed beside the other sizes of the model")
    vocab = sizes["vocab"]
    shape = {field: value for field, value in sizes.items() if value is not None and field != "vocab"}
    shape |= {
        **_kind_of(options, shape),
        **_attention_of(options, remarks),
        **_experts_of(options, sizes["layers"] or 0, remarks),
    }
    shape["positions"] = _positions_of(options, sequence_tokens, remarks)
    usual = _usual_vocab(options)
    model = model_from({**shape, "vocab": vocab or usual})
    if vocab is None:
        model = _with_known_vocab(model, usual, remarks)
    return _called(model, remarks)


def _kind_of(options: Options, shape: dict[str, int]) -> dict[str, Any]:
    gated = options.flag("--swiglu")
    found: dict[str, Any] = {"gated": gated, "tied": not options.flag("--untie-embeddings-and-output-weights")}
    if gated and "ffn" not in shape:
        found["ffn"] = max(1, shape["hidden"] * 8 // 3 // 64 * 64)  # Megatron's own choice
    return found


def _positions_of(options: Options, sequence_tokens: int, remarks: Remarks) -> int:
    """Learned positions, which are Megatron's default; 0 where positions are computed."""
    kind = options.text("--position-embedding-type", POSITIONS) or "learned_absolute"
    most = options.whole("--max-position-embeddings")
    rotary = options.flag("--use-rotary-position-embeddings")
    absent = options.flag("--no-position-embedding")
    if kind not in ("learned_absolute", "rope"):
        remarks.warned.append(f"--position-embedding-type {kind}: no parameters are counted for it")
    return (most or sequence_tokens) if kind == "learned_absolute" and not (rotary or absent) else 0


def _attention_of(options: Options, remarks: Remarks) -> dict[str, int]:
    grouped, groups = options.flag("--group-query-attention"), options.whole("--num-query-groups")
    ranks = {field: options.whole(name) for name, field in LATENT}
    if options.flag("--multi-latent-attention"):
        usual = {
            "kv_lora_rank": 32,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        }  # Megatron's own
        found = {field: value or usual.get(field, 0) for field, value in ranks.items()}
        return found if "--kv-channels" in options else {**found, "head_dim": found["qk_nope_head_dim"]}
    if any(value is not None for value in ranks.values()):
        remarks.warned.append(
            "the sizes of latent attention count only with --multi-latent-attention, so they are ignored"
        )
    if groups and not grouped:
        remarks.warned.append("--num-query-groups counts only with --group-query-attention, so it is ignored")
    return {"kv_heads": groups or 1} if grouped else {}


def _experts_of(options: Options, layers: int, remarks: Remarks) -> dict[str, int]:
    found = {field: options.whole(name) for name, field in EXPERTS}
    shared, groups = options.whole("--moe-shared-expert-intermediate-size"), options.whole("--moe-router-num-groups")
    routed, frequency = options.whole("--moe-router-group-topk"), options.text("--moe-layer-freq")
    if not found["experts"]:
        return {}
    shape = {field: value for field, value in found.items() if value is not None}
    shape.setdefault("top_k", 2)  # Megatron's own
    inner = shape.get("moe_ffn") or options.whole("--ffn-hidden-size")
    if shared and inner and shared % inner == 0:
        shape["shared_experts"] = shared // inner
    elif shared:
        remarks.warned.append(
            f"--moe-shared-expert-intermediate-size {shared}: it is no multiple of an expert's inner size, so it is ignored"
        )
    if routed and groups and routed < groups:
        shape["routed_nodes"] = routed
    if frequency:
        shape["dense_layers"] = _dense_layers(frequency, layers)
    return shape


def _dense_layers(text: str, layers: int) -> int:
    """Leading layers without experts, of a pattern such as ([0]*3+[1]*58).

    >>> _dense_layers("([0]*3+[1]*58)", 61)
    3
    """
    bare = text.replace(" ", "")
    inside = bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare
    parts = [PATTERN.fullmatch(part) for part in inside.split("+")]
    if bare == "1":
        return 0
    if not all(parts):
        raise Refusal("--moe-layer-freq", text, "must be 1, or lists of 0 and 1 as in ([0]*3+[1]*58)", "1")
    named = [(part[1].replace(",", ""), int(part[2] or 1)) for part in parts if part]
    fits = sum(len(marks) * times for marks, times in named) == layers <= MOST_LAYERS
    marks = "".join(marks * times for marks, times in named) if fits else ""
    if not marks or "10" in marks:
        rule = f"must name each of the {layers} layers; only leading ones (0) may be without experts"
        raise Refusal("--moe-layer-freq", text, rule, "1")
    return marks.count("0")


def _usual_vocab(options: Options) -> int:
    """The vocabulary of the tokenizer that is named, where that is GPT-2's; else a usual one of today."""
    named = " ".join(value for name in TOKENIZERS if name in options for value in options.given[name].values)
    return GPT2_VOCAB if "gpt2" in named.lower() else USUAL_VOCAB


def _with_known_vocab(model: Model, usual: int, remarks: Remarks) -> Model:
    """The vocabulary of the catalogue's model that is otherwise the same, else a usual one."""
    for name in catalogue():
        known = model_named(name)
        if known.round_parameters is None and known.model_copy(update={"vocab": model.vocab}) == model:
            remarks.assumed.append(
                f"--vocab-size: the tokenizer has it, which is not read; {known.vocab:,} as in {name} is assumed"
            )
            return known
    remarks.assumed.append(f"--vocab-size: the tokenizer has it, which is not read; {usual:,} is assumed")
    return model


def _called(model: Model, remarks: Remarks) -> str | dict[str, Any]:
    name = name_of(model)
    if name is None:
        remarks.assumed.append(
            f"model: no model of the catalogue has this shape ({title_of(model)}), so the shape itself is given"
        )
    return name or shape_of(model)
