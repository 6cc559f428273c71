"""One application for the tests of its pages, one command line, and the scenarios that mean nothing, with what must be said about each."""

import io
import json
import sys
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from app.cli import main as cli
from app.main import create_app
from engine.catalog.scenarios import preset_document

Meaningless = tuple[bytes, tuple[str, ...]]  # a text, and what the sentence about it must name
Shardboard = Callable[..., tuple[int, bytes, str]]
CARD = preset_document()


def _card(**changes: object) -> bytes:
    return json.dumps(CARD | changes).encode()


MEANINGLESS: dict[str, Meaningless] = {
    "tp-6": (_card(layout={"tp": 6, "pp": 4, "dp": 1}, gpus=24), ("layout.tp = 6", "64", "4 or 8")),
    "degrees-do-not-multiply": (_card(layout={"tp": 8, "pp": 4, "dp": 31}), ("layout.dp = 31", "1024", "dp 32")),
    "zero": (_card(gpus=0), ("gpus = 0", "at least 1")),
    "negative": (_card(layout={"pp": -4}), ("layout.pp = -4", "at least 1")),
    "1e30": (_card(sequence_tokens=1e30), ("sequence_tokens = 1", "at most 16,777,216")),
    "huge-whole-number": (_card(gpus=10**40), ("gpus = 1e+40", "at most")),
    "text-for-a-number": (_card(gpus="many"), ("gpus = many", "number")),
    "unknown-key": (_card(layout={"tpp": 8}), ("layout.tpp", "unknown key", "tp")),
    "unknown-model": (_card(model="llama-3-70"), ("model = llama-3-70", "llama-3-70b")),
    "unknown-cluster": (_card(cluster="hgx-h10"), ("cluster = hgx-h10", "hgx-h100")),
    "a-list": (b"[1, 2]", ("document", "object")),
    "null": (b"null", ("document", "object")),
    "cut-short": (b'{"model": "llama-3-70b",\n "cluster": ', ("document", "line 2, column 13")),
    "no-json": (b"tp: 8", ("document", "line 1, column 1")),
    "empty": (b"  \n", ("document", "empty")),
    "no-utf-8": (b'{"model": "\xff"}', ("document", "UTF-8", "byte 12")),
    "half-a-character": (b'{"model": "\\ud800"}', ("document", "surrogate")),
    "nan": (b'{"gpus": NaN}', ("document", "NaN")),
    "infinity": (b'{"gpus": -Infinity}', ("document", "-Infinity")),
    "1e400": (b'{"gpus": 1e400}', ("document", "1e400", "too large")),
    "endless-number": (b'{"gpus": ' + b"9" * 5000 + b"}", ("document", "5000 digits")),
    "twice": (b'{"gpus": 8, "gpus": 16}', ("gpus", "twice")),
    "deep": (b'{"model": ' + b"[" * 40 + b"]" * 40 + b"}", ("document", "32 levels")),
    "very-deep": (b"[" * 100_000 + b"]" * 100_000, ("document", "32 levels")),
    "too-many-values": (b'{"model": [' + b"1," * 6000 + b"1]}", ("document", "5,000 values")),
    "control-characters": (_card(model="\x1b[31m\n\r\u2028x"), ("model = ", "catalogue")),
    "long-key": (_card(**{"k" * 5000: 1}), ("kkk",)),
    "overflow": (_card(training={"mfu": 1e-300, "tokens": 1e18}), ("",)),
}


@pytest.fixture(params=list(MEANINGLESS))
def meaningless(request: pytest.FixtureRequest) -> Meaningless:
    """A text that is no scenario, and what must be named about it."""
    return MEANINGLESS[request.param]


@pytest.fixture(scope="session")
def client() -> TestClient:
    return TestClient(create_app(), raise_server_exceptions=False)


@pytest.fixture
def shardboard(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Shardboard:
    """Runs a command in this process and gives exit code, stdout and stderr."""

    def run(*words: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.main(words)
        out, err = capsysbinary.readouterr()
        return code, out, err.decode()

    return run
