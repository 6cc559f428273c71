"""The workings that are shown are the arithmetic that was done: for every collective of scenarios of every kind."""

import ast
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.accounts.ledger import wire_ledger
from engine.estimate import Estimate
from engine.formulas import all_formulas
from engine.language.domain import domain_of
from engine.language.formula import FORMULAS, Formula, Given, Term
from engine.language.refusal import Refusal
from engine.lens.napkin import comparisons
from engine.network.issued import Collective
from engine.workings import terms_of
from tests.engine.conftest import Ask
from tests.engine.workings import CHANGES, SCENARIOS, facts_of, leaves, possible, terms_in, workings_of

each_scenario = pytest.mark.parametrize("name", SCENARIOS)


@each_scenario
def test_a_working_recomputed_is_the_number_it_belongs_to(name: str, ask: Ask) -> None:
    for path, term in terms_of(ask(**SCENARIOS[name])).items():
        for inner in terms_in(term) if isinstance(term, Term) else ():
            assert float(inner.formula(**inner.numbers)) == inner.value, path


@each_scenario
def test_every_argument_of_a_collectives_working_is_an_input(name: str, ask: Ask) -> None:
    found = ask(**SCENARIOS[name])
    for one in found.step.communication:
        facts = facts_of(found, one)
        for what, term in workings_of(one).items():
            for formula, argument, number in leaves(term):
                assert number in facts[formula, argument], (one.what, what, formula, argument)


@each_scenario
def test_the_engine_agrees_with_the_working_when_an_input_changes(name: str, ask: Ask) -> None:
    """The old formulas, given the new inputs, say what the engine says of the changed scenario."""
    before, compared = ask(**SCENARIOS[name]), 0
    for change in CHANGES.values():
        try:
            after = ask(**change(SCENARIOS[name]))
        except Refusal:
            continue
        compared += agreeing(before, after)
    assert compared > 50


def agreeing(before: Estimate, after: Estimate) -> int:
    """How many workings of the two were compared."""
    compared = 0
    for what in {one.what for one in before.step.communication}:
        old, new = (rows(found, what) for found in (before, after))
        if len(old) != len(new):  # passes that show alike are one row, and what shows has changed
            continue
        for one, other in zip(old, new, strict=True):
            facts, known = facts_of(after, other), facts_of(before, one)
            again = workings_of(other)
            for part, term in workings_of(one).items():
                said = possible(term, facts, known)
                assert any(again[part].value == pytest.approx(value, rel=1e-12) for value in said), (what, part)
                compared += 1
    return compared


def rows(found: Estimate, what: str) -> list[Collective]:
    return [one for one in found.step.communication if one.what == what]


def test_what_the_changes_change_is_seen(ask: Ask) -> None:
    """Each change moves some payload or count somewhere, or the comparison would say nothing about it."""
    for change, make in CHANGES.items():
        assert any(moved(ask, asked, make) for asked in SCENARIOS.values()), change


def moved(ask: Ask, asked: dict[str, Any], make: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
    try:
        found = [ask(**asked), ask(**make(asked))]
    except Refusal:
        return False
    first, second = ([(c.what, c.payload_bytes, c.count) for c in each.step.communication] for each in found)
    return first != second


@each_scenario
def test_a_share_of_each_argument_reaches_the_number(name: str, ask: Ask) -> None:
    """1 % more of a factor is 1 % more of the product: counts, and payloads of activations, are products."""
    for one in ask(**SCENARIOS[name]).step.communication:
        for term in (one.payload, one.counted):
            if term.formula.name in (
                "handover_bytes",
                "exchange_bytes",
                "issued_by_layers",
                "activation_payload_bytes",
            ):
                divisor = {"t"}
                for argument, number in term.numbers.items():
                    factor = 1 / 1.01 if argument in divisor else 1.01
                    nudged = term.formula(**{**term.numbers, argument: 1.01 * number})
                    assert nudged == pytest.approx(factor * term.value, rel=1e-12), (one.what, argument)


def test_deepseek_v3_dispatches_one_byte_a_number_and_combines_two(ask: Ask) -> None:
    """2,048 H100, EP 64: 4,096 tokens, to at most 4 of 8 nodes each, 7,168 numbers; 61 layers on 16 stages twice."""
    found = ask(
        model="deepseek-v3",
        gpus=2048,
        tp=1,
        pp=16,
        ep=64,
        precision="fp8",
        sequence_tokens=4096,
        micro_batches=120,
        schedule="dualpipe",
    )
    (there,), (back,) = rows(found, "EP dispatch"), rows(found, "EP combine")
    assert there.payload.substituted.startswith(r"1 \cdot \frac{4{,}096}{1} \cdot 4 \cdot 7{,}168")
    assert there.payload_bytes == 1 * 4096 * 4 * 7168 == 117_440_512
    assert back.payload_bytes == 2 * 4096 * 4 * 7168 == 234_881_024
    copies = there.payload.arguments["k"]
    assert isinstance(copies, Term) and copies.numbers == {"k": 8, "n": 4, "g": 8}
    layers = there.counted.numbers["n"]
    assert layers in (7, 8)  # 61 layers over 16 stages, two of them on each: 3 or 4 and 4
    assert there.count == back.count == layers * 2 * 60  # each way, 60 micro-batches in each direction
    assert there.sent.value == 117_440_512 * 63 / 64


def test_llama_3_70b_of_the_card_by_hand(card: Estimate) -> None:
    """TP 8, PP 4, DP 32, ZeRO-1, 16 micro-batches of one sequence of 8,192 tokens, hidden size 8,192."""
    (gather,), (send,) = rows(card, "TP all-gather"), rows(card, "PP sends")
    assert gather.payload_bytes == 2 * 8192 * 8192 == 134_217_728
    assert gather.count == 20 * (2 + 2) * 16 == 1280
    assert gather.sent.value == 134_217_728 * 7 / 8
    assert send.payload_bytes == 2 * 8192 * 8192 / 8 == 16_777_216
    assert send.sent.value == 16_777_216
    assert send.count == 2 * 1 * 16
    (scatter,), (weights,) = rows(card, "DP reduce-scatter"), rows(card, "DP all-gather")
    layer = 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672 + 2 * 8192  # q, o; k, v; gate, up, down; norms
    end = 128256 * 8192
    first, last = (20 * layer + end) / 8, (20 * layer + end + 8192) / 8
    assert weights.payload_bytes in (2 * first, 2 * last)
    assert scatter.payload_bytes == 2 * weights.payload_bytes  # FP32 gradients, BF16 weights
    assert scatter.count == weights.count == 1


# GPipe's is no echo of what was given: that a stage holds all micro-batches of a step is what the formula says.
SAYS_ITS_ARGUMENT = {"in_flight_gpipe"}


def echoes(made: Formula) -> bool:
    """Whether a formula gives one of its own arguments back, whatever they are."""
    chance = random.Random(made.name)
    kept = set(made.parameters)
    for _ in range(12):
        point = {
            name: domain_of(p.unit).nearest(chance.uniform(0, min(99, domain_of(p.unit).high)))
            for name, p in made.parameters.items()
        }
        point |= {made.case: chance.choice(list(made.templates))} if made.case else {}
        kept &= {name for name, number in point.items() if float(made(**point)) == number}
    return bool(kept)


def test_no_formula_gives_one_of_its_arguments_back() -> None:
    assert {name for name, made in all_formulas().items() if echoes(made)} == SAYS_ITS_ARGUMENT


@each_scenario
def test_no_number_of_an_estimate_is_an_echo(name: str, ask: Ask) -> None:
    found = ask(**SCENARIOS[name])
    shown = [*terms_of(found).values(), *(value for row in comparisons(found) for value in (row.napkin, row.exact))]
    shown += [term for row in wire_ledger(found) for term in row.terms.values()]
    used = {inner.formula.name for term in shown if isinstance(term, Term) for inner in terms_in(term)}
    assert {made for made in used if echoes(FORMULAS[made])} <= SAYS_ITS_ARGUMENT


def test_a_number_that_is_given_has_a_source_and_no_formula(card: Estimate) -> None:
    capacity = terms_of(card)["memory.capacity_bytes"]
    assert isinstance(capacity, Given)
    assert capacity.source == card.scenario.cluster.gpu.fact("memory_bytes").source
    assert capacity.document()["formula"] is None
    fits = terms_of(card)["memory.fits"]
    assert isinstance(fits, Term) and fits.arguments["M"] == capacity


def test_no_argument_of_a_working_is_a_quotient() -> None:
    """What is divided out of an answer and multiplied again explains nothing: the engine gives formulas their inputs."""
    found = []
    for path in Path(engine.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "explain":
                divisions = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
                found += [f"{path.name}, line {division.lineno}" for division in divisions]
    assert found == []
