"""The lines that start the processes: torchrun on each node, and a Slurm job that runs it on all of them."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.export.base import File
from engine.language.units import counted
from engine.scenario import Scenario

PORT = 29500
LARGEST_HOST = 16  # GPUs of one operating system; an NVLink domain of more is several hosts
Words = tuple[str, ...]


@dataclass(frozen=True)
class Nodes:
    """Equal nodes of a run.   [count of nodes, GPUs of each]"""

    count: int
    gpus: int


def nodes_of(scenario: Scenario) -> Nodes:
    """The nodes that a run's GPUs fill: torchrun wants as many processes on each.

    >>> from engine.scenario import scenario_from
    >>> nodes_of(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    Nodes(count=128, gpus=8)
    """
    most = min(scenario.gpus, scenario.cluster.gpus_per_node)
    each = next(size for size in range(most, 0, -1) if scenario.gpus % size == 0)
    return Nodes(scenario.gpus // each, each)


def launch_gaps(scenario: Scenario) -> Iterator[str]:
    """What must be said of the nodes."""
    nodes, cluster = nodes_of(scenario), scenario.cluster
    if nodes.gpus > LARGEST_HOST:
        yield (
            f"cluster = {cluster.name}: an NVLink domain of {cluster.gpus_per_node} GPUs is several hosts; write the GPUs "
            "of one host (4 in an NVL72) for those per node, and the number of hosts for the nodes."
        )
    if nodes.count > 1 and nodes.gpus < cluster.gpus_per_node:
        yield (
            f"gpus = {scenario.gpus}: they do not fill nodes of {cluster.gpus_per_node}, so {nodes.count} nodes run "
            f"{nodes.gpus} processes each."
        )


def torchrun(nodes: Nodes) -> list[Words]:
    """torchrun with its own options, one tuple a line. Where to meet comes from PET_RDZV_ENDPOINT."""
    if nodes.count == 1:
        return [("torchrun",), ("--standalone",), ("--nproc-per-node", str(nodes.gpus))]
    return [
        ("torchrun",),
        ("--nnodes", str(nodes.count)),
        ("--nproc-per-node", str(nodes.gpus)),
        ("--rdzv-backend", "c10d"),
    ]


def command(lines: Iterable[Words]) -> str:
    r"""One command over several lines, quoted where a shell would read a sign as its own.

    >>> print(command([("torchrun",), ("--moe-layer-freq", "[0]*3")]))
    torchrun \
      --moe-layer-freq '[0]*3'
    """
    return " \\\n  ".join(" ".join(shlex.quote(word) for word in line) for line in lines)


def script(remark: str, lines: Iterable[Words], environment: Sequence[str] = (), name: str = "train.sh") -> File:
    """A shell script of one command, which every node runs."""
    set_first = "".join(f"{pair} \\\n" for pair in environment)
    return File(name, f"#!/usr/bin/env bash\n# {remark}\n{set_first}{command(lines)}\n", "bash")


def remark(scenario: Scenario, what: str) -> str:
    """The comment at the head of a script: what it starts, and where."""
    nodes = nodes_of(scenario)
    where = "one node" if nodes.count == 1 else f"each of {nodes.count:,} nodes"
    gpus = counted(scenario.gpus, "GPU")
    return f"{what} on {gpus}: run it on {where} with {nodes.gpus}."


def slurm(scenario: Scenario, name: str, run: str = "bash train.sh") -> File:
    """The Slurm job that runs a script once on every node."""
    nodes = nodes_of(scenario)
    text = f"""#!/usr/bin/env bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes.count}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={nodes.gpus}
#SBATCH --exclusive
set -euo pipefail
first_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export PET_RDZV_ENDPOINT="$first_node:{PORT}" PET_RDZV_ID="$SLURM_JOB_ID"
srun {run}
"""
    return File("train.sbatch", text, "bash")


def by_hand(scenario: Scenario) -> str:
    """What to set where no Slurm job does."""
    nodes = nodes_of(scenario)
    if nodes.count == 1:
        return "Slurm: partition, account and time limit are yours to add to train.sbatch."
    return (
        "Slurm: partition, account and time limit are yours to add to train.sbatch; without Slurm, set PET_RDZV_ENDPOINT "
        f"to the first node and port (node-0:{PORT}) and start train.sh on every node."
    )
