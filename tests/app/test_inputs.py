"""Every input of the whole program: what it refuses comes with a way out that works, and what it reads writes itself back."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.board.scenes import SCENES
from app.builder.game import SIZE
from app.plan.form import FIELDS
from app.runner.catalog import DEMOS
from app.runner.fake.request import INPUTS, RANKS
from app.topology.case import LOOK
from engine.formulas import all_formulas
from engine.language.domain import domain_of, number_text
from engine.language.inputs import Amount, Choice, Input, Words, YesNo
from engine.language.refusal import Refusal

ROOT = Path(__file__).parents[2]
EVERY: dict[str, Input] = {
    **{f"scene {name}, {knob.name}": knob for name, scene in SCENES.items() for knob in scene.knobs},
    **{f"demo {name}, {knob.name}": knob for name, demo in DEMOS.items() for knob in demo.knobs},
    **{f"plan, {name}": field.input for name, field in FIELDS.items()},
    **{f"floor, {each.name}": each for each in LOOK},
    **{f"trace, {each.name}": each for each in (*INPUTS, RANKS)},
    **{f"builder, {each.name}": each for each in SIZE},
}
LISTED = {where: each for place, (where, each) in enumerate(EVERY.items()) if each not in list(EVERY.values())[:place]}
TYPED = (
    st.sampled_from(
        ["", " ", "many", "0", "-1", "1e9", "inf", "-inf", "nan", "2.5", "1,024", "1,5", "true", "٣", "9" * 400, "\0"]
    )
    | st.integers(-10, 10**7).map(str)
    | st.floats().map(repr)
    | st.text(max_size=12)
)
SENT = TYPED | st.none() | st.booleans() | st.integers() | st.floats() | st.just([1]) | st.just(10**400)


@pytest.mark.parametrize("where", LISTED)
@given(sent=SENT)
def test_what_is_refused_has_a_way_out_and_what_is_read_writes_itself_back(where: str, sent: object) -> None:
    each = LISTED[where]
    try:
        read: Any = each.read(sent)
    except Refusal as refusal:
        assert refusal.field == each.name and len(refusal.sentence) < 400
        assert refusal.nearest or each.default is None or isinstance(each, Words), refusal.sentence
        if refusal.nearest:
            each.read(refusal.nearest)
        return
    assert each.read(each.text(read)) == read
    if isinstance(sent, str):
        assert each.read(each.shown(sent)) == read, "what a control shows again means what was typed"


SCRIPTS = [str.maketrans("0123456789", digits) for digits in ("０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९")]


@pytest.mark.parametrize("where", LISTED)
def test_digits_of_other_scripts_are_no_number(where: str) -> None:
    each = LISTED[where]
    if isinstance(each, Words):
        return
    for usual in (each.text(each.default), *(text for text, _ in getattr(each, "choices", ()))):  # type: ignore[arg-type]
        for script in SCRIPTS:
            if (foreign := usual.translate(script)) != usual and not getattr(each, "open", False):
                with pytest.raises(Refusal):
                    each.read(foreign)


@pytest.mark.parametrize("where", LISTED)
def test_an_input_takes_its_default_its_ends_and_its_options(where: str) -> None:
    each = LISTED[where]
    ends = [number_text(end) for end in each.span] if isinstance(each, Amount) else []
    options = [text for text, label in each.choices if label or each.absent] if isinstance(each, Choice | YesNo) else []
    usual: Any = each.default
    for text in (*ends, *options, each.text(usual)):
        if text or each.absent:
            read: Any = each.read(text)
            assert each.text(read) == text
    assert each.label and each.rule
    assert each.default is not None or each.absent, "an input without a default says what leaving it out means"


@given(number=st.floats(allow_nan=False) | st.integers(-5, 5))
def test_the_nearest_that_works_works_for_every_parameter_of_a_formula(number: float) -> None:
    for parameter in {p.unit: p for made in all_formulas().values() for p in made.parameters.values()}.values():
        try:
            read = parameter.check(number, "it")
        except Refusal as refusal:
            if refusal.nearest:
                parameter.check(refusal.nearest, "it")
        else:
            assert domain_of(parameter.unit).holds(read)


COLOURS = re.compile(r"""["'](?:salmon|yellow|green|red|blue|orange|purple|pink|white|black)["']""")


def test_no_room_decides_a_colour() -> None:
    """A view says a mood; the style sheets have its colour. Figures use inks by the names of what they mean."""
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        if "board" not in path.parts
        for word in COLOURS.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []
