"""Everything the ranks will import, imported once in the zygote, so that a fork has it for nothing."""

import importlib
import platform

import torch
import torch._dynamo  # every optimizer imports it at its first step, half a second in each rank

import app.runner.worker  # noqa: F401
from app.runner.catalog import DEMOS

torch.set_num_threads(1)
for module in sorted({demo.module for demo in DEMOS.values()}):
    importlib.import_module(module)


def versions() -> dict[str, str]:
    """What runs here."""
    return {"torch": torch.__version__, "python": platform.python_version(), "system": platform.system()}
