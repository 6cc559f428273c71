"""The glossary and the list of sources: what they point to exists, and lessons use them."""

from collections import Counter

from app.board.scenes import SCENES
from app.board.scenes.pp.case import Case
from app.lessons.glossary import named, references, words
from app.lessons.lesson import lessons, uses


def test_every_word_is_one_sentence_and_points_to_something() -> None:
    slugs = {lesson.slug for lesson in lessons()}
    for word in words().values():
        assert word.short.endswith("."), word.name
        assert ". " not in word.short, word.name
        assert not word.see or word.see in slugs | set(SCENES), f"{word.name}: {word.see}"


def test_no_name_is_given_to_two_words() -> None:
    given = Counter(name.lower() for word in words().values() for name in {word.name, *word.also})
    assert [name for name, count in given.items() if count > 1] == []
    assert len(named()) == len(given)


def test_anchors_differ() -> None:
    anchors = [word.anchor for word in words().values()] + [source.anchor for source in references().values()]
    assert len(anchors) == len(set(anchors))


def test_every_source_says_who_when_what_and_where() -> None:
    for source in references().values():
        assert source.authors and source.title and source.where, source.key
        assert 1950 <= source.year <= 2030, source.key


def test_most_words_and_sources_are_met_in_a_lesson() -> None:
    for met, known in ((uses("term"), words()), (uses("source"), references())):
        assert set(met) <= set(known)
        assert len(met) >= 0.6 * len(known), sorted(set(known) - set(met))


def test_a_word_that_leads_to_a_lesson_occurs_in_it() -> None:
    """By one of its names, in the text as it was written."""
    texts = {lesson.slug: lesson.text.lower() for lesson in lessons()}
    lost = [
        f"{word.name}: {word.see}"
        for word in words().values()
        if word.see in texts and not any(name.lower() in texts[word.see] for name in (word.name, *word.also))
    ]
    assert lost == []


SCHEDULE_WORDS = ("ZB-V", "DualPipe", "DualPipeV")


def test_a_schedule_leads_to_the_pipeline_scene_that_plays_it_or_to_its_lesson() -> None:
    played = {run.title for run in Case(SCENES["pp"].values({})).runs.values()}
    for name in SCHEDULE_WORDS:
        assert name in played
        assert words()[name].see, name
