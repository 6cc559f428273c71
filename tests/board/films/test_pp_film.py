"""The pipeline film: what it shows is what the schedule's timeline says, for every schedule and many shapes."""

import json
import random
import zlib

import pytest

from app.board.film.composition import Actor, Composition
from app.board.film.data import film_data
from app.board.scenes.pp.case import NAMES, Case
from app.board.scenes.pp.film import film
from app.board.scenes.pp.marbles import Marbles
from app.board.scenes.pp.piles import Piles
from app.board.scenes.pp.scene import PP
from app.board.scenes.pp.story import Story
from engine.language.refusal import Refusal
from engine.lens.stacks import kept
from engine.pipeline.timeline import Interval
from tests.board.films.reading import FORMS
from tests.board.films.test_every_film import MOST_BYTES

EACH = pytest.mark.parametrize("name", NAMES)
SHAPES = ({}, {"stages": "2"}, {"stages": "6", "micro": "12"}, {"stages": "8", "micro": "32", "chunks": "4"})
TIMES = ({}, {"input": "0.5", "weight": "1.5"}, {"send": "0.3", "slow": "40"})


def stories(name: str) -> list[Story]:
    """The films of a schedule at shapes and times that it can run."""
    found = []
    for shape in SHAPES:
        for times in TIMES:
            case = Case(PP.values({"schedule": name, **shape, **times}))
            if case.refusal(name) is None:
                found.append(Story(case))
    assert len(found) >= 6
    return found


def drawn(story: Story) -> tuple[Composition, Composition]:
    made = film(story.case.values)
    return made.wide, made.tall


def of_kind(picture: Composition, kind: str) -> list[Actor]:
    return [actor for actor in picture.actors if actor.kind == kind]


def amount_at(story: Story, picture: Composition, stage: int, t: float, full: bool) -> float:
    """How high a stage's stack is drawn, in pills; `full`: without those that only a weight gradient needs."""
    piles = Piles(picture, story)
    if piles.pills:
        pills = (a for a in of_kind(picture, "pill") if a.key.startswith(f"pill-{stage}-"))
        seen = [actor.track.at(t)["opacity"] for actor in pills]
        return sum(opacity == 1 if full else opacity > 0 for opacity in seen)
    columns = {actor.key: actor for actor in of_kind(picture, "pill")}
    name = f"column-let-go-{stage}"
    key = f"column-freed-{stage}" if full or name not in columns else name
    return columns[key].track.at(t)["tall"]


@EACH
def test_a_stack_is_as_high_as_the_timelines_memory_at_every_moment(name: str) -> None:
    chance = random.Random(name)
    for story in stories(name):
        pictures, timeline = drawn(story), story.run.timeline
        for _ in range(12):
            e = chance.uniform(0, timeline.makespan)
            t = story.lens.ends(e)
            for stage in range(timeline.stages):
                steps = timeline.memory_over_time(stage)
                if any(abs(since - e) < 0.02 for since, _ in steps):
                    continue  # a blink before or after is the same picture
                held = next((count for since, count in reversed(steps) if since <= e), 0)
                items = kept(timeline, stage)
                if any(abs(item.let_go - e) < 0.02 for item in items):
                    continue
                whole = sum(item.taken <= e < item.let_go for item in items)
                for picture in pictures:
                    assert amount_at(story, picture, stage, t, True) == pytest.approx(held, abs=0.01)
                    assert amount_at(story, picture, stage, t, False) == pytest.approx(whole, abs=0.01)


@EACH
def test_what_a_stage_keeps_at_most_is_where_its_mark_stops(name: str) -> None:
    for story in stories(name):
        for picture in drawn(story):
            piles, share = Piles(picture, story), story.run.timeline.chunk_share
            for stage, most in enumerate(story.run.held):
                mark = next(actor for actor in picture.actors if actor.key == f"peak-{stage}")
                height = piles.at.stacks[1] - mark.track.at(story.step_ends)["y"]
                assert height / piles.unit * share == pytest.approx(most, abs=0.02)


@EACH
def test_the_films_operations_are_the_timelines(name: str) -> None:
    """Each marble crosses each box while its stage runs it, from wall to wall; each lane is uncovered up to now."""
    for story in stories(name):
        for picture in drawn(story):
            crossed = 0
            for op in story.run.timeline.intervals:
                key = f"W{op.micro_batch}.{op.chunk}@{op.stage}" if op.kind == "W" else None
                key = key or f"{'F' if op.kind == 'F' else 'BI'}{op.micro_batch}"
                marble = next((actor for actor in picture.actors if actor.key == key), None)
                if marble is None:
                    continue
                assert_crosses(story, picture, marble, op)
                crossed += 1
            every = max(1, story.case.m // len({a.key for a in of_kind(picture, "marble") if a.key[0] == "F"}))
            assert crossed >= len(story.run.timeline.intervals) / (every + 1)


def assert_crosses(story: Story, picture: Composition, marble: Actor, op: Interval) -> None:
    """At an even pace from the door, or from the wall before it, to the other side."""
    leg, lens = Marbles(picture, story).leg(op), story.lens
    hair = 1 + 0.004 / (lens.ends(op.end) - lens.begins(op.start)) * abs(leg.to - leg.x)  # moments are rounded
    seen = [marble.track.at(lens.ends(op.start + u * (op.end - op.start))) for u in (0.25, 0.5, 0.75)]
    assert all(now["opacity"] == 1 and now["y"] == pytest.approx(leg.y, abs=0.1) for now in seen), op
    first, middle, last = (now["x"] for now in seen)
    if sum(op.start < e < op.end for _, e in lens.points) == 0:
        assert middle == pytest.approx((first + last) / 2, abs=hair), op
        start, end = first - (last - first) / 2, last + (last - first) / 2
        assert min(abs(start - leg.x), abs(start - leg.door)) < hair, op
        assert end == pytest.approx(leg.to, abs=hair), op


@EACH
def test_lanes_are_uncovered_up_to_the_engines_moment_in_step_and_race(name: str) -> None:
    story = stories(name)[0]
    for picture in drawn(story):
        lanes = {actor.key: actor for actor in of_kind(picture, "lane")}
        for u in (0.1, 0.4, 0.8, 1.0):
            e = u * story.run.slots
            for key, starts, run in (
                ("lane", 0.0, story.run),
                ("lane", story.run.slots, story.run),
                ("rival", story.run.slots, story.rival),
            ):
                for stage in range(story.case.p):
                    shown = lanes[f"{key}-{stage}"].track.at(story.lens.ends(starts + e))["shown"]
                    assert shown * story.end == pytest.approx(min(e, run.slots), abs=0.02), (key, e)


@EACH
def test_box_and_lane_are_hatched_at_the_same_moment(name: str) -> None:
    story = stories(name)[0]
    for picture in drawn(story):
        hatched = of_kind(picture, "waiting")
        for at in range(40):
            e = (at + 0.37) / 40 * story.run.slots
            for stage in range(story.case.p):
                gaps = story.run.timeline.idle_gaps(stage)
                if any(abs(edge - e) < 0.02 for gap in gaps for edge in gap):
                    continue
                idle = any(start < e < end for start, end in gaps)
                seen = [a.track.at(story.lens.ends(e))["opacity"] for a in hatched if a.key.endswith(f"-{stage}")]
                assert (sum(seen) == 1) == idle, (stage, e)


def test_the_gap_is_the_one_between_the_two_steps() -> None:
    told = {name: story.script.stops[-1 - 2 * story.gains] for name in NAMES for story in stories(name)[:1]}
    assert "6 slots sooner" in told["zb-h1"].caption
    assert "4.5 slots sooner" in told["interleaved"].caption
    assert "No gap: 33 slots each" in told["1f1b"].caption and "keeps 4, not 8" in told["1f1b"].caption


def test_zb_h2_gains_between_steps_what_zb_h1_does_not() -> None:
    stops = film(PP.values({"schedule": "zb-h2"})).stops
    assert "A step every 24 slots, not 27" in stops[-1].caption
    assert "the norm is checked afterwards" in stops[-2].description
    assert all(stop.name != "next step" for stop in film(PP.values({"schedule": "zb-h1"})).stops)


@EACH
def test_the_answer_is_what_the_passage_that_proves_it_says(name: str) -> None:
    for times in TIMES:
        values = PP.values({"schedule": name, **times})
        answer = PP.question(values).answer
        proof = next(stop for stop in film(values).stops if stop.name == PP.proof)
        assert answer is not None and answer.text.removesuffix(" of the step") in proof.caption


def test_a_shape_that_a_schedule_cannot_run_is_a_sentence_about_a_knob() -> None:
    with pytest.raises(Refusal) as caught:
        film(PP.values({"schedule": "interleaved", "stages": "5"}))
    assert caught.value.field == "micro" and caught.value.nearest == "5 or 10"
    with pytest.raises(Refusal) as caught:
        film(PP.values({"schedule": "dualpipe", "stages": "5"}))
    assert caught.value.field == "stages" and caught.value.nearest == "4 or 6"


@EACH
def test_the_film_thins_itself_where_knobs_are_at_their_most_together(name: str) -> None:
    chance = random.Random(name)
    for _ in range(3):
        dense = {
            "schedule": name,
            "stages": "8",
            "micro": "32",
            "chunks": "4",
            "send": chance.choice(("0", "0.35", "1")),
        }
        parts = {part: chance.choice(("0.25", "0.75", "2")) for part in ("input", "weight")}
        made = film(PP.values({**dense, **parts, "slow": chance.choice(("0", "35", "100"))}))
        data = json.loads(film_data(made))
        for picture in (made.wide, made.tall):
            assert len(picture.actors) < 1500
            sent = picture.at(0.0) + json.dumps(data[picture.form], separators=(",", ":"))
            assert len(zlib.compress(sent.encode(), 6)) <= MOST_BYTES, (dense, parts)


def test_forms_are_drawn_by_the_same_hand() -> None:
    assert [picture.form for picture in drawn(stories("1f1b")[0])] == list(FORMS)
