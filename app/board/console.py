"""Documents as a person reads them at a terminal: aligned columns, units a person would choose, formulas as plain text."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from engine.advice import Gain
from engine.language.units import (
    bytes_text,
    count_text,
    digits_text,
    power_text,
    quantity_text,
    seconds_text,
    share_text,
    usd_text,
)

MARKS = {"error": "✗", "warning": "!", "advice": "·", "good": "✓"}
LONGEST_TIMELINE = 100  # slots of a drawing

_POWER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGNS = ((r"\left", ""), (r"\right", ""), (r"\cdot", "·"), (r"\times", "×"), (r"\le", "≤"), (r"\min", "min"), (r"\max", "max"),
          (r"\tau", "τ"), (r"\alpha", "α"), (r"\beta", "β"), ("{,}", ","), (r"\lceil", "⌈"), (r"\rceil", "⌉"), (r"\lfloor", "⌊"),
          (r"\rfloor", "⌋"), (r"\log", "log"), (r"\exp", "exp"))  # fmt: skip
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def plain_formula(latex: str) -> str:
    """A formula without LaTeX, on one line.

    >>> plain_formula(r"\\frac{4-1}{1 \\cdot 16+4-1}"), plain_formula(r"7.055\\times 10^{10}")
    ('(4-1) / (1 · 16+4-1)', '7.055 × 10¹⁰')
    """
    text = re.sub(r"\\text(?:rm)?\{([^{}]*)\}", r"\1", latex)
    for sign, shown in _SIGNS:
        text = text.replace(sign, shown)
    text = re.sub(r"\^\{(-?\d+)\}", lambda match: match[1].translate(_POWER), text)
    previous = None
    while previous != text:
        previous = text
        text = re.sub(rf"\\frac{_BRACED}{_BRACED}", lambda match: f"{_grouped(match[1])} / {_grouped(match[2])}", text)
        text = re.sub(rf"\\sqrt{_BRACED}", r"√(\1)", text)
    text = re.sub(r"\s*×\s*", " × ", text.replace("{", "").replace("}", ""))
    return re.sub(r"\s+", " ", text).strip()


def _grouped(part: str) -> str:
    return part if re.fullmatch(r"[\w.,]+", part) else f"({part})"


def columns(rows: Sequence[Sequence[str]], indent: str = "  ", left: int = 1) -> str:
    """Rows with their cells aligned: the first `left` to the left, the rest to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = (
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join((indent + line).rstrip() for line in lines)


def formula_text(document: dict[str, Any]) -> str:
    """One case of a formula with its working."""
    symbols, values = plain_formula(document["symbolic"]), plain_formula(document["substituted"])
    working = [f"  = {symbols}"] + ([f"  = {values}"] if values != symbols else [])
    return "\n".join(
        [
            f"{document['name']} = {quantity_text(document['value'], document['unit'])}",
            *working,
            *(f"  {document[name]}" for name in ("remark", "source") if name in document),
        ]
    )


def formulas_text(document: list[dict[str, Any]]) -> str:
    """The list of formulas: name, parameters, what it gives."""
    rows = [(one["name"], ", ".join(p["name"] for p in one["parameters"]), one["title"]) for one in document]
    return columns(rows, indent="", left=3)


def schedule_text(document: dict[str, Any]) -> str:
    """A timeline: its bubble, and a drawing where one slot is the shortest operation."""
    facts = [
        ("length", digits_text(document["makespan"], 4)),
        ("bubble of the step", share_text(document["bubble_of_total"])),
        ("bubble over ideal", share_text(document["bubble_of_ideal"])),
        ("in flight", ", ".join(digits_text(held) for held in document["in_flight"])),
    ]
    return "\n".join([columns(facts, left=2), *_drawing(document)])


def _drawing(document: dict[str, Any]) -> list[str]:
    durations = [one["end"] - one["start"] for one in document["intervals"]]
    slot = min((time for time in durations if time > 0), default=0.0)
    if not slot or document["makespan"] / slot > LONGEST_TIMELINE:
        return []
    rows = [[" "] * round(document["makespan"] / slot) for _ in range(document["stages"])]
    for one in document["intervals"]:
        for at in range(round(one["start"] / slot), round(one["end"] / slot)):
            rows[one["stage"]][at] = one["kind"]
    return ["", *(f"  stage {stage:<3} {''.join(row).rstrip()}" for stage, row in enumerate(rows))]


def estimate_text(document: dict[str, Any]) -> str:
    """An estimate on one screen."""
    parts = [_headline(document), _step(document), _memory(document), _communication(document), _findings(document)]
    return "\n\n".join(part for part in parts if part)


def _headline(document: dict[str, Any]) -> str:
    step, mfu, training, memory = document["step"], document["mfu"], document["training"], document["memory"]
    fits = "fits" if memory["fits"] else "does not fit"
    peak = f"allocates {bytes_text(memory['peak_bytes'], True)} of {bytes_text(memory['capacity_bytes'], True)}; {fits}"
    rows = [
        ("parameters", count_text(document["parameters"]["total"], 4), f"{count_text(document['parameters']['active'], 4)} active"),
        ("memory of a GPU", peak, ""),
        ("one step", seconds_text(step["seconds"]), f"{seconds_text(step['low_seconds'])} to {seconds_text(step['high_seconds'])}"),
        ("speed", f"{count_text(step['tokens_per_second'])} tokens/s", f"{count_text(step['tokens_per_second_per_gpu'])} per GPU"),
        ("MFU", share_text(mfu["causal"]), f"{share_text(mfu['six_n'])} by 6N, {share_text(mfu['full_attention'])} with full attention"),
        ("the run", f"{digits_text(training['days'])} days, {usd_text(training['usd'])}",
         f"{count_text(training['gpu_hours'])} GPU-hours, {power_text(training['flop'])} FLOP"),
    ]  # fmt: skip
    return columns(rows, indent="", left=3)


def _step(document: dict[str, Any]) -> str:
    step = document["step"]
    names = {
        "compute": "compute_seconds",
        "recompute": "recompute_seconds",
        "communication": "exposed_communication_seconds",
        "bubble": "bubble_seconds",
        "optimizer": "optimizer_seconds",
    }
    rows = [
        (name, seconds_text(step[key]), share_text(step[key] / step["seconds"]))
        for name, key in names.items()
        if step[key]
    ]
    formula = plain_formula(document["terms"]["step.seconds"]["substituted"])
    return "where the step goes\n" + columns(rows) + f"\n  = {formula}"


def _memory(document: dict[str, Any]) -> str:
    kinds = ("weights", "gradients", "optimizer", "activations", "buffers", "total")
    rows: list[tuple[str, ...]] = [("stage", *kinds)]
    for stage in document["memory"]["stages"]:
        rows.append((str(stage["stage"]), *(bytes_text(stage[f"{kind}_bytes"], True) for kind in kinds)))
    kept = rows if len(rows) <= 9 else [*rows[:5], ("…", *[""] * len(kinds)), *rows[-3:]]
    return "memory of one GPU\n" + columns(kept)


def _communication(document: dict[str, Any]) -> str:
    if not document["communication"]:
        return ""
    rows = [("axis", "collective", "link", "a buffer", "times", "seconds", "exposed")]
    for one in document["communication"]:
        rows.append(
            (
                one["axis"],
                one["op"].replace("_", "-"),
                one["link"],
                bytes_text(one["payload_bytes"]),
                count_text(one["count"]),
                seconds_text(one["seconds"]),
                seconds_text(one["exposed_seconds"]),
            )
        )
    return "communication of a step\n" + columns(rows, left=3)


def _findings(document: dict[str, Any]) -> str:
    return "\n".join(
        f"{MARKS[one['severity']]} {one['title']}. {one['why']} {one['try_this']}{_gain(one['gain'])}"
        for one in document["findings"]
    )


def _gain(gain: dict[str, float] | None) -> str:
    return f" Gain: {Gain(**gain).words()}." if gain else ""


def export_text(document: dict[str, Any]) -> str:
    """The files one after the other, each under its name, then what they cannot say."""
    files = [f"── {file['name']} ──\n{file['text'].rstrip()}\n" for file in document["files"]]
    return "\n".join([*files, *_sentences("not in these files", document["left_out"])])


def import_text(document: dict[str, Any]) -> str:
    """The scenario key by key, what was read line by line, then what has to be said."""
    layout = document["scenario"]["layout"]
    rows = [f"{key}: {value}" for key, value in document["scenario"].items() if key != "layout"]
    axes = [f"  {key}: {value}" for key, value in layout.items()]
    taken = [f"  line {each['line']}: {each['said']} -> {each['place']}" for each in document["read"]]
    said = [
        line
        for title in ("warned", "unknown", "assumed", "harmless")
        if document[title]
        for line in _sentences(title, document[title])
    ]
    return "\n".join([*rows, "layout:", *axes, "", "read:", *taken, *said])


def doctor_text(document: dict[str, Any]) -> str:
    """What was looked at, a line each, and how many need a hand."""
    checks = document["checks"]
    amiss = sum(not check["ok"] for check in checks)
    lines = [f"{MARKS['good' if check['ok'] else 'error']} {check['sentence']}" for check in checks]
    return "\n".join([*lines, f"{amiss} of {len(checks)} not in order" if amiss else "All is in order"])


def _sentences(title: str, sentences: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {sentence}" for sentence in sentences)] if sentences else []


TEXTS: dict[str, Callable[[Any], str]] = {
    "estimate": estimate_text,
    "export": export_text,
    "import": import_text,
    "schedule": schedule_text,
    "formula": formula_text,
    "formulas": formulas_text,
    "doctor": doctor_text,
}
