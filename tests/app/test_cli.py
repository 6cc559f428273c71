"""The command line: one document on stdout, or one sentence on stderr and exit code 2."""

import io
import json
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Never

import pytest

from app.board import console
from app.cli import main as cli
from engine.catalog.scenarios import preset_document
from tests.app.conftest import Meaningless, Shardboard

CARD = preset_document()
CARD_FIGURES = [
    ("state_bytes", "N=70e9 zero=0 D=64", 1.12e12, 1e-9),
    ("state_bytes", "N=70e9 zero=1 D=64", 293e9, 0.002),
    ("state_bytes", "N=70e9 zero=2 D=64", 155e9, 0.003),
    ("state_bytes", "N=70e9 zero=3 D=64", 17.5e9, 1e-9),
    ("state_bytes", "N=405e9 zero=0 D=1", 6.5e12, 0.005),
    ("training_flop", "N=70e9 T=15e12", 6.3e24, 1e-9),
    ("gpu_seconds", "flop=6.3e24 peak_flop_per_s=989e12 mfu=0.4", 1.6e10, 0.01),
    ("gpu_hours", "flop=6.3e24 peak_flop_per_s=989e12 mfu=0.4", 4.4e6, 0.01),
    ("wall_days", "gpu_hours=4.4e6 gpus=1024", 180, 0.01),
    ("wall_days", "gpu_hours=4.4e6 gpus=8192", 22, 0.02),
    ("run_usd", "gpu_hours=4.4e6 usd_per_gpu_hour=2.5", 11e6, 1e-9),
    ("bubble_of_total", "p=4 m=16", 3 / 19, 1e-12),
    ("bubble_of_total", "p=4 m=16 v=2", 0.0857, 0.001),
    ("bubble_of_total", "p=4 m=16 v=4", 0.0448, 0.001),
    ("bubble_of_ideal", "p=4 m=16", 3 / 16, 1e-12),
    ("zero3_over_ddp_volume", "", 1.5, 1e-12),
    ("frozen_base_bytes", "N=70e9 D=1", 140e9, 1e-9),
    ("frozen_base_bytes", "N=70e9 D=8", 17.5e9, 1e-9),
    ("dense_parameters", "L=80 h=8192 a=64 k=8 f=28672 V=128256", 70.554e9, 1e-5),
]
Refused = Callable[..., str]


@pytest.fixture
def refused(shardboard: Shardboard) -> Refused:
    """Runs a command that must be refused, and gives its one line."""

    def run(*words: str, stdin: bytes = b"") -> str:
        code, out, err = shardboard(*words, stdin=stdin)
        assert (code, out) == (2, b"")
        assert err.endswith("\n") and len(err.splitlines()) == 1, err
        assert err.strip().isprintable() and "Traceback" not in err
        return err.strip()

    return run


@pytest.mark.parametrize(("name", "values", "figure", "tolerance"), CARD_FIGURES)
def test_every_figure_of_the_card_comes_out_of_a_formula(
    shardboard: Shardboard, name: str, values: str, figure: float, tolerance: float
) -> None:
    code, out, err = shardboard("formula", name, *values.split())
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert set(document) == {"name", "value", "unit", "symbolic", "substituted", "source"}
    assert document["value"] == pytest.approx(figure, rel=tolerance)


@pytest.mark.parametrize(("rate", "beyond"), [("2e4", True), ("1e3", False)])
def test_a_result_above_the_peak_says_so(shardboard: Shardboard, rate: str, beyond: bool) -> None:
    """2e4 tokens a second, 4e11 FLOP each, on 8 GPUs of 5e14: twice the peak, which nothing reaches."""
    words = ("flop_utilization", "c=4e11", f"r={rate}", "g=8", "P=5e14")
    _, out, _ = shardboard("formula", *words)
    _, text, _ = shardboard("formula", *words, "--text")
    assert ("remark" in json.loads(out)) == ("More than the peak" in text.decode()) == beyond


def test_a_person_reads_what_a_change_brings(shardboard: Shardboard) -> None:
    _, out, _ = shardboard("estimate", "-", "--text", stdin=json.dumps(CARD).encode())
    assert re.search(r"Gain: .+ faster, .+ more, MFU \+[0-9.]+ points\.", out.decode())


def test_an_estimate_of_a_file_and_of_standard_input_are_the_same(shardboard: Shardboard, tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_text(json.dumps(CARD))
    from_file, from_stdin = shardboard("estimate", str(file)), shardboard("estimate", "-", stdin=file.read_bytes())
    assert from_file == from_stdin
    assert json.loads(from_file[1])["pipeline"]["in_flight"] == [4, 3, 2, 1]


def test_what_has_no_meaning_is_refused_in_one_line(refused: Refused, meaningless: Meaningless) -> None:
    text, named = meaningless
    sentence = refused("estimate", "-", stdin=text)
    assert all(part in sentence for part in named)
    assert len(sentence) <= 601


def test_a_file_over_ten_megabytes_is_refused(refused: Refused, tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_bytes(b" " * (10 * 2**20))
    assert refused("estimate", str(file)) == "document: is larger than 10 MB, and no more is read"


def test_files_that_cannot_be_read_are_refused(refused: Refused, tmp_path: Path) -> None:
    assert "no such file" in refused("estimate", str(tmp_path / "missing.json"))
    assert "directory" in refused("estimate", str(tmp_path))
    assert "null" in refused("estimate", "a\0b")


def test_lines_are_answered_one_by_one_and_bad_ones_in_their_place(shardboard: Shardboard) -> None:
    lines = [
        json.dumps(CARD),
        "{",
        json.dumps(CARD | {"gpus": 1023}),
        "",
        json.dumps(CARD | {"gpus": 2048, "layout": {"pp": 8}}),
    ]
    code, out, err = shardboard("estimate", "--lines", "-", stdin="\n".join(lines).encode())
    first, second, third, fourth = map(json.loads, out.splitlines())
    assert (code, err) == (0, "")
    assert first["memory"]["fits"] and len(fourth["memory"]["stages"]) == 8
    assert set(second) == {"error"} and "line 1, column 2" in second["error"]
    assert set(third) == {"error"} and "gpus = 1023" in third["error"]


def test_a_line_that_is_too_long_costs_only_its_own_answer(
    shardboard: Shardboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "FILE_BYTES", 1000)
    code, out, _ = shardboard("estimate", "--lines", "-", stdin=b" " * 5000 + b"{}\n" + json.dumps(CARD).encode())
    first, second = map(json.loads, out.splitlines())
    assert code == 0 and "larger than" in first["error"] and "step" in second


def test_a_schedule_has_the_keys_of_the_contract(shardboard: Shardboard) -> None:
    code, out, _ = shardboard("schedule", "1f1b", "--stages", "4", "--micro-batches", "16")
    document = json.loads(out)
    assert code == 0
    assert list(document) == [
        "stages",
        "micro_batches",
        "makespan",
        "bubble_of_total",
        "bubble_of_ideal",
        "in_flight",
        "intervals",
    ]
    assert list(document["intervals"][0]) == ["stage", "kind", "micro_batch", "chunk", "start", "end"]
    assert len(document["intervals"]) == 128
    assert document["bubble_of_total"] == pytest.approx(3 / 19)


def test_a_schedule_takes_chunks_and_times(shardboard: Shardboard) -> None:
    _, out, _ = shardboard("schedule", "interleaved", "--stages", "4", "--micro-batches", "16", "--chunks", "2",
                           "--forward", "1", "--backward-input", "1.5", "--backward-weight", "0.5")  # fmt: skip
    assert json.loads(out)["bubble_of_total"] == pytest.approx(3 / 35)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("1f2b --stages 4 --micro-batches 16", ("name = 1f2b", "1f1b")),
        ("1f1b --stages four --micro-batches 16", ("stages = four", "whole number")),
        ("1f1b --stages 0 --micro-batches 16", ("stages = 0", "at least 1")),
        ("1f1b --stages -4 --micro-batches 16", ("stages = -4", "at least 1")),
        ("1f1b --stages 4 --micro-batches 1e30", ("micro_batches = 1", "at most 1,048,576")),
        (
            "1f1b --stages 1024 --micro-batches 1000000",
            ("micro_batches = 1000000", "2,048,000,000 intervals", "200,000"),
        ),
        ("interleaved --stages 4 --micro-batches 7 --chunks 2", ("micro_batches = 7", "4 or 8")),
        ("1f1b --stages 4 --micro-batches 8 --chunks 2", ("chunks = 2", "interleaved")),
        ("gpipe --stages 4 --micro-batches 8 --forward nan", ("forward = nan", "number")),
        ("gpipe --stages 4 --micro-batches 8 --forward -1", ("forward = -1", "at least 0")),
        ("gpipe --stages 4 --micro-batches 8 --forward 1e308", ("forward = 1", "at most")),
        ("gpipe --stages 4", ("--micro-batches", "required")),
    ],
)
def test_a_schedule_without_meaning_is_refused(refused: Refused, words: str, named: tuple[str, ...]) -> None:
    sentence = refused("schedule", *words.split())
    assert all(part in sentence for part in named)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", ("needs a command", "estimate")),
        ("estimat card.json", ("command = estimat", "the nearest that works: estimate")),
        ("--bogus", ("command = --bogus", "estimate")),
        ("estimate", ("FILE", "required")),
        ("estimate - extra", ("unrecognized", "extra")),
        ("estimate --json --text -", ("not allowed with",)),
        ("formula", ("NAME", "required")),
        ("formula bubble_of_totl p=4 m=16", ("formula = bubble_of_totl", "bubble_of_total")),
        ("formula bubble_of_total p=4", ("m", "micro-batches")),
        ("formula bubble_of_total p=4 m", ("argument = m", "key=value")),
        ("formula bubble_of_total p=4 p=4 m=2", ("p = 4", "twice")),
        ("formula bubble_of_total p=4 m=16 q=1", ("q = 1", "p, m, v")),
        ("formula bubble_of_total p=4.5 m=16", ("p = 4.5", "whole number", "4")),
        ("formula bubble_of_total p=four m=16", ("p = four", "whole number")),
        ("formula bubble_of_total p=inf m=16", ("p = inf",)),
        ("formula state_bytes N=1e308 zero=0 D=1", ("N = 1e308", "too large")),
        ("serve --port 99999", ("port = 99999", "65,535")),
        ("serve --port http", ("port = http", "65,535")),
    ],
)
def test_a_command_without_meaning_is_refused(refused: Refused, words: str, named: tuple[str, ...]) -> None:
    sentence = refused(*words.split())
    assert all(part in sentence for part in named)


def test_a_port_that_is_taken_is_refused(refused: Refused) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"address = 127.0.0.1:{port}: cannot be served on" in refused("serve", "--port", str(port))


def test_help_is_no_error(shardboard: Shardboard) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["--help"])
    assert left.value.code == 0


def test_a_fault_of_ours_is_one_line_too(shardboard: Shardboard, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str, given: object) -> Never:
        raise KeyError("tp")

    monkeypatch.setattr("engine.formulas.formula_answer", broken)
    code, out, err = shardboard("formula", "state_bytes")
    assert (code, out) == (1, b"")
    assert err.splitlines() == ["shardboard: failed inside, which is a fault of ours: KeyError('tp')"]


def test_a_person_reads_columns_and_formulas(shardboard: Shardboard) -> None:
    _, estimate, _ = shardboard("estimate", "--text", "-", stdin=json.dumps(CARD).encode())
    text = estimate.decode()
    assert "70.55 B" in text and "fits" in text and "where the step goes" in text and "15.8 %" in text
    _, formula, _ = shardboard("formula", "--text", "bubble_of_total", "p=4", "m=16")
    assert formula.decode().splitlines()[:3] == [
        "bubble_of_total = 15.8 % of the step",
        "  = (p-1) / (v · m+p-1)",
        "  = (4-1) / (1 · 16+4-1)",
    ]
    _, schedule, _ = shardboard("schedule", "--text", "1f1b", "--stages", "2", "--micro-batches", "2")
    assert schedule.decode().splitlines()[-2:] == ["  stage 0   FF  BB BB", "  stage 1    FBBFBB"]


def test_every_formula_reads_as_plain_text(shardboard: Shardboard) -> None:
    _, out, _ = shardboard("formulas")
    for formula in json.loads(out):
        symbolic = formula["symbolic"]
        for latex in symbolic.values() if isinstance(symbolic, dict) else [symbolic]:
            assert not set("\\{}<>") & set(console.plain_formula(latex)), latex


def test_what_is_shown_to_a_terminal_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(shown))
    assert cli.main(["formula", "run_usd", "gpu_hours=4.4e6", "usd_per_gpu_hour=2.5"]) == 0
    assert shown.getvalue().startswith(b"run_usd = $11 M\n")


def test_a_refusal_carries_every_field_that_is_wrong(refused: Refused) -> None:
    sentence = refused(
        "estimate", "-", stdin=json.dumps(CARD | {"gpus": 0, "sequence_tokens": -1, "layout": {"tp": "x"}}).encode()
    )
    assert "(and 2 more: sequence_tokens, layout.tp)" in sentence
