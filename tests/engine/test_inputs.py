"""The family of bounded inputs: what is read, what is refused with which way out, and what writes itself back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.domain import number_in, number_text, plain_number
from engine.language.inputs import Amount, Choice, Input, Words, YesNo, read_all, texts_of
from engine.language.refusal import Refusal

STEPS = Amount("steps", "steps", 5, 1, 20)
SHARE = Amount("share", "share", None, 0.1, 1, whole=False, absent="the one computed")
SIZE = Choice("hidden", "hidden size", 128, {64: "64", 128: "128", 256: "256"})
DEAL = Choice("deal", "dealt", None, {"zig-zag": "zig zag", "in-order": "in order"}, absent="as it comes")
NORMS = YesNo("norms", "norms", True, "cut", "whole")
NOTE = Words("note", "note", "", 10)


def refused(each: Input, value: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        each.read(value)
    return caught.value


@pytest.mark.parametrize(
    ("each", "value", "read"),
    [
        (STEPS, "7", 7),
        (STEPS, 7.0, 7),
        (STEPS, "1e1", 10),
        (STEPS, " 20 ", 20),
        (SHARE, "0.5", 0.5),
        (SHARE, "", None),
        (SHARE, None, None),
        (SIZE, "64", 64),
        (SIZE, 256, 256),
        (SIZE, 64.0, 64),
        (DEAL, "in-order", "in-order"),
        (DEAL, " ", None),
        (NORMS, "false", False),
        (NORMS, "1", True),
        (NORMS, True, True),
        (NORMS, 0, False),
        (NOTE, "short", "short"),
    ],
)
def test_text_and_json_are_read_alike(each: Input, value: object, read: object) -> None:
    assert each.read(value) == read and type(each.read(value)) is type(read)


@pytest.mark.parametrize(
    ("each", "value", "words"),
    [
        (STEPS, "many", "steps = many: needs a whole number from 1 to 20; the nearest that works: 5"),
        (STEPS, 0, "steps = 0: needs a whole number from 1 to 20; the nearest that works: 1"),
        (STEPS, "2.6", "steps = 2.6: needs a whole number from 1 to 20; the nearest that works: 3"),
        (STEPS, True, "steps = True: needs a whole number from 1 to 20; the nearest that works: 5"),
        (STEPS, None, "steps: needs a whole number from 1 to 20; the nearest that works: 5"),
        (STEPS, "٣", "steps = ٣: needs a whole number from 1 to 20; the nearest that works: 5"),
        (STEPS, "1,5", "steps = 1,5: needs a whole number from 1 to 20; the nearest that works: 5"),
        (SHARE, "x", "share = x: needs a number from 0.1 to 1; the nearest that works: 0.1"),
        (SHARE, "inf", "share = inf: needs a number from 0.1 to 1; the nearest that works: 1"),
        (SIZE, 200, "hidden = 200: must be one of 64, 128, 256; the nearest that works: 256"),
        (SIZE, "x", "hidden = x: must be one of 64, 128, 256; the nearest that works: 128"),
        (DEAL, "inorder", "deal = inorder: must be one of zig-zag, in-order; the nearest that works: in-order"),
        (NORMS, "flase", "norms = flase: needs true or false; the nearest that works: false"),
        (NORMS, 2, "norms = 2: needs true or false; the nearest that works: true"),
        (NOTE, "much too long", "note = much too long: needs text of at most 10 characters"),
    ],
)
def test_what_is_none_is_refused_in_a_sentence_with_the_way_out(each: Input, value: object, words: str) -> None:
    assert str(refused(each, value)) == words


def test_a_number_too_small_is_led_to_where_the_slider_begins() -> None:
    tokens = Amount("tokens", "tokens", 15, 1e-30, 1e6, whole=False, reach=(0.1, 30), said="must be above 0")
    assert refused(tokens, "0").advice == "must be above 0; the nearest that works: 0.1"
    assert tokens.read("0.05") == 0.05


def test_few_options_stand_side_by_side_and_more_in_a_list() -> None:
    assert SIZE.kind == "choice"
    assert Choice("n", "n", 1, {1: "1", 2: "2", 3: "3", 4: "4"}).kind == "select"
    assert DEAL.choices[0] == ("", "as it comes")
    assert SIZE.choices_with("7")[-1] == ("7", "7") and SIZE.choices_with("64") == SIZE.choices


def test_a_group_is_read_with_its_defaults_and_refused_all_at_once() -> None:
    group = (STEPS, SIZE, NORMS, SHARE)
    assert read_all(group, {"steps": "3"}, "") == {"steps": 3, "hidden": 128, "norms": True, "share": None}
    assert texts_of(group, {"steps": " 1,000 "}) == {"steps": "1000", "hidden": "128", "norms": "true", "share": ""}
    with pytest.raises(Refusal) as caught:
        read_all(group, {"steps": 0, "hidden": 1, "who": 1}, "known are {names}")
    assert [each.field for each in caught.value.all] == ["who", "steps", "hidden"]


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18))
def test_a_number_is_written_as_it_is_read(number: float) -> None:
    assert number_in(number_text(number)) == float(number)


@given(st.text(max_size=12) | st.sampled_from(["1,024", "1_0", "1_,024", "12,34,567", "\u00a01\u00a0000"]))
def test_what_is_shown_stays_as_it_is_and_reads_the_same(text: str) -> None:
    shown = plain_number(text)
    assert plain_number(shown) == shown
    assert str(number_in(shown)) == str(number_in(text))


ANYTHING: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.integers(-10, 10**7).map(str)
    | st.just([1])
    | st.just({})
    | st.just("9" * 500)
    | st.just(10**400)
)


@given(st.sampled_from([STEPS, SHARE, SIZE, DEAL, NORMS, NOTE]), ANYTHING)
def test_the_nearest_that_works_works_and_what_is_read_writes_itself_back(each: Input, value: object) -> None:
    try:
        read: Any = each.read(value)
    except Refusal as refusal:
        assert refusal.field == each.name and len(refusal.sentence) < 200
        if refusal.nearest is not None:
            each.read(refusal.nearest)
        else:
            assert isinstance(each, Words) or each is DEAL, "a bounded number and a choice with a default know one"
    else:
        assert each.read(each.text(read)) == read
