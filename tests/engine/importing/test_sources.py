"""Each source: its texts are known for its own, its settings find their place, and no text of its kind breaks it."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.importing import SOURCES, read
from engine.importing.megatron_kinds import KINDS as MEGATRON
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

SHAPE = "--num-layers 80 --hidden-size 8192 --num-attention-heads 64 --group-query-attention --num-query-groups 8"
NEMO = """
trainer: {devices: 8, num_nodes: 16, precision: bf16-mixed, max_steps: 100}
model:
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 5
  sequence_parallel: true
  micro_batch_size: 1
  global_batch_size: 128
  encoder_seq_length: 4096
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 80
  hidden_size: 8192
  ffn_hidden_size: 28672
  num_attention_heads: 64
  num_query_groups: 8
  activation: fast-swiglu
  position_embedding_type: rope
  share_embeddings_and_output_weights: false
  activations_checkpoint_granularity: selective
  cpu_offloading: true
  optim: {name: distributed_fused_adam, lr: 1e-4}
"""
NEOX = """
# trained on 96 GPUs
{
  "pipe-parallel-size": 4, "model-parallel-size": 2, "num_gpus": 96,
  "num-layers": 44, "hidden-size": 6144, "num-attention-heads": 64, "seq-length": 2048,
  "pos-emb": "rotary", "no-weight-tying": true,
  "zero_optimization": {"stage": 1, "overlap_comm": True},
  "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 32,
  "checkpoint-activations": true, "partition-activations": true,
  "fp16": {"enabled": true},
}
"""
NANOTRON = """
general: {project: debug}
model:
  dtype: bfloat16
  model_config: {hidden_size: 512, intermediate_size: 1024, num_attention_heads: 8, num_hidden_layers: 4, num_key_value_heads: 4,
                 tie_word_embeddings: false, vocab_size: 1000}
optimizer: {zero_stage: 1, accumulate_grad_in_fp32: false}
parallelism: {dp: 2, tp: 2, pp: 2, pp_engine: afab, tp_mode: REDUCE_SCATTER, recompute_layer: true}
tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 3, sequence_length: 256, train_steps: 10}
"""
ACCELERATE = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true, fsdp_activation_checkpointing: true, fsdp_offload_params: true}
parallelism_config: {parallelism_config_dp_replicate_size: 2, parallelism_config_dp_shard_size: 4, parallelism_config_tp_size: 2}
"""
DEEPSPEED = {
    "train_batch_size": 256,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
    "bf16": {"enabled": True},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
CONFIG = {"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000}  # fmt: skip
OLD_TITAN = """[model]
name = "llama3"
flavor = "8B"
[training]
batch_size = 2
seq_len = 8192
tensor_parallel_degree = 2
data_parallel_shard_degree = 4
compile = true
[experimental]
pipeline_parallel_degree = 2
"""

# text, what comes of it, and a word of what is warned of
TEXTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "nemo": (
        NEMO,
        {"gpus": 128, "model": "llama-3-70b", "sequence_tokens": 4096, "precision": "bf16",
         "layout.tp": 4, "layout.pp": 2, "layout.vp": 5, "layout.schedule": "interleaved", "layout.dp": 16, "layout.micro_batches": 8,
         "layout.zero": 1, "layout.recompute": "selective", "layout.sequence_parallel": True},
        "cpu_offloading",
    ),
    "gpt-neox": (
        NEOX,
        {"gpus": 96, "precision": "fp16", "stack": "megatron-deepspeed", "layout.pp": 4, "layout.tp": 2, "layout.dp": 12,
         "layout.micro_batch": 4, "layout.micro_batches": 32, "layout.zero": 1, "layout.recompute": "full", "model.layers": 44,
         "model.positions": 0, "model.tied": False},
        "partition-activations",
    ),
    "nanotron": (
        NANOTRON,
        {"gpus": 8, "precision": "bf16", "layout.dp": 2, "layout.tp": 2, "layout.pp": 2, "layout.schedule": "gpipe",
         "layout.micro_batch": 2, "layout.micro_batches": 3, "layout.zero": 1, "layout.gradient_bytes": 2, "layout.recompute": "full",
         "layout.sequence_parallel": True, "model.layers": 4, "model.kv_heads": 4, "model.gated": True, "model.tied": False},
        "",
    ),
    "fsdp2": (
        ACCELERATE,
        {"gpus": 16, "precision": "bf16", "stack": "fsdp2", "layout.tp": 2, "layout.dp": 8, "layout.zero": 3, "layout.hsdp_shard": 4,
         "layout.recompute": "full"},
        "fsdp_offload_params",
    ),
    "deepspeed": (
        json.dumps(DEEPSPEED, indent=1),
        {"gpus": 32, "stack": "megatron-deepspeed", "precision": "bf16", "layout.zero": 3, "layout.dp": 32, "layout.micro_batch": 4,
         "layout.micro_batches": 2},
        "offload_optimizer",
    ),
    "config": (json.dumps(CONFIG), {"gpus": 8, "model.layers": 4, "layout.tp": 8, "layout.pp": 1}, ""),
    "torchtitan": (
        OLD_TITAN,
        {"gpus": 16, "model": "llama-3-8b", "stack": "fsdp2-compiled", "layout.tp": 2, "layout.pp": 2, "layout.dp": 4},
        "",
    ),
    "megatron": (
        f"NNODES=2 GPUS_PER_NODE=8 python pretrain_gpt.py {SHAPE} --micro_batch_size 2 --checkpoint-activations --fp16 --cpu-offloading",
        {"gpus": 16, "precision": "fp16", "layout.micro_batch": 2, "layout.recompute": "full", "layout.dp": 16},
        "--cpu-offloading",
    ),
}  # fmt: skip


def at(text: str, path: str) -> Any:
    found = read(text)
    document = {**found.document, "model": found.document["model"]}
    if path.startswith("model."):
        return getattr(scenario_from(document).model, path.removeprefix("model."))
    part, _, name = path.rpartition(".")
    return document[part][name] if part else document[name]


def test_every_source_has_a_text() -> None:
    assert set(TEXTS) == set(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_text_is_known_for_its_own_and_its_settings_find_their_place(name: str) -> None:
    text, expected, warned = TEXTS[name]
    found = read(text)
    assert found.source == name
    assert {path: at(text, path) for path in expected} == expected
    assert not found.unknown
    assert not warned or any(warned in sentence for sentence in found.warned)
    scenario_from(found.document)


@pytest.mark.parametrize("name", SOURCES)
def test_each_setting_that_is_read_stands_on_its_line(name: str) -> None:
    text = TEXTS[name][0]
    lines = text.splitlines()
    for taken in read(text).taken:
        last = taken.said.replace("=", " ").split()[0].rpartition(".")[2]
        assert last in lines[taken.line - 1], taken
        assert taken.place, taken


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.kinds.warned])
def test_each_setting_is_of_one_kind(name: str) -> None:
    kinds = SOURCES[name].kinds
    assert not set(kinds.acts) & set(kinds.warned)
    assert all(kinds.named(old) in {*kinds.acts, *kinds.warned} for old in kinds.spellings)
    assert not [old for old in kinds.spellings if old in kinds.acts]


@pytest.mark.parametrize("option", MEGATRON.acts)
def test_each_option_that_acts_is_asked_for(option: str) -> None:
    """What the list says is read is read; a flag that is given a value is refused by its name."""
    experts = "--num-experts 8 --moe-layer-freq 1 --use-torch-fsdp2"
    spoiled = f"{option} x y" if option in MEGATRON.flags else option
    text = " ".join(["--bf16"] * (option not in ("--bf16", "--fp16")) + [SHAPE, experts, spoiled])
    try:
        asked = " ".join(taken.said for taken in read(text).taken)
    except Refusal as refusal:
        asked = refusal.sentence
    assert option in asked


SPOILS = st.sampled_from(
    ["", "x", -1, 0, 1.5, "1e9", None, True, [1], {"a": 1}, 10**20, "auto", "${a.b}", "8", "null", "\u0668"]
)


def spoiled(value: Any, path: list[str], by: Any) -> Any:
    if not path or not isinstance(value, dict):
        return by
    return {**value, path[0]: spoiled(value.get(path[0]), path[1:], by)}


def paths(value: Any, above: tuple[str, ...] = ()) -> list[list[str]]:
    if not isinstance(value, dict) or not value:
        return [list(above)]
    return [path for key, part in value.items() for path in paths(part, (*above, str(key)))]


FILES = {name: yaml.safe_load(text) for name, (text, _, _) in TEXTS.items() if name not in ("torchtitan", "megatron")}


@settings(max_examples=500, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(FILES)), as_json=st.booleans())
def test_a_spoiled_file_is_read_or_refused_in_a_sentence(data: st.DataObject, name: str, as_json: bool) -> None:
    file = FILES[name]
    changed = spoiled(file, data.draw(st.sampled_from(paths(file))), data.draw(SPOILS))
    try:
        found = read(json.dumps(changed) if as_json else yaml.safe_dump(changed))
        scenario_from(found.document)
    except Refusal as refusal:
        assert "\n" not in refusal.sentence
        return
    assert all("\n" not in sentence for sentence in found.notes)


SIGNS = st.sampled_from(["trainer:", "model:", "parallelism:", "tokens:", "num_processes:", "{", "}", "[", "]", ":", " ", "\n", "  ", "-", "&a", "*a", "!!python/object:os.system",
                         "'", '"', "8", "true", "|", ">", "#", "? ", "train_batch_size", ",", "---\n", "<<: ", "1e400", ".inf", "2001-01-01", "\t"])  # fmt: skip


@settings(max_examples=700, deadline=None)
@given(pieces=st.lists(SIGNS, max_size=30))
def test_any_file_is_read_or_refused_in_a_sentence(pieces: list[str]) -> None:
    for start in (
        "distributed_type: FSDP\n",
        "parallelism:\n  dp: 2\ntokens: ",
        '{"train_batch_size": ',
        "trainer:\n  micro_batch_size: 1\nmodel: ",
    ):
        try:
            scenario_from(read(start + "".join(pieces)).document)
        except Refusal as refusal:
            assert "\n" not in refusal.sentence


BOMBS = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntrainer: {micro_batch_size: 1}\nmodel: *c\n",
    "deep YAML": "trainer: {micro_batch_size: 1}\nmodel: " + "[" * 5_000,
    "deep JSON": '{"train_batch_size": ' + "[" * 5_000,
    "deep tables": '{"train_batch_size": ' + '{"a": ' * 1_500 + "1" + "}" * 1_500 + "}",
    "deep mapping": "distributed_type: FSDP\n" + "a: {" * 900 + "}" * 900,
    "digits": '{"train_batch_size": ' + "9" * 5_000 + "}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_makes_much_out_of_little_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(BOMBS[name])
    assert len(refused.value.sentence) < 600


STOPS = {
    "layers that do not divide": ("--num-layers 42 --hidden-size 1024 --num-attention-heads 16 --pipeline-model-parallel-size 4", "42 layers are no multiple of 4 stages"),
    "chunks that do not divide": (f"{SHAPE} --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 3", "4 stages of 3 chunks"),
    "experts cut over ranks": (f"{SHAPE} --num-experts 8 --tensor-model-parallel-size 2", "need --sequence-parallel"),
    "micro-batches": (f"{SHAPE} --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 --global-batch-size 6", "multiple of 4 micro-batches, and has 6"),
    "chunks without a pipeline": (f"{SHAPE} --num-virtual-stages-per-pipeline-rank 2", "above 1"),
    "a sequence": (f"{SHAPE} --context-parallel-size 4 --seq-length 4100", "multiple of 2 x"),
    "recomputation": (f"{SHAPE} --recompute-granularity full", "--recompute-method uniform or block"),
    "ZeRO beside a pipeline": (f"{SHAPE} --zero-stage 2 --pipeline-model-parallel-size 4", "ZeRO 0 and 1 only"),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_what_megatron_stops_at_is_warned_of(name: str) -> None:
    text, words = STOPS[name]
    assert any("Megatron-LM stops at this" in each and words in each for each in read(f"--bf16 {text}").warned)


def test_uneven_stages_that_megatron_takes_are_not_warned_of() -> None:
    text = "--bf16 --num-layers 42 --hidden-size 1024 --num-attention-heads 16 --pipeline-model-parallel-size 4"
    for more in (
        "--decoder-first-pipeline-num-layers 9 --decoder-last-pipeline-num-layers 9",
        "--pipeline-model-parallel-layout Et*9|t*12|t*12|t*9L",
    ):
        assert not any("stops at this" in each for each in read(f"{text} {more}".replace("|", "\\|")).warned)
    ends = "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split"
    assert not any("stops at this" in each for each in read(f"{text} {ends}").warned)


def test_torchtitan_without_a_batch_or_a_model_says_what_is_assumed() -> None:
    found = read("[parallelism]\ndata_parallel_shard_degree = 8\n")
    assert "training.local_batch_size: it is not given, so torchtitan's own default is assumed, 8." in found.assumed
    assert any(each.startswith("model.flavor: the text has none") for each in found.assumed)
    assert "debugmodel" not in str(found)


@pytest.mark.parametrize(
    ("front", "gpus"),
    [
        ("GPUS_PER_NODE=8 NNODES=8 torchrun", 64),
        ("GPUS_PER_NODE=8\nNNODES=8\ntorchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES", 64),
        ("WORLD_SIZE=64 python", 64),
        ("#SBATCH --nodes=8\n#SBATCH --gpus-per-node=8\nsrun python", 64),
        ("#SBATCH -N 8\n#SBATCH --ntasks-per-node=8\nsrun python", 64),
        ("#SBATCH --nodes=8\n#SBATCH --gres=gpu:h100:8\nsrun torchrun --nnodes $SLURM_NNODES --nproc-per-node 8", 64),
        ("python -m torch.distributed.launch --nnodes 8 --nproc_per_node 8", 64),
        ("deepspeed --num_nodes 8 --num_gpus 8", 64),
    ],
)
def test_gpus_are_counted_wherever_they_stand(front: str, gpus: int) -> None:
    found = read(f"{front} pretrain_gpt.py {SHAPE} --bf16")
    assert found.document["gpus"] == gpus
    assert any(taken.place == "gpus" for taken in found.taken)
    assert not any(each.startswith("gpus:") for each in found.assumed)
