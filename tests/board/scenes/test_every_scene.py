"""What holds for every scene; a new one is tested by being listed."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import app.board.scenes as folder
from app.board.scenes import SCENES, Scene
from app.board.scenes.base import MOST_WORDS, Frame
from app.runner.catalog import DEMOS
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal

FOLDER = Path(folder.__file__).parent
NAMES = re.compile(
    r"ZeRO-\d|1F1B|ZB-H\d|H\d00|FP?\d+|BF16|GPU \{|[A-Z]\d\b|\bv \d|Llama 3|NVL72|%[.\d]*[dfg]|:[.,\d]*[dfg]"
)


def settings(scene: Scene) -> list[dict[str, str]]:
    """Defaults, and each knob at both of its ends."""
    found: list[dict[str, str]] = [{}]
    for knob in scene.knobs:
        ends = [text for text, _ in knob.choices] if isinstance(knob, Choice) else map(knob.text, (knob.low, knob.high))
        found += [{knob.name: end} for end in ends]
    return found


def drawn(scene: Scene, setting: dict[str, str]) -> tuple[Frame, ...]:
    return drawn_once(scene.name, tuple(setting.items()))


@cache
def drawn_once(name: str, setting: tuple[tuple[str, str], ...]) -> tuple[Frame, ...]:
    try:
        return SCENES[name].frames(SCENES[name].values(dict(setting)))
    except Refusal:
        return ()


EACH = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)


@EACH
def test_the_same_values_give_the_same_bytes(scene: Scene) -> None:
    values = scene.values({})
    assert [f.figure.svg() for f in scene.frames(values)] == [f.figure.svg() for f in scene.frames(values)]


@EACH
def test_every_setting_gives_frames_or_a_sentence(scene: Scene) -> None:
    for setting in settings(scene):
        for frame in drawn(scene, setting):
            svg = frame.figure.svg()
            assert "nan" not in svg and "inf" not in svg, (setting, frame.name)
    assert drawn(scene, {}), "the defaults give a picture"


@EACH
def test_captions_are_short_and_every_frame_is_told_in_words(scene: Scene) -> None:
    frames = scene.frames(scene.values({}))
    for frame in frames:
        assert 3 <= len(frame.caption.split()) <= MOST_WORDS, frame.caption
        assert len(frame.description) > 40, frame.name
    assert len({frame.name for frame in frames}) == len(frames)


@EACH
def test_what_a_scene_says_is_complete(scene: Scene) -> None:
    values = scene.values({})
    question = scene.question(values)
    assert (question.answer is None) == bool(question.options)
    assert question.ask.endswith("?") and question.because
    assert scene.numbers(values) and scene.misconceptions(values)
    assert scene.sentence.endswith(".")


@EACH
def test_the_demo_it_leads_to_exists(scene: Scene) -> None:
    assert not scene.real or scene.real in DEMOS


@EACH
def test_a_knob_out_of_its_range_is_a_sentence(scene: Scene) -> None:
    for knob in scene.knobs:
        for bad in ("0", "-3", "1e9", "many", "", "nan") if isinstance(knob, Amount) else ("nonsense",):
            if isinstance(knob, Amount) and bad == "0" and knob.low <= 0:
                continue
            with pytest.raises(Refusal) as caught:
                scene.values({knob.name: bad})
            assert caught.value.field == knob.name


@EACH
def test_a_knob_it_does_not_have_is_a_sentence_that_names_those_it_has(scene: Scene) -> None:
    with pytest.raises(Refusal) as caught:
        scene.values({"colour": "red", "frame": "1", "answer": "2"})
    assert caught.value.sentence.startswith("colour = red: this scene has no such knob; it has " + scene.knobs[0].name)


def literals(file: Path) -> list[tuple[int, str]]:
    """Texts of a scene's code that a viewer may read: no docstrings, no keys, names or LaTeX."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    silent = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in silent
        and " " in node.value
    ]


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: str(file.relative_to(FOLDER)))
def test_no_number_in_a_scenes_words_is_typed_by_hand(file: Path) -> None:
    typed = [(line, text) for line, text in literals(file) if re.search(r"\d", NAMES.sub("", text))]
    assert typed == []
