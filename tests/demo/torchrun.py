"""torchrun's agents on this machine, each standing for a node. They meet in a store that the test keeps.

Agents that are given only a port race for it: whatever takes it first, they miss each other. Here the port is bound before
anyone is told of it, and stays so until all have left.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.settings import ROOT

HOST, PATIENCE_S, TAIL = "127.0.0.1", 120.0, 3000
ASKED = ("--demo", "ddp", "layers=1", "steps=2", "hidden=64")
OLD_WORKER, WORKER = ("-m", "app.demo.worker"), ("--no-python", "shardboard", "worker")


@dataclass(frozen=True)
class Ended:
    """How an agent ended, and the end of what it said."""

    code: int
    said: str


def program(folder: Path) -> Path:
    """`shardboard` in a folder of its own, as pip writes it from the project's entry points."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, function = scripts["shardboard"].partition(":")
    made = folder / "shardboard"
    made.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    made.chmod(0o755)
    return made


def torchrun(folder: Path, nodes: int, worker: Sequence[str], asked: Sequence[str] = ASKED) -> tuple[Path, list[Ended]]:
    """The file that rank 0 was to write, and how each agent ended, two ranks on each."""
    out = folder / "events.jsonl"
    environment = {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    environment["PATH"] = f"{program(folder).parent}{os.pathsep}{os.environ['PATH']}"
    with _meeting_place() as place:
        agent = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(nodes), "--nproc-per-node", "2"]
        meet = ["--rdzv-backend", "c10d", "--rdzv-endpoint", place, "--rdzv-conf", "is_host=false"]
        return out, _ended([*agent, *meet, *worker, *asked, "--out", str(out)], environment, nodes)


@contextmanager
def _meeting_place() -> Iterator[str]:
    """The address of a store that lives as long as this."""
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore(HOST, 0, is_master=True, wait_for_workers=False)
    yield f"{HOST}:{store.port}"


def _ended(command: Sequence[str], environment: dict[str, str], nodes: int) -> list[Ended]:
    agents = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(nodes)
    ]
    try:
        return [
            Ended(agent.returncode, said[-TAIL:])
            for agent, (_, said) in [(agent, agent.communicate(timeout=PATIENCE_S)) for agent in agents]
        ]
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
