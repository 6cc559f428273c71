"""Which layers of a config.json have experts."""

from engine.catalog.hf_config.asked import Asked
from engine.language.refusal import Refusal

FIRST = ("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", "moe_layer_num_skipped")
STEP = ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval")
LISTED = ("mlp_layer_types", "moe_layers", "moe_layer_freq")
MOST_LAYERS = 10_000  # as of a Model
LAST, BARE = "moe_layer_end_index", "mlp_only_layers"
PLACES = (*FIRST, *STEP, *LISTED, LAST, BARE)


def placed(asked: Asked, layers: int, leading: int) -> tuple[int, int] | None:
    """Leading layers without experts, and every how-manieth layer after them has some; None where no layer has.

    leading   dense layers that the family begins with where the file is silent

    >>> placed(Asked({"decoder_sparse_step": 2}), 8, 0)
    (0, 2)
    """
    if layers > MOST_LAYERS:
        return 0, 1  # the shape is refused, before anything is made that long
    found, said = _layers(asked, layers, leading)
    if not found:
        return None
    step = found[1] - found[0] if len(found) > 1 else 1
    # a last expert layer may stand after a wider gap only if the pattern says so
    start = found[0] - step + 1
    if start >= 0 and found == [at for at in range(start, layers) if (at - start + 1) % step == 0]:
        return start, step
    raise Refusal(
        asked.path(said),
        asked.value(said),
        "experts in only some layers are modelled where leading layers go without, or every n-th layer has them",
    )


def _layers(asked: Asked, layers: int, leading: int) -> tuple[list[int], str]:
    """The layers with experts, and the key that says most about it."""
    for key in LISTED:
        if isinstance(asked.value(key), list):
            return _of_list(asked, key, layers), key
    first, step = asked.first(FIRST), asked.first(STEP)
    start = asked.whole(first) if first and asked.value(first) is not None else leading
    each = asked.whole(step) if step and asked.value(step) is not None else 1
    found = [at for at in range(start, layers) if each and (at + 1) % each == 0]
    said = step or first or STEP[0]
    if isinstance(asked.value("moe_layer_freq"), int):
        every = asked.whole("moe_layer_freq")
        found, said = [at for at in found if every and at % every == 0], "moe_layer_freq"
    if isinstance(asked.value(LAST), int) and asked.value(LAST) >= 0:
        found, said = [at for at in found if at <= asked.whole(LAST)], LAST
    if bare := asked.texts(BARE):
        found, said = [at for at in found if at not in bare], BARE
    return found, said


def _of_list(asked: Asked, key: str, layers: int) -> list[int]:
    listed = asked.texts(key) or []
    if key == "moe_layers":
        return sorted({at for at in listed if isinstance(at, int) and 0 <= at < layers})
    if len(listed) < layers:
        raise Refusal(asked.path(key), listed, f"must name each of the {layers} layers")
    return [at for at, kind in enumerate(listed[:layers]) if kind in ("sparse", 1)]
