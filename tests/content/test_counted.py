"""A number and its noun agree wherever they meet: findings, remarks and captions of plans and scenes with degrees of one."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.board.scenes import SCENES
from app.board.scenes.base import Scene
from app.main import create_app
from app.plan.remarks import pipeline_remark, remarks
from engine.advice import advised
from engine.estimate import Estimate, estimate
from engine.findings import findings_of
from engine.language.inputs import Amount
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

ROOT = Path(__file__).parents[2]
PLURAL = re.compile(r"(?<![\w.,:/-])1 [a-zA-Z][\w-]*s\b")
NAMED = re.compile(
    r"\b(GPU|[Ss]tage|expert|rank|node|unit|copy|layer|micro-batch|table) 1\b"
)  # "stage 1 holds" names one
MULTIPLE = "1 times"  # "1 times the mean" is no plural
LOWERED = re.compile(r"\b(gpus?|gib|mib|nvlink|cuda|mfu|zero-\d)\b")


def misspoken(text: str) -> list[str]:
    """One of something in the plural, and names whose capitals were lost."""
    bare = NAMED.sub(r"\1", text)
    return [found for found in PLURAL.findall(bare) if found != MULTIPLE] + LOWERED.findall(text)


def plans(count: int) -> Iterator[Estimate]:
    """Plans by lot, small degrees more often than in life."""
    lot = random.Random(10)
    while count:
        layout = {
            "tp": lot.choice([1, 1, 2, 8, 16]),
            "pp": lot.choice([1, 1, 2, 4, 20]),
            "zero": lot.choice([0, 1, 1, 3]),
            "micro_batches": lot.choice([1, 1, 2, 16]),
        }
        document = {
            "model": lot.choice(["llama-3-8b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3"]),
            "cluster": lot.choice(["hgx-h100", "gb200-nvl72"]),
            "gpus": lot.choice([1, 2, 8, 64, 1024]),
            "layout": layout,
        }
        try:
            made = estimate(scenario_from(document))
        except Refusal:
            continue
        count -= 1
        yield made


def test_findings_and_remarks_say_one_thing_in_the_singular_and_keep_their_capitals() -> None:
    for made in plans(120):
        said = [f"{found.title}. {found.why} {found.try_this}" for found in findings_of(made)]
        said += [advice.try_this for advice in advised(made)]
        for text in (*said, *remarks(made, stack_chosen=False).values(), pipeline_remark(made)):
            assert misspoken(text) == [], text


def settings(scene: Scene) -> Iterator[dict[str, float]]:
    """The knobs as they are, each at its least, and all of them at their least."""
    least = {knob.name: f"{knob.low:g}" for knob in scene.knobs if isinstance(knob, Amount)}
    for given in ({}, *({name: text} for name, text in least.items()), least):
        yield scene.values(given)


@pytest.mark.parametrize("scene", SCENES.values(), ids=list(SCENES))
def test_captions_and_descriptions_say_one_thing_in_the_singular(scene: Scene) -> None:
    shown = 0
    for values in settings(scene):
        try:
            frames = scene.frames(values)
        except Refusal:
            continue
        shown += 1
        texts = [text for frame in frames for text in (frame.caption, frame.description)]
        texts += [scene.question(values).ask, *(f"{term.label}: {term.text}" for term in scene.numbers(values))]
        texts += [wrong.instead for wrong in scene.misconceptions(values)]
        for text in texts:
            assert misspoken(text) == [], text
    assert shown


def test_what_is_misspoken_would_be_found() -> None:
    assert misspoken("2 stages around 1 micro-batches. Each gpu needs 78 gib.") == ["1 micro-batches", "gpu", "gib"]
    assert misspoken("Stage 1 holds 1 micro-batch, 1 times the mean; GPU 1 sends 21 copies.") == []


def test_nothing_is_capitalized_by_a_method_that_makes_small_what_is_large() -> None:
    code = [path for folder in ("app", "engine") for path in (ROOT / folder).rglob("*.py")]
    templates = list((ROOT / "templates").rglob("*.html"))
    lowers = re.compile(r"\.capitalize\(\)|\|\s*capitalize\b|\.title\(\)")
    assert [path.name for path in (*code, *templates) if lowers.search(path.read_text(encoding="utf-8"))] == []


PER = re.compile(
    r"\b(tokens?|bytes?|parameters|micro-batches|layers|chunks|experts|FLOP) an? (GPU|parameter|layer|token|stage|step|micro-batch)\b"
    r"(?! (holds|sends|goes|visits|before|keeps|needs|has|meets))"
)


def test_what_is_counted_per_something_says_per() -> None:
    files = [*(ROOT / "app/content").rglob("*.md"), *(ROOT / "app/content").rglob("*.yaml")]
    files += [
        *(ROOT / "app/board").rglob("*.py"),
        *(ROOT / "engine/compute").rglob("*.py"),
        ROOT / "app/plan/remarks.py",
    ]
    found = {path.name: PER.search(path.read_text(encoding="utf-8")) for path in files}
    assert {name: said[0] for name, said in found.items() if said} == {}


def test_the_unit_beside_a_slider_agrees_with_its_value() -> None:
    page = TestClient(create_app()).get("/scenes/pp?input=1&weight=2").text
    assert '<span data-one="forward">forward</span>' in page
    assert '<span data-one="forward">forwards</span>' in page
