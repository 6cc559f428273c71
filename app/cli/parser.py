"""The words of the command line: each command with what it takes. What is wrong with them is one sentence."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from app import __version__
from app.cli.worker import add_options
from engine.language.refusal import Refusal

FAMILIES = {
    "export": ("engine.export", "TARGETS"),
    "schedule": ("engine.pipeline.schedules", "SCHEDULES"),
    "demo": ("app.runner.catalog", "DEMOS"),
}
SIZES = (
    ("--stages", True),
    ("--micro-batches", True),
    ("--chunks", False),
    ("--forward", False),
    ("--backward-input", False),
    ("--backward-weight", False),
)

Command = Callable[[str, str], argparse.ArgumentParser]  # name, what it is -> the parser of its words


class _Parser(argparse.ArgumentParser):
    """Complains in one sentence instead of printing how it is used."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(self.prog, None, f"{message} (see {self.prog} --help)", code="usage")


class _Mixed(_Parser):
    """Takes its words in any order: argparse alone wants all key=value side by side."""

    inside = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # type: ignore[override]
        if self.inside:
            return super().parse_known_args(args, namespace)
        self.inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.inside = False


def _members(asked: str) -> str:
    """The members of the family that a command takes one of, for its help; those of others are not loaded."""
    if asked not in FAMILIES:
        return ""
    module, family = FAMILIES[asked]
    return ", ".join(getattr(import_module(module), family))


def parser(asked: str) -> argparse.ArgumentParser:
    """All commands; the one that is asked for also says in its help what it may be asked for."""
    made = _Parser(
        prog="shardboard",
        description="How a large language model is trained across many GPUs, by the numbers.",
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"shardboard {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Mixed)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name not in ("worker", "serve"):
            form = made.add_mutually_exclusive_group()
            form.add_argument("--json", action="store_true", help="one JSON document (as when output is no terminal)")
            form.add_argument("--text", action="store_true", help="for people (as when output is a terminal)")
        return made

    members = _members(asked)
    _questions(command, members)
    _processes(command, members)
    return made


def _questions(command: Command, members: str) -> None:
    """Commands that answer with a document."""
    estimate = command("estimate", "memory, traffic, step time, MFU and price of a scenario")
    estimate.add_argument("file", metavar="FILE", help="a scenario as JSON; - for standard input")
    estimate.add_argument("--lines", action="store_true", help="one scenario a line in, one answer a line out")
    export = command("export", "the launch files of a scenario for a training framework")
    export.add_argument("file", metavar="FILE", help="a scenario as JSON; - for standard input")
    export.add_argument("--to", required=True, metavar="TARGET", help=members)
    imported = command(
        "import", "the scenario of what another program launches: a Megatron-LM script, a settings file, a config.json"
    )
    imported.add_argument("file", metavar="FILE", help="the text; - for standard input. Nothing in it is run")
    model = command("model", "the shape in a model's config.json, its parameters, and what became of every key")
    model.add_argument("file", metavar="FILE", help="a config.json; - for standard input")
    schedule = command("schedule", "the exact timeline of a pipeline schedule")
    schedule.add_argument("name", metavar="NAME", help=members)
    for size, needed in SIZES:
        schedule.add_argument(size, required=needed, metavar="N", default=argparse.SUPPRESS)
    formula = command("formula", "one formula with its working: shardboard formula bubble_of_total p=4 m=16")
    formula.add_argument("name", metavar="NAME")
    formula.add_argument("values", nargs="*", metavar="key=value")


def _processes(command: Command, members: str) -> None:
    """Commands that start something, or look at where it would run."""
    demo = command("demo", "a real torch.distributed run on this machine: shardboard demo fsdp2 --ranks 4 layers=2")
    demo.add_argument("name", metavar="NAME", help=members)
    demo.add_argument("--ranks", metavar="N")
    demo.add_argument("values", nargs="*", metavar="key=value")
    add_options(command("worker", "one rank of a demo, started by torchrun … --no-python shardboard worker --demo ddp"))
    command("formulas", "every formula: what it gives, what it takes, its source")
    doctor = command("doctor", "whether Python, torch, Chromium, fonts, folders and port are in order here")
    for served in (command("serve", "the board, in a browser"), doctor):
        served.add_argument("--host", default="127.0.0.1")
        served.add_argument("--port", default="8000")
