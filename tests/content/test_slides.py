"""Lessons on the stage: short enough for the last row, and nothing on it that one would have to press."""

import re

import pytest

from app.lessons.lesson import Lesson, lessons
from app.lessons.slides import MOST_WORDS, slides

EACH = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)


@EACH
def test_every_section_has_a_slide(lesson: Lesson) -> None:
    titles = {str(slide.title) for slide in slides(lesson)}
    assert len(titles) == lesson.text.count("\n## ") + lesson.text.startswith("## ")


@EACH
def test_no_slide_has_a_link_a_button_or_a_citation(lesson: Lesson) -> None:
    for slide in slides(lesson):
        html = str(slide.body) + str(slide.caption)
        assert not re.search(r"<button|class=.cite|popover", html), slide.title
        assert slide.kind == "picture" or "<a " not in html, slide.title


@EACH
def test_words_fit_the_last_row(lesson: Lesson) -> None:
    for slide in slides(lesson):
        if slide.kind == "words":
            assert 5 <= len(re.sub(r"<.*?>", " ", str(slide.body)).split()) <= MOST_WORDS + 12, slide.body
