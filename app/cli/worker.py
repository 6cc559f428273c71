"""`shardboard worker --demo NAME key=value …`: one rank of a demo, started by torchrun on as many hosts as it likes.

    torchrun --nnodes 2 --nproc-per-node 4 … --no-python shardboard worker --demo ddp --out events.jsonl layers=4

torch is imported here and not before: no other command waits for it.
"""

import argparse
import os
import traceback
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from engine.language.refusal import Refusal

FAILED = 1  # exit code, which torchrun reports
PLACE = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which demo, with which knobs, and where its events go."""
    parser.add_argument("--demo", required=True, metavar="NAME")
    parser.add_argument("--out", default="events.jsonl", metavar="FILE", help="what rank 0 writes (events.jsonl)")
    parser.add_argument("values", nargs="*", metavar="key=value")


def work(demo: str, knobs: Mapping[str, object], out: str) -> None:
    """Be the rank that torchrun's environment says, and leave. What goes wrong inside is for whoever reads torchrun's output."""
    if find_spec("torch") is None:
        raise Refusal("torch", None, "is not installed, and a rank trains with it: pip install 'shardboard[demos]'")
    if missing := [name for name in PLACE if not os.environ.get(name, "").isdecimal()]:
        rule = f"is not set, so nobody knows which rank this is: start it by torchrun … --no-python shardboard worker --demo {demo}"
        raise Refusal(missing[0], None, rule)
    from app.runner.rank.leaving import leave
    from app.runner.worker import Place, run_placed

    try:
        run_placed(Place(*(int(os.environ[name]) for name in PLACE)), demo, knobs, Path(out))
    except Refusal:
        raise
    except Exception:
        traceback.print_exc()
        leave(FAILED)
    leave(0)
