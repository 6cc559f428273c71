"""The pipeline scene: its numbers against the storyboard's."""

import pytest

from app.board.scenes.pp.case import Case
from app.board.scenes.pp.scene import PP
from engine.language.formula import Term

SETTINGS = [
    {},
    {"micro": "32"},
    {"stages": "8", "micro": "32", "chunks": "4"},
    {"stages": "2", "micro": "2"},
    {"stages": "5"},
    {"stages": "8", "micro": "32", "chunks": "4", "send": "1", "input": "3", "weight": "3", "slow": "100"},
    {"stages": "8", "micro": "2", "send": "0.5"},
    {"stages": "3", "micro": "31", "weight": "0.25"},
    {"stages": "7", "micro": "28"},
    {"stages": "6", "micro": "32", "chunks": "3", "slow": "15"},
    {"input": "0.25", "weight": "3", "send": "0.05"},
]


def case(**given: str) -> Case:
    return Case(PP.values(given))


def terms(given: dict[str, str]) -> dict[str, Term]:
    return {term.label: term for term in PP.numbers(PP.values(given))}


# Four stages, F = 1, input gradient 1, weight gradient 1: slots, percent of the step, held by each stage.
STORY = [
    ("gpipe", "8", 33, 27.3, (8, 8, 8, 8)),
    ("1f1b", "8", 33, 27.3, (4, 3, 2, 1)),
    ("interleaved", "8", 28.5, 15.8, (5.5, 4.5, 3.5, 2.5)),
    ("zb-h1", "8", 27, 11.1, (4, 4, 4, 4)),
    ("zb-h2", "8", 27, 11.1, (7, 7, 7, 7)),
    ("1f1b", "32", 105, 8.6, (4, 3, 2, 1)),
]


@pytest.mark.parametrize(("name", "micro", "slots", "percent", "held"), STORY)
def test_the_storyboards_numbers_are_the_engines(
    name: str, micro: str, slots: float, percent: float, held: tuple
) -> None:
    run = case(micro=micro).run(name)
    assert run.slots == slots
    assert 100 * case(micro=micro).waiting(name).value == pytest.approx(percent, abs=0.05)
    assert run.held == held


def test_zb_h2_waits_only_on_its_ramps() -> None:
    assert case().run("zb-h2").gapless
    assert case().inside("zb-h2").value == pytest.approx(0)
    assert not case(stages="8").run("zb-h2").gapless  # fewer than 2p - 2 micro-batches


def test_a_slow_last_stage_costs_its_share_of_every_micro_batch() -> None:
    slow = case(micro="32", slow="10")
    assert slow.run("1f1b", slow=slow.slower).slots == pytest.approx(114.6)
    assert terms({"micro": "32", "slow": "10"})["1F1B with a slow last stage"].value == pytest.approx(114.6)


@pytest.mark.parametrize("given", [given for given in SETTINGS if "send" not in given])
def test_the_textbook_formulas_agree_with_the_timeline_while_sends_take_no_time(given: dict[str, str]) -> None:
    found, shown = case(**given), terms(given)
    assert shown["step of GPipe and of 1F1B"].value == pytest.approx(found.run("1f1b").slots)
    assert shown["bubble of GPipe and of 1F1B"].value == pytest.approx(found.waiting("gpipe").value)
    if found.slower:
        assert shown["1F1B with a slow last stage"].value == pytest.approx(found.run("1f1b", slow=found.slower).slots)
    if not found.groups:
        assert shown[f"step, {found.v} chunks per stage"].value == pytest.approx(found.run("interleaved").slots)


def test_interleaving_sends_as_often_as_chunks_have_neighbours() -> None:
    found = case()
    for v, name in ((1, "1f1b"), (2, "interleaved")):
        run = found.run(name)
        places = [run.placement.places[op.stage][op.chunk].position for op in run.timeline.intervals if op.kind == "F"]
        assert 2 * sum(position > 0 for position in places) == found.sends(v).value


def test_the_question_has_the_engines_answer_and_knows_the_usual_mistake() -> None:
    asked = PP.question(PP.values({}))
    assert asked.answer is not None
    assert asked.answer.text == "27.3 % of the step"
    wrong = asked.answer.formula.recognise(0.375, **asked.answer.numbers)
    assert wrong is not None and "(p-1)/m" in wrong.title


def test_what_people_say_is_put_right_with_numbers() -> None:
    said = {each.said: each.instead for each in PP.misconceptions(PP.values({}))}
    assert "33 slots here, 1F1B 33" in said["1F1B reduces the bubble."]
    share = said["The wasted share is the other stages over the micro-batches."]
    assert "37.5 %" in share and "27.3 %" in share


@pytest.mark.parametrize("given", [{"send": "0.3"}, {"weight": "0.25"}, {"stages": "6", "micro": "12"}])
def test_every_idle_moment_has_its_reason(given: dict[str, str]) -> None:
    found = case(**given)
    assert len(found.runs) >= 7
    for run in found.runs.values():
        idle = sum(end - start for stage in range(found.p) for start, end in run.timeline.idle_gaps(stage))
        assert sum(wait.end - wait.start for wait in run.waits) == pytest.approx(idle), run.title
    svg = PP.frames(PP.values({}))[2].figure.svg()
    assert "Stage 0 waits for the backward of micro-batch 0 from stage 1; first stage 3 has to run" in svg
