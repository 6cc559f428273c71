"""torchtitan: a pasted TOML file as a scenario document."""

from typing import Any

from engine.catalog.hardware import cluster_named
from engine.catalog.model import Model
from engine.export.flavors import model_of_flavor
from engine.export.run_length import training_of
from engine.export.torchtitan import NAME, TITLE
from engine.export.torchtitan_gaps import CONVERTERS
from engine.export.torchtitan_layout import ORDER
from engine.importing.beside import said_beside
from engine.importing.imported import Imported, Remarks, Taken, assumed_cluster, imported
from engine.importing.megatron_shape import USUAL_MODEL
from engine.importing.source import Source
from engine.importing.tables import Tables, tables_of
from engine.importing.torchtitan_kinds import KINDS
from engine.language.choice import nearest
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES, USUAL
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.scenario import model_from

AXES = (("tp", "tensor"), ("cp", "context"), ("ep", "expert"), ("pp", "pipeline"))
LIKE_INTERLEAVED = ("interleavedzerobubble", "loopedbfs")
MODES = ("selective", "full", "memory_budget", "none")
POLICIES = ("default", "always", "never")
TABLES = (
    "job",
    "profiling",
    "metrics",
    "model",
    "optimizer",
    "lr_scheduler",
    "training",
    "parallelism",
    "checkpoint",
    "activation_checkpoint",
    "compile",
    "quantize",
    "comm",
    "memory_estimation",
    "fault_tolerance",
    "experimental",
    "validation",
    "debug",
    "float8",
    "mx",
)


def read(text: str) -> Imported:
    """The scenario document of a torchtitan TOML file. What a file leaves out has torchtitan's own default, and is said.

    >>> read("[model]\\nname = 'llama3'\\nflavor = '8B'\\n[parallelism]\\ndata_parallel_shard_degree = 8").document["gpus"]
    8
    """
    tables, remarks = _tables(text), Remarks()
    model = _model(tables, text, remarks)
    sequence = _usual(tables, "training.seq_len", 2048, remarks)
    degrees = {axis: tables.whole(f"parallelism.{name}_parallel_degree", 1) for axis, name in AXES}
    layout = _layout(tables, degrees, model_from(model), remarks)
    precision = _precision(tables, remarks)
    cluster = assumed_cluster(precision)
    remarks.assumed.append(f"cluster: the file names no GPUs; {cluster_named(cluster).title} is assumed")
    batch = layout["dp"] * layout["micro_batch"] * layout["micro_batches"]
    document = {
        "model": model,
        "cluster": cluster,
        "gpus": degrees["tp"] * degrees["cp"] * degrees["pp"] * layout["dp"],
        "sequence_tokens": sequence,
        "precision": precision,
        "layout": layout,
        "stack": "fsdp2-compiled" if tables.flag("compile.enable") else "fsdp2",
        **training_of(_usual(tables, "training.steps", 10_000, remarks) * batch * sequence),
    }
    taken: list[Taken] = []
    tables.sort(KINDS, taken, remarks)
    return imported(NAME, document, taken, remarks)


def _tables(text: str) -> Tables:
    """The file's settings under the names of today, or a Refusal where one stands in no table of torchtitan's."""
    tables = tables_of(text)
    for name, value in tables.given.items():
        table, dot, _ = name.partition(".")
        if not dot or table not in TABLES:
            rule = f"settings stand in torchtitan's own tables: {', '.join(TABLES)}"
            raise Refusal(name, value, rule, nearest(table, TABLES))
    return tables.known_as(KINDS)


def _layout(tables: Tables, degrees: dict[str, int], shape: Model, remarks: Remarks) -> dict[str, Any]:
    _ignored_experts(tables, degrees, remarks)
    if shape.kv_heads % degrees["tp"]:
        remarks.warned.append(
            f"torchtitan stops at this: tensor_parallel_degree {degrees['tp']} does not divide the {shape.kv_heads} key "
            "and value heads"
        )
    return {
        **degrees,
        **_data(tables, degrees, remarks),
        **_schedule(tables, degrees["pp"], shape.layers),
        "recompute": _recompute(tables, remarks),
        "gradient_bytes": 4,
        "sequence_parallel": True,
        "rank_order": ORDER,
    }


def _model(tables: Tables, text: str, remarks: Remarks) -> Any:
    """The model beside the settings, or the catalogue's name of the flavor; the usual one where there is none, which is said."""
    name, flavor = tables.text("model.name", "llama3"), tables.text("model.flavor", "")
    beside = next((value for _, path, value in said_beside(text) if path == "model"), None)
    if beside is not None:
        return beside
    if flavor:
        return model_of_flavor(name, flavor)
    remarks.assumed.append(
        f"model.flavor: the text has none, so choose the model on the page; until then {USUAL_MODEL} is assumed"
    )
    return USUAL_MODEL


def _usual(tables: Tables, name: str, usual: int, remarks: Remarks) -> int:
    """A setting that has a default of torchtitan's own, which is said where it counts."""
    if name not in tables:
        remarks.assumed.append(f"{name}: it is not given, so torchtitan's own default is assumed, {usual:,}")
    return tables.whole(name, usual)


def _data(tables: Tables, degrees: dict[str, int], remarks: Remarks) -> dict[str, Any]:
    """Data-parallel ranks, what they shard, and how the batch is cut over them."""
    copies, shard = (
        tables.whole("parallelism.data_parallel_replicate_degree", 1),
        tables.whole("parallelism.data_parallel_shard_degree", -1, -1),
    )
    local = _usual(tables, "training.local_batch_size", 8, remarks)
    whole = tables.whole("training.global_batch_size", -1, -1)
    piece = tables.whole("parallelism.pipeline_parallel_microbatch_size", 1)
    if shard < 1:
        shard = _left_over(local, whole, copies, degrees, remarks)
    dp = copies * shard
    if whole > 0 and whole % (local * dp):
        rule = f"must be a multiple of local_batch_size {local} x {dp} data-parallel ranks = {local * dp}"
        raise Refusal("training.global_batch_size", whole, rule, str(max(1, whole // (local * dp)) * local * dp))
    rounds = whole // (local * dp) if whole > 0 else 1
    found = {"dp": dp, **_zero(tables, copies, shard, degrees, remarks)}
    if degrees["pp"] == 1:
        return {**found, "micro_batch": local, "micro_batches": rounds}
    if local % piece:
        raise Refusal(
            "training.local_batch_size",
            local,
            f"must be a multiple of pipeline_parallel_microbatch_size {piece}",
            str(max(1, local // piece) * piece),
        )
    return {**found, "micro_batch": piece, "micro_batches": local // piece * rounds}


def _left_over(local: int, whole: int, copies: int, degrees: dict[str, int], remarks: Remarks) -> int:
    """Ranks that shard where the file leaves that to the launcher: what the batch says, else what fills a node."""
    if whole > 0 and whole % (local * copies) == 0:
        remarks.assumed.append(
            "parallelism.data_parallel_shard_degree: the launcher's GPUs decide it; as many are assumed as the global batch "
            "needs without accumulation"
        )
        return whole // (local * copies)
    node = cluster_named(assumed_cluster()).gpus_per_node
    remarks.assumed.append(
        f"parallelism.data_parallel_shard_degree: the launcher's GPUs decide it; a node of {node} is assumed"
    )
    return max(1, node // (copies * degrees["tp"] * degrees["cp"] * degrees["pp"]))


def _zero(tables: Tables, copies: int, shard: int, degrees: dict[str, int], remarks: Remarks) -> dict[str, Any]:
    policy = tables.text("parallelism.fsdp_reshard_after_forward", "default", POLICIES)
    if shard * degrees["cp"] == 1:  # DDP, or one rank
        return {"zero": 0}
    if copies > 1:
        if policy == "never":
            remarks.warned.append(
                "parallelism.fsdp_reshard_after_forward = never: groups that replicate shard everything on this board"
            )
        return {"zero": 3, "hsdp_shard": shard * degrees["cp"]}
    if policy == "default" and degrees["pp"] > 1:
        remarks.warned.append(
            "parallelism.fsdp_reshard_after_forward: beside a pipeline torchtitan keeps gathered weights between the passes, "
            "which is nearest to ZeRO-2"
        )
        return {"zero": 2}
    return {"zero": 2 if policy == "never" else 3}


def _schedule(tables: Tables, pp: int, layers: int) -> dict[str, Any]:
    name = "parallelism.pipeline_parallel_schedule"
    given = tables.text(name, "1F1B")
    theirs = {schedule.torch_name: schedule for schedule in SCHEDULES.values() if schedule.torch_name}
    ours = {spelled.lower(): schedule for spelled, schedule in theirs.items()}
    found = ours.get(given.lower(), INTERLEAVED if given.lower() in LIKE_INTERLEAVED else None)
    first, last = (
        tables.whole(f"parallelism.pipeline_parallel_{end}_stage_less_layers", 1, 0) for end in ("first", "last")
    )
    each = tables.whole("parallelism.pipeline_parallel_layers_per_stage", 0)
    if found is None:
        raise Refusal(name, given, f"must be one of {', '.join(theirs)}", nearest(given, theirs))
    if not found.takes_chunks or pp == 1:
        return {"schedule": USUAL.name if found.takes_chunks else found.name, "vp": 1}
    chunks = -(-(layers + first + last) // each) if each else 2 * pp
    if chunks % pp:
        raise Refusal(
            "parallelism.pipeline_parallel_layers_per_stage",
            each,
            f"makes {chunks} chunks, which {pp} stages do not divide",
        )
    return {"schedule": found.name, "vp": chunks // pp}


def _recompute(tables: Tables, remarks: Remarks) -> str:
    mode = tables.text("activation_checkpoint.mode", "selective", MODES)
    option = tables.text("activation_checkpoint.selective_ac_option", "2")
    if mode == "memory_budget" or (mode == "selective" and option != "op"):
        remarks.warned.append(
            f"activation_checkpoint.mode = {mode}: it keeps other activations than this board's selective recomputation"
        )
    return "selective" if mode == "memory_budget" else mode


def _ignored_experts(tables: Tables, degrees: dict[str, int], remarks: Remarks) -> None:
    cut = tables.whole("parallelism.expert_tensor_parallel_degree", 1)
    if degrees["ep"] > 1 and cut > 1:
        remarks.warned.append(
            f"parallelism.expert_tensor_parallel_degree = {cut}: on this board experts that are spread stay whole"
        )


def _precision(tables: Tables, remarks: Remarks) -> str:
    converters = tables.texts("model.converters")
    param = tables.text("training.mixed_precision_param", "bfloat16", ("bfloat16", "float32"))
    tables.text("training.mixed_precision_reduce", "float32", ("float32",))
    kept = tables.text("training.dtype", "float32", ("bfloat16", "float32"))
    if param == "float32" or kept == "bfloat16":
        remarks.warned.append(
            f"training.mixed_precision_param = {param}, training.dtype = {kept}: this board computes in BF16 with FP32 master weights"
        )
    if CONVERTERS["mxfp8"] in converters:
        return "mxfp8"
    return "fp8" if CONVERTERS["fp8"] in converters else "bf16"


SOURCE = Source(NAME, TITLE, "a torchtitan TOML", lambda kind, text: kind == "toml", read, KINDS)
