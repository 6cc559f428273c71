"""Recorded runs, for machines without torch: the events of one real run of each demo, as they were."""

from importlib.util import find_spec
from pathlib import Path

from app.runner.catalog import demo_named
from app.runner.event_kinds import RUN_EVENTS, RunEvent
from app.settings import settings
from engine.language.refusal import Refusal

FOLDER = Path(__file__).parent / "recorded"


def can_run() -> bool:
    """Whether demos run here, or are shown from recordings. Does not import torch."""
    return settings().live_demos and find_spec("torch") is not None


def recording_of(name: str) -> Path:
    """The file of this demo's recorded run, or a Refusal."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        why = f" ({demo_named(name).unrecorded})" if demo_named(name).unrecorded else ""
        rule = f"needs torch here, and has no recorded run{why}: pip install 'shardboard[demos]'"
        raise Refusal("demo", name, rule, code="no-torch")
    return path


def recorded(name: str) -> list[RunEvent]:
    """The events of the recorded run of this demo."""
    return RUN_EVENTS.read_lines(recording_of(name).read_bytes())
