"""The command line as a process: start-up, pipes, signals, a full disk."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from engine.catalog.scenarios import preset_document

CARD = preset_document()


def process(*words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "app", *words], capture_output=True, timeout=60, **options)


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
def test_a_reader_that_leaves_is_no_error() -> None:
    words = f"{sys.executable} -m app schedule 1f1b --stages 8 --micro-batches 5000 | head -c 10"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {words}"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"stages":', b"")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
def test_ctrl_c_is_quiet() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "estimate", "--lines", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin and running.stdout and running.stderr
        running.stdin.write(json.dumps(CARD).encode() + b"\n")
        running.stdin.flush()
        running.stdout.readline()  # now it waits for the next line
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr.read() == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "app", "formulas"], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == ["output: no space left on device"]


def test_serve_answers_and_leaves_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "serve", "--port", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stderr
        address = re.search(r"127\.0\.0\.1:(\d+)", running.stderr.readline().decode())
        assert address
        port = int(address[1])
        for _ in range(100):  # the socket listens from the start; the application answers once it is built
            with socket.create_connection(("127.0.0.1", port)) as asked:
                asked.settimeout(30)
                asked.sendall(
                    b"GET /api/formulas/run_usd?gpu_hours=2&usd_per_gpu_hour=3 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
                )
                if b'"value":6.0' in b"".join(iter(lambda: asked.recv(65536), b"")):
                    break
            time.sleep(0.1)
        else:
            pytest.fail("no answer")
        running.send_signal(signal.SIGINT)
        running.wait(30)
        assert b"Traceback" not in running.stderr.read()


def test_lines_are_answered_while_more_are_still_to_come() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "estimate", "--lines", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdin and running.stdout
        for _ in range(2):
            running.stdin.write(json.dumps(CARD).encode() + b"\n")
            running.stdin.flush()
            assert "step" in json.loads(running.stdout.readline())
        running.stdin.close()
    assert running.returncode == 0


@pytest.mark.parametrize(
    ("name", "values", "figure", "tolerance"),
    [("state_bytes", "N=70e9 zero=3 D=64", 17.5e9, 1e-9), ("bubble_of_total", "p=4 m=16", 3 / 19, 1e-12)],
)
def test_a_formula_is_answered_in_a_process_of_its_own(name: str, values: str, figure: float, tolerance: float) -> None:
    done = process("formula", name, *values.split())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["value"] == pytest.approx(figure, rel=tolerance)


def test_a_formula_loads_neither_server_nor_estimate() -> None:
    watched = "import sys; from app.cli.main import main; main(['formula', 'state_bytes', 'N=7e9', 'zero=3', 'D=8']); "
    loaded = subprocess.run(
        [sys.executable, "-c", watched + "print([n for n in ('fastapi', 'engine.estimate') if n in sys.modules])"],
        capture_output=True,
        timeout=60,
    )
    assert loaded.stdout.splitlines()[-1] == b"[]"
