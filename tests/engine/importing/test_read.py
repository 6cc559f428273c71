"""Pasted text is read or refused in one sentence, and nothing in it is ever run or looked up."""

import builtins
import contextlib
import os
import subprocess
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.importing import LONGEST, SOURCES, read
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

MODEL = (
    "--num-layers 80 --hidden-size 8192 --num-attention-heads 64 --group-query-attention --num-query-groups 8 --ffn-hidden-size 28672 "
    "--vocab-size 128256 --swiglu --untie-embeddings-and-output-weights --position-embedding-type rope --seq-length 8192"
)
DEGREES = "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --sequence-parallel --bf16"
BATCH = "--micro-batch-size 1 --global-batch-size 512"
WHOLE: str = f"{MODEL} {DEGREES} {BATCH} --use-distributed-optimizer"
TORCHRUN = "torchrun --nnodes 128 --nproc-per-node 8 pretrain_gpt.py"
TITAN = '[model]\nname = "llama3"\nflavor = "70B"\n[training]\nlocal_batch_size = 4\n[parallelism]\ndata_parallel_shard_degree = 32\ntensor_parallel_degree = 8\n'


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading starts no process, opens no file and evaluates no text."""

    def forbidden(*_args: object, **_named: object) -> None:
        raise AssertionError("something was run, opened or evaluated")

    # what the engine reads of its own catalogue is read before
    scenario_from(read(WHOLE).document)
    for owner, name in (
        (subprocess, "Popen"),
        (os, "system"),
        (os, "popen"),
        (builtins, "eval"),
        (builtins, "exec"),
        (builtins, "open"),
        (os, "getenv"),
        (os.path, "expandvars"),
    ):
        monkeypatch.setattr(owner, name, forbidden)


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    "text",
    [
        f"{TORCHRUN} {WHOLE}",
        f"python -m torch.distributed.run --nnodes=128 --nproc_per_node=8 pretrain_gpt.py {WHOLE}",
        f"python3 -m torch.distributed.launch --nnodes 128:128 --nproc_per_node 8 --master_addr localhost --master_port 6000 pretrain_gpt.py {WHOLE}",
        f"CUDA_DEVICE_MAX_CONNECTIONS=1 NCCL_DEBUG='WARN' {TORCHRUN} {WHOLE}",
        "#!/bin/bash\n# the card\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n\n"
        + f"{TORCHRUN} {WHOLE}\n".replace(" --", " \\\n  --"),
        f"{TORCHRUN} {WHOLE}  # the end".replace(" --", "\n--"),
        f"{TORCHRUN} {WHOLE}".replace("-size 8 ", "-size=8 ").replace("--bf16", "'--bf16'"),
        f"{TORCHRUN} {WHOLE}".replace(" --", " \\\r\n  --"),
    ],
)
def test_the_card_is_read_however_it_is_written(text: str) -> None:
    scenario = scenario_from(read(text).document)
    layout = scenario.layout
    assert (scenario.gpus, layout.tp, layout.pp, layout.dp, layout.micro_batches, layout.zero) == (
        1024,
        8,
        4,
        32,
        16,
        1,
    )
    assert scenario.model.layers == 80 and read(text).document["model"] == "llama-3-70b"


REFUSED = {
    "command substitution": ("--tensor-model-parallel-size $(nproc)", ("$(nproc)", "line 1", "not run", "write its result")),
    "backticks": ("--tensor-model-parallel-size `id`", ("`id`", "not run")),
    "in double quotes": ('--tensor-model-parallel-size "$(id)"', ("$(id)", "write its result")),
    "set under what is not decided": (f"if [ -f x ]; then\n TP=8\nfi\n{TORCHRUN} {WHOLE}".replace("parallel-size 8", "parallel-size $TP"), ("$TP", "set on line 2")),
    "arithmetic without end": ("A=$((8*2\ntorchrun x.py --bf16", ("line 1", ") is missing")),
    "a power": (f"A=$((2**9999))\n{TORCHRUN} {WHOLE}".replace("parallel-size 8", "parallel-size $A"), ("$((2**9999))", "product")),
    "divided by nothing": (f"A=$((8/0))\n{TORCHRUN} {WHOLE}".replace("parallel-size 8", "parallel-size $A"), ("by zero",)),
    "doubled without end": ("A=--bf16\n" + "A=$A$A\n" * 40 + "torchrun x.py $A", ("too long to read",)),
    "a command that starts nothing": ("rm --recursive /", ("command = rm --recursive /", "torchrun")),
    "variable": ("torchrun pretrain_gpt.py --tensor-model-parallel-size $TP", ("$TP", "write the value itself")),
    "eval": (f"eval {WHOLE}", ("command = eval", "torchrun")),
    "an array": ("ARGS=(--num-layers 8)", ("--hidden-size", "needed")),
    "single quote": (f"{WHOLE} --data-path 'a", ("'a", "not closed")),
    "double quote": (f'{WHOLE} --data-path "a', ('"a', "not closed")),
    "NUL": (f"{WHOLE}\0", ("\\x00", "control characters")),
    "escape": (f"{WHOLE}\x1b[31m", ("\\x1b", "control characters")),
    "huge": (WHOLE.replace("128256", "1e9999"), ("--vocab-size = 1e9999", "whole number")),
    "many digits": (WHOLE.replace("128256", "9" * 5000), ("--vocab-size = 999", "whole number")),
    "negative": (WHOLE.replace("--num-layers 80", "--num-layers -3"), ("--num-layers = -3", "whole number", "at least 1", "works: 1")),
    "zero": (WHOLE.replace("parallel-size 8", "parallel-size 0"), ("--tensor-model-parallel-size = 0", "at least 1")),
    "a word": (WHOLE.replace("parallel-size 8", "parallel-size eight"), ("--tensor-model-parallel-size = eight", "whole number")),
    "other digits": (WHOLE.replace("parallel-size 8", "parallel-size ８"), ("--tensor-model-parallel-size = ８", "whole number")),
    "twice, spelled as of old": (f"{WHOLE} --batch-size 4", ("--batch-size", "given twice")),
    "twice": (f"{WHOLE} --num-layers 81", ("--num-layers", "given twice")),
    "without value": (f"{WHOLE} --train-iters", ("--train-iters", "needs a value")),
    "two values": (WHOLE.replace("--num-layers 80", "--num-layers 80 81"), ("--num-layers = 80 81", "one value")),
    "a flag with one": (f"{WHOLE} --swiglu true".replace("--swiglu ", "", 1), ("--swiglu = true", "takes no value")),
    "no such choice": (f"{WHOLE} --recompute-granularity ful", ("--recompute-granularity = ful", "selective", "works: full")),
    "both": (f"{WHOLE} --fp16", ("--fp16", "--bf16")),
    "a batch that does not divide": (f"{TORCHRUN} {WHOLE}".replace("512", "500"), ("--global-batch-size = 500", "multiple of 32", "480 or 512")),
    "GPUs that do not divide": (f"{TORCHRUN} {WHOLE}".replace("--nnodes 128", "--nnodes 127"), ("gpus = 1016", "32", "992")),
    "a range of nodes": (f"{TORCHRUN} {WHOLE}".replace("--nnodes 128", "--nnodes 1:128"), ("--nnodes = 1:128", "128")),
    "half a model": ("--num-layers 80 --bf16", ("--hidden-size", "needed")),
    "a pattern with code": (f"{WHOLE} --num-experts 8 --moe-layer-freq __import__", ("--moe-layer-freq = __import__", "lists of 0 and 1")),
    "a pattern without end": (f"{WHOLE} --num-experts 8 --moe-layer-freq '[1]*99999'", ("--moe-layer-freq", "80 layers")),
    "a layout with code": (f"{WHOLE} --pipeline-model-parallel-layout 'E|x'", ("--pipeline-model-parallel-layout = E|x", "made of")),
    "a layout that does not divide": (f"{WHOLE} --pipeline-model-parallel-layout 'E|t*80|L'", ("has 3 stages", "4")),
    "two ways of chunks": (f"{WHOLE} --num-virtual-stages-per-pipeline-rank 2 --num-layers-per-virtual-pipeline-stage 5", ("beside", "one of them")),
    "a word first": ("torchrun pretrain_gpt.py fast --bf16", ("argument = fast", "begin with --")),
    "torchtitan's line": ("torchrun --standalone --nproc-per-node 8 -m torchtitan.train --job.config_file train.toml", ("torchtitan.train", "TOML")),
    "DeepSpeed's line": ("torchrun --nproc-per-node 8 train.py --deepspeed --deepspeed_config ds_config.json", ("no option of Megatron-LM",)),
    "no script": ("torchrun --nproc-per-node 8 --bf16", ("script", "pretrain_gpt.py")),
    "another module": ("python -m http.server x.py --bf16", ("python -m = http.server", "torch.distributed.run")),
    "too long": ("--bf16 " * 3_000, ("21,000", "20,000")),
    "empty": (" \n\t", ("empty", "Megatron-LM", "torchtitan")),
    "prose": ("How do I train a model?", ("nobody knows it", "Megatron-LM", "torchtitan", "NeMo")),
    "TOML without end": (TITAN + 'x = "', ("no TOML", "unterminated")),
    "TOML twice": (TITAN + "tensor_parallel_degree = 4\n", ("no TOML", "overwrite")),
    "TOML text for a number": (TITAN.replace("degree = 8", 'degree = "8"'), ("parallelism.tensor_parallel_degree = 8", "whole number")),
    "TOML yes for a number": (TITAN.replace("degree = 8", "degree = true"), ("parallelism.tensor_parallel_degree = True", "whole number")),
    "TOML infinite": (TITAN.replace("degree = 8", "degree = 1e9999"), ("parallelism.tensor_parallel_degree = inf", "whole number")),
    "TOML negative": (TITAN.replace("degree = 8", "degree = -8"), ("parallelism.tensor_parallel_degree = -8", "works: 1")),
    "TOML huge": (TITAN.replace("degree = 8", "degree = " + "9" * 5000), ("no TOML", "digits")),
    "TOML list for a text": (TITAN.replace('"70B"', "[1]"), ("model.flavor = [1]", "text in quotes")),
    "TOML flavor": (TITAN.replace('"70B"', '"71B"'), ("model.flavor = llama3 71B", "no shape", "works: llama3 70B")),
    "TOML table": (TITAN + "[parallel]\nx = 1\n", ("parallel.x", "own tables", "works: parallelism")),
    "TOML no table": ("model = 3\n", ("model = 3", "stand in", "tables")),
    "TOML schedule": (TITAN + 'pipeline_parallel_schedule = "1F1C"\n', ("pipeline_parallel_schedule = 1F1C", "works: 1F1B")),
    "TOML converters": (TITAN.replace("[training]", "converters = 'fp8'\n[training]"), ("model.converters = fp8", "list of texts")),
    "TOML deep": ("[a]\nb = " + "[" * 9_000, ("nested deeper",)),
    "TOML deep names": (".".join("a" * 9_000) + " = 1", ("nested deeper",)),
    "TOML batch": (TITAN.replace("[para", "global_batch_size = 500\n[para"), ("training.global_batch_size = 500", "multiple of", "works: 384")),
}  # fmt: skip


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(name: str) -> None:
    text, named = REFUSED[name]
    with pytest.raises(Refusal) as refused:
        read(text)
    sentence = refused.value.sentence
    assert "\n" not in sentence and len(sentence) < 600
    assert all(part in sentence for part in named), sentence


PASSED_OVER = {
    "a harmless option with a command": f"{WHOLE} --lr $(rm -rf /)",
    "a default": WHOLE.replace("parallel-size 8", "parallel-size ${TP:-8}"),
    "semicolon": f"{WHOLE}; rm -rf /",
    "pipe": f"{WHOLE} | sh",
    "a log": f"{WHOLE} 2>&1 | tee log.txt",
    "and": f"cd /tmp && {TORCHRUN} {WHOLE}",
    "background": f"{WHOLE} &",
    "redirected": f"{WHOLE} > /etc/passwd",
    "another starter": f"sudo {TORCHRUN} {WHOLE}",
    "eval": f'CMD="{TORCHRUN} {WHOLE}"\neval $CMD',
    "in a string": f"srun --label bash -c '{TORCHRUN} {WHOLE}'",
    "commands around": f"mkdir -p x\n{TORCHRUN} {WHOLE}\nrm -rf /",
}


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("name", PASSED_OVER)
def test_what_stands_around_a_command_is_passed_over(name: str) -> None:
    assert read(PASSED_OVER[name]).document["layout"] | {"dp": 1, "micro_batches": 1} == (
        read(WHOLE).document["layout"] | {"dp": 1, "micro_batches": 1}
    )


def test_each_option_is_named_by_what_it_does() -> None:
    found = read(
        f"{TORCHRUN} {WHOLE} --lr 1.5e-4 --data-path a b c --log-throughput --optimizer-cpu-offload --made-up-option=7"
    )
    assert found.harmless == ("line 1: --lr 1.5e-4.", "line 1: --data-path a b c.", "line 1: --log-throughput.")
    assert len(found.warned) == 1 and "--optimizer-cpu-offload" in found.warned[0] and "host memory" in found.warned[0]
    assert len(found.unknown) == 1 and found.unknown[0].startswith("line 1: --made-up-option 7: nobody knows it")
    assert {taken.said: taken.place for taken in found.taken}["--num-layers 80"] == "model.layers"


def test_settings_without_a_place_are_noted_each() -> None:
    found = read(
        TITAN
        + "[metrics]\nlog_freq = 10\n[training]\nenable_cpu_offload = true\n[model]\nnew = 1\n".replace(
            "[training]", "[float8]"
        )
        .replace("[model]", "[debug]")
        .replace("enable_cpu_offload", "enable_fsdp_float8_all_gather")
    )
    assert "line 10: metrics.log_freq = 10." in found.harmless
    assert any("line 12: float8.enable_fsdp_float8_all_gather = true" in each for each in found.warned)


def test_gpus_that_the_text_does_not_name_are_said_to_be_assumed() -> None:
    found = read(WHOLE)
    assert found.document["gpus"] == 32 and found.document["layout"]["micro_batches"] == 512
    assert any(note.startswith("gpus: ") and "assumed, 32" in note for note in found.notes)
    spread = read(f"{WHOLE} --num-experts 64 --expert-model-parallel-size 64".replace("--group-query-attention", ""))
    assert spread.document["gpus"] == 256 and scenario_from(spread.document).layout.ep == 64


def test_a_vocabulary_that_the_text_does_not_name_is_the_known_models() -> None:
    found = read(WHOLE.replace("--vocab-size 128256", ""))
    assert found.document["model"] == "llama-3-70b" and any("--vocab-size" in note for note in found.notes)


def test_a_shape_that_no_model_has_is_given_as_a_shape() -> None:
    shape = read(WHOLE.replace("--num-layers 80", "--num-layers 84")).document["model"]
    assert shape["layers"] == 84 and shape["kv_heads"] == 8 and shape["gated"]


@pytest.mark.parametrize(
    ("option", "layout"),
    [
        ("--num-layers-per-virtual-pipeline-stage 5", {"vp": 4, "schedule": "interleaved"}),
        ("--num-virtual-stages-per-pipeline-rank 2", {"vp": 2, "schedule": "interleaved"}),
        ("--pipeline-model-parallel-layout 'E|(t*12,|)*6t*8L'", {"vp": 2, "schedule": "interleaved"}),
        ("--pipeline-model-parallel-layout Et*20|t*20|t*20|t*20L".replace("|", "\\|"), {"vp": 1, "schedule": "1f1b"}),
        ("--recompute-activations", {"recompute": "selective"}),
        ("--recompute-granularity full --recompute-method block --recompute-num-layers 2", {"recompute": "full"}),
        ("--use-tp-pp-dp-mapping", {"rank_order": "tp-cp-ep-pp-dp"}),
        ("--grad-reduce-in-bf16", {"gradient_bytes": 2}),
        ("--use-megatron-fsdp", {"zero": 3}),
        ("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", {"zero": 2}),
        ("--use-megatron-fsdp --num-distributed-optimizer-instances 4", {"zero": 3, "hsdp_shard": 8}),
        ("--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward", {"zero": 2}),
    ],
)
def test_each_option_of_megatron_finds_its_place(option: str, layout: dict[str, object]) -> None:
    found = read(f"{TORCHRUN} {WHOLE} {option}").document["layout"]
    assert {name: found[name] for name in layout} == layout


@pytest.mark.parametrize(
    ("setting", "layout"),
    [
        ("", {"zero": 3, "dp": 32, "micro_batch": 4}),
        ("data_parallel_replicate_degree = 2", {"zero": 3, "dp": 64, "hsdp_shard": 32}),
        ('fsdp_reshard_after_forward = "never"', {"zero": 2}),
        ("pipeline_parallel_degree = 4", {"pp": 4, "zero": 2, "micro_batch": 1, "micro_batches": 4}),
        (
            'pipeline_parallel_degree = 4\npipeline_parallel_schedule = "interleaved1f1b"',
            {"vp": 2, "schedule": "interleaved"},
        ),
        ('pipeline_parallel_degree = 4\npipeline_parallel_schedule = "ZBVZeroBubble"', {"vp": 1, "schedule": "zb-v"}),
        ('[activation_checkpoint]\nmode = "full"', {"recompute": "full"}),
    ],
)
def test_each_setting_of_torchtitan_finds_its_place(setting: str, layout: dict[str, object]) -> None:
    found = read(TITAN + setting).document["layout"]
    assert {name: found[name] for name in layout} == layout


PIECES = st.sampled_from([
    "--tensor-model-parallel-size", "--num-layers", "8", "0", "-3", "1e9999", "=", "'", '"', "\\", "\n", "$TP", "`", ";", "|", " ", "#", "--", "--x=",
    "torchrun", "pretrain_gpt.py", "--bf16", "--moe-layer-freq", "([0]*3+[1]*5)", "--pipeline-model-parallel-layout", "E(t|)*3L", "[model]\n",
    "flavor = '8B'\n", "[parallelism]\n", "tensor_parallel_degree = ", "\0", "８", "é", "--nnodes", "--global-batch-size", "\r\n", "[[", "{", "true\n",
])  # fmt: skip


@settings(max_examples=500)
@given(
    text=st.one_of(
        st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES, max_size=25).map("".join)
    )
)
def test_anything_is_read_or_refused_in_a_sentence(text: str) -> None:
    try:
        found = read(text)
    except Refusal as refusal:
        assert "\n" not in refusal.sentence
        return
    assert found.source in SOURCES and all("\n" not in note for note in found.notes)


@settings(max_examples=300)
@given(
    option=st.sampled_from([word for word in WHOLE.split() if word.startswith("--")]),
    value=st.one_of(
        st.integers(-5, 10**17).map(str),
        st.sampled_from(["", "1e9", "nan", "0x8", "8.0", "١", "9" * 400]),
        st.text(max_size=6),
    ),
)
def test_a_spoiled_command_is_read_or_refused_in_a_sentence(option: str, value: str) -> None:
    words = WHOLE.split()
    place = words.index(option)
    end = place + 1 + (place + 1 < len(words) and not words[place + 1].startswith("--"))
    try:
        scenario_from(read(" ".join([*words[:place], f"{option}={value}", *words[end:]])).document)
    except Refusal as refusal:
        assert "\n" not in refusal.sentence


LONG = {
    "settings": "[parallelism]\n" + "".join(f"x{number} = {number}\n" for number in range(1_200)),
    "spaces in a table": "[model]\n" + " " * 19_000 + "x",
    "empty lines": " \n" * 9_000 + "x",
    "names": ".".join("a" * 9_000) + " = 1",
    "lists": "[model]\nflavor = " + "[" * 19_000,
    "values": "--bf16 --data-path " + "x " * 9_900,
    "quotes": "--data-path " + "''" * 9_000 + " --bf16",
    "joined lines": "--bf16 " + "\\\n" * 9_000,
    "stages": "--bf16 --pipeline-model-parallel-layout '" + "(t|)*999" * 2_000 + "'",
    "experts": f"{WHOLE} --num-experts 8 --expert-model-parallel-size 999999999999989",
    "layers": f"{WHOLE} --num-experts 8 --moe-layer-freq '" + "+".join(["[1]*99999"] * 1_800) + "'",
}


def least_s(work: Callable[[], object], tries: int = 3) -> float:
    """CPU time of a piece of work, undisturbed: the least of a few tries."""
    found = []
    for _ in range(tries):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


@pytest.mark.parametrize("name", LONG)
def test_the_longest_text_is_answered_at_once(name: str) -> None:
    """Beside a yardstick of this machine, about a tenth of a second's work: not the clock of a busy one."""
    assert len(LONG[name]) <= LONGEST

    def reading() -> None:
        with contextlib.suppress(Refusal):
            read(LONG[name])

    assert least_s(reading) < 20 * least_s(lambda: sum(range(4_000_000)))
