"""The family of bounded inputs: what a person may turn, type or choose, and a program may send.

Each input reads text or a JSON value, or refuses it in one sentence with the nearest that works; writes its value back to
text; and knows what a control of it needs. An input that may be left out says what that means (`absent`): then nothing, "" and
null read as None. A form, a scene, a demo, a formula and the size of a game are lists of these.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from engine.language.choice import strangers
from engine.language.inputs.amount import Amount
from engine.language.inputs.options import Choice, YesNo
from engine.language.inputs.words import Words
from engine.language.refusal import Refusal, together

__all__ = ["Amount", "Choice", "Input", "Words", "YesNo", "read_all", "texts_of"]

Input = Amount | Choice | YesNo | Words


def read_all(inputs: Iterable[Input], given: Mapping[str, object], unknown: str) -> dict[str, Any]:
    """The value of each input, its default where nothing is said of it; all that is wrong in one Refusal.

    unknown   said of a name that none of them has; `{names}` stands for theirs

    >>> read_all([Amount("steps", "steps", 5, 1, 20)], {}, "known are {names}")
    {'steps': 5}
    """
    known = {each.name: each for each in inputs}
    refused, values = strangers(given, known, unknown), {}
    for name, each in known.items():
        try:
            values[name] = each.read(given[name]) if name in given else each.default
        except Refusal as refusal:
            refused.append(refusal)
    if refused:
        raise together(refused)
    return values


def texts_of(inputs: Iterable[Input], given: Mapping[str, object]) -> dict[str, str]:
    """What stands in the control of each input: what was typed, or its default.

    >>> texts_of([Amount("steps", "steps", 5, 1, 20)], {"steps": " 1,000 "})
    {'steps': '1000'}
    """
    return {
        each.name: each.shown(str(given[each.name])) if each.name in given else each.text(each.default)  # type: ignore[arg-type]
        for each in inputs
    }
