"""Which flavor of torchtitan has the shape of which model of the catalogue."""

from engine.catalog.model import Model, catalogue, model_named
from engine.export.named import name_of
from engine.language.choice import nearest
from engine.language.refusal import Refusal

# (model.name, model.flavor): model of the catalogue, which names the flavor. A test compares the shapes with torchtitan's own.
FLAVORS: dict[tuple[str, str], str] = {
    tuple(entry["torchtitan"]): name for name, entry in catalogue().items() if "torchtitan" in entry
}
WITHOUT_STAGES = ("qwen3",)  # models that torchtitan cannot cut into pipeline stages
VARIANTS = ("_flex", "_varlen", "_flex_attn", "_varlen_attn")  # another attention kernel, the same shape
CUSTOM = "custom"


def flavor_of(model: Model) -> tuple[str, str, bool]:
    """Name and flavor, and whether torchtitan has it: where not, the catalogue's name stands for one to be added.

    >>> flavor_of(model_named("llama-3-70b")), flavor_of(model_named("gpt3-175b"))
    (('llama3', '70B', True), ('llama3', 'gpt3-175b', False))
    """
    real = model.model_copy(update={"round_parameters": None})
    known = next((key for key, name in FLAVORS.items() if model_named(name).stands_for(real)), None)
    if known:
        return (*known, True)
    family = "deepseek_v3" if model.latent else "qwen3" if model.experts else "llama3"
    return family, name_of(model) or CUSTOM, False


def model_of_flavor(name: str, flavor: str) -> str:
    """The catalogue's name of a flavor, or a Refusal: torchtitan keeps a flavor's shape in its own Python files."""
    bare = next((flavor.removesuffix(end) for end in VARIANTS if flavor.endswith(end)), flavor)
    if found := FLAVORS.get((name, bare)):
        return found
    if flavor in catalogue():
        return flavor
    known = [f"{other} {size}" for other, size in FLAVORS]
    near = nearest(f"{name} {flavor}", known)
    rule = f"the text holds no shape, and known flavors are {', '.join(known)}; a name of the catalogue works too"
    raise Refusal("model.flavor", f"{name} {flavor}", rule, near or known[0])
