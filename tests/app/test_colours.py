"""The colours of both boards: text can be read, and axes stay apart, for colour-blind eyes as well."""

import re
from itertools import combinations
from typing import get_args, get_type_hints

import numpy as np
import pytest

from app.settings import settings
from engine.asking.grade import Verdict
from engine.findings.base import Severity

TOKENS = (settings().static / "css" / "tokens.css").read_text()
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TOKENS)
}
BOARDS = ("whiteboard", "chalkboard")
AXES = ("tp", "pp", "dp", "cp", "ep")
SEEN = {  # Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; on linear RGB
    "everyone": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    a, b = (float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def oklab(light: np.ndarray) -> np.ndarray:
    """Björn Ottosson 2020: distances in this space are about even to the eye. Times 100."""
    cones = np.array(
        [
            [0.41222147, 0.53633254, 0.05144599],
            [0.21190350, 0.68069955, 0.10739696],
            [0.08830246, 0.28171884, 0.62997870],
        ]
    )
    opponents = np.array(
        [
            [0.21045426, 0.79361779, -0.00407205],
            [1.97799850, -2.42859221, 0.45059371],
            [0.02590404, 0.78277177, -0.80867577],
        ]
    )
    return 100 * opponents @ np.cbrt(cones @ np.clip(light, 0, 1))


def distance(one: str, other: str, eyes: str) -> float:
    return float(np.linalg.norm(oklab(SEEN[eyes] @ linear(one)) - oklab(SEEN[eyes] @ linear(other))))


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("name", ["ink", "ink-soft", "remark", "good", "bad", *AXES])
def test_what_is_written_on_a_board_can_be_read(name: str, board: int) -> None:
    assert contrast(PAIRS[name][board], PAIRS["board"][board]) >= 4.5


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
def test_ink_passes_the_rule_for_the_last_row_of_a_room(board: int) -> None:
    assert contrast(PAIRS["ink"][board], PAIRS["board"][board]) >= 7


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("name", ["activations", "buffers", "f", "b", "w", "plain", *(f"{axis}-pale" for axis in AXES)])
def test_ink_can_be_read_on_every_tint(name: str, board: int) -> None:
    assert contrast(PAIRS["ink"][board], PAIRS[name][board]) >= 4.5


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("name", AXES)
def test_the_letter_of_an_axis_can_be_read_on_its_colour(name: str, board: int) -> None:
    assert contrast(PAIRS["on-ink"][board], PAIRS[name][board]) >= 4.5


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("paper", ["note-yellow", "note-salmon", "note-green"])
def test_a_sticky_note_can_be_read(paper: str, board: int) -> None:
    note_ink = re.search(r"--note-ink: (#[0-9a-f]{6})", TOKENS)
    assert note_ink and contrast(note_ink[1], PAIRS[paper][board]) >= 7


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("axis", ["tp", "pp", "dp", "cp"])
def test_expert_parallel_stays_apart_from_every_other_axis(axis: str, eyes: str, board: int) -> None:
    assert distance(PAIRS["ep"][board], PAIRS[axis][board], eyes) >= 8


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
def test_all_axes_stay_apart_for_most_eyes(board: int) -> None:
    for one, other in combinations(AXES, 2):
        assert distance(PAIRS[one][board], PAIRS[other][board], "everyone") >= 10


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("eyes", ["everyone", "protanopia", "deuteranopia"])
def test_what_is_wrong_does_not_look_like_an_axis_that_is_drawn_beside_it(eyes: str, board: int) -> None:
    """A stage of the pipeline is no error: tensor parallelism over nodes was drawn in what looked like PP."""
    assert distance(PAIRS["bad"][board], PAIRS["pp"][board], eyes) >= 9


def test_every_mood_of_a_note_has_its_colour() -> None:
    styles = (settings().static / "css" / "slips.css").read_text(encoding="utf-8")
    moods = {*get_args(Severity), *get_args(get_type_hints(Verdict)["mood"])}
    assert [mood for mood in moods if f".note-{mood}" not in styles] == []


@pytest.mark.parametrize("board", range(2), ids=BOARDS)
@pytest.mark.parametrize("name", [*AXES, "remark", "good", "bad"])
def test_accents_as_text_on_the_stage_are_read_in_the_last_row(name: str, board: int) -> None:
    assert contrast(PAIRS[f"{name}-text"][board], PAIRS["board"][board]) >= 7
    stage = (settings().static / "css" / "present.css").read_text()
    assert f"--{name}: var(--{name}-text);" in stage


def test_the_hand_leaves_its_z_to_a_face_in_which_it_is_no_2() -> None:
    base = (settings().static / "css" / "base.css").read_text()
    faces = [face for face in re.findall(r"@font-face \{[^}]*\}", base) if "Kalam" in face]
    assert faces
    for face in faces:
        ranges = re.search(r"unicode-range: ([^;]+);", face)
        assert ranges
        spans = [part.strip().removeprefix("U+").split("-") for part in ranges[1].split(",")]
        assert not any(int(low, 16) <= ord("Z") <= int(high, 16) for low, high in spans)
    hand = re.search(r"--hand: ([^;]+);", TOKENS)
    assert hand and hand[1].split(", ")[1] == '"Atkinson Hyperlegible"'
