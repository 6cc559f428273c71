"""`shardboard export` and `shardboard import`: one document on stdout, or one sentence on stderr and exit code 2."""

import json
from pathlib import Path

import pytest

from engine.catalog.scenarios import preset_document
from engine.export import TARGETS
from tests.app.conftest import Shardboard

CARD = preset_document()


@pytest.mark.parametrize("target", TARGETS)
def test_an_export_is_one_document(shardboard: Shardboard, target: str) -> None:
    code, out, err = shardboard("export", "-", "--to", target, stdin=json.dumps(CARD).encode())
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert list(document) == ["target", "files", "left_out"] and document["target"] == target
    assert all(set(file) == {"name", "text"} for file in document["files"])
    assert {"train.sh", "train.sbatch"} <= {file["name"] for file in document["files"]}


def test_what_is_exported_can_be_imported_and_estimated(shardboard: Shardboard, tmp_path: Path) -> None:
    _, out, _ = shardboard("export", "-", "--to", "megatron", stdin=json.dumps(CARD).encode())
    script = tmp_path / "train.sh"
    script.write_text(json.loads(out)["files"][0]["text"])
    code, out, _ = shardboard("import", str(script))
    document = json.loads(out)
    assert code == 0 and list(document) == ["source", "scenario", "read", "warned", "unknown", "assumed", "harmless"]
    assert document["scenario"]["gpus"] == 1024 and document["scenario"]["model"] == "llama-3-70b"
    code, _, _ = shardboard("estimate", "-", stdin=json.dumps(document["scenario"]).encode())
    assert code == 0


def test_a_person_reads_files_and_sentences(shardboard: Shardboard) -> None:
    _, out, _ = shardboard("export", "--text", "-", "--to", "torchtitan", stdin=json.dumps(CARD).encode())
    text = out.decode()
    assert (
        text.startswith("── train.toml ──\n# not said by these options: ")
        and "\n── train.sbatch ──\n#!/usr/bin/env bash\n" in text
    )
    assert "\nnot in these files:\n  layout.zero = 1: " in text
    _, out, _ = shardboard("import", "--text", "-", stdin=b"--tensor-model-parallel-size 8 --bf16")
    assert (
        "\nlayout:\n  tp: 8\n" in out.decode()
        and "\nread:\n  line 1: --tensor-model-parallel-size 8 -> layout.tp\n" in out.decode()
    )
    assert "\nassumed:\n  " in out.decode()


@pytest.mark.parametrize(
    ("words", "stdin", "named"),
    [
        ("export - --to megatrom", json.dumps(CARD).encode(), ("target = megatrom", "megatron")),
        ("export -", b"{}", ("--to", "required")),
        ("export - --to megatron", b"{", ("document", "JSON")),
        ("export - --to megatron", json.dumps(CARD | {"gpus": 1023}).encode(), ("gpus = 1023", "992")),
        ("import -", b"", ("text", "empty")),
        ("import -", b"--bf16 \xff", ("UTF-8", "byte 8")),
        ("import -", b"--num-layers 8 " * 2_000, ("text", "20,000")),
        ("import -", b"-" * 100_000, ("text", "20,000")),
        ("import -", b"--num-layers $(nproc)", ("$(nproc)", "write its result")),
        ("import", b"", ("FILE", "required")),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line(
    shardboard: Shardboard, words: str, stdin: bytes, named: tuple[str, ...]
) -> None:
    code, out, err = shardboard(*words.split(), stdin=stdin)
    assert (code, out) == (2, b"")
    assert err.endswith("\n") and len(err.splitlines()) == 1 and "Traceback" not in err
    assert all(part in err for part in named), err


def test_a_config_is_read_key_by_key(shardboard: Shardboard) -> None:
    config = {
        "model_type": "gpt2",
        "n_layer": 12,
        "n_embd": 768,
        "n_head": 12,
        "vocab_size": 50257,
        "n_ctx": 1024,
        "colour": 1,
    }
    code, out, _ = shardboard("model", "-", stdin=json.dumps(config).encode())
    found = json.loads(out)
    assert code == 0 and found["parameters"] == 124_439_808 and found["read"]["n_embd"]["field"] == "hidden"
    assert found["not_read"] == ["colour"] and found["no_effect_on_counts"] == ["n_ctx"]
    _, text, _ = shardboard("model", "--text", "-", stdin=json.dumps(config).encode())
    assert b"n_embd = 768  ->  hidden" in text and b"Not read: colour." in text
    code, _, err = shardboard("model", "-", stdin=json.dumps({**config, "n_layer": "12"}).encode())
    assert code == 2 and "model.hf_config.n_layer = 12: needs a whole number" in err
