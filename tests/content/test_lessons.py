"""Every lesson is made for real: its calls answer, what it names exists, and no figure in it was typed by hand."""

import re
from pathlib import Path

import pytest

from app.board.scenes import SCENES
from app.lessons.calls import Calls
from app.lessons.glossary import word_named
from app.lessons.lesson import BLOCKS, FOLDER, Lesson, by_hand, lessons, rendered
from app.lessons.prose import MARK, ProseError, marked, prose

LESSONS = lessons()
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])

# Digits that belong to names and places, not to figures.
NAMES = (
    r"\b(19|20)\d\d\b",  # years
    r"\b(section|sections|appendix|table|figure|equation|chapter|part)s? [A-Z]?\d+(\.\d+)*( (to|and) \d+(\.\d+)*)?",
    r"\b(GB|[ABHVP])\d{2,3}s?\b", r"\bNVL\d+\b", r"\bMI\d+X\b",  # GPUs and racks
    r"\bZeRO-[123]( and 2)?\b", r"\bFSDP[12]\b", r"\b1F1B\b", r"\bZB-H[12]\b", r"\b[345]D\b",
    r"\b(BF|TF|FP|MXFP|NF|INT)\d+\b", r"\bE\dM\d\b", r"\b\d-bit\b",
    r"\bLlama[ -]\d(\.\d)?\b", r"\b(\d+x)?\d+B\b", r"\bDeepSeek-V\d\b", r"\bGPT-\d\b", r"\bFlashAttention-\d\b", r"\bQwen\d\b",
    r"\b[268]ND?\b", r"\b6 ?· ?N( ?· ?D)?\b",  # the conventions are called that
    r"\]\([^)]*\)", r"`[^`]*`", r"^\d+\. ",  # addresses, code, numbered lists
)  # fmt: skip
GIVEN = {"1,024", "512", "128k", "40", "28"}  # the question's own: a title or a summary may repeat what is asked


def typed_digits(text: str) -> list[str]:
    """What is left of the digits of a line once names are taken away."""
    for name in NAMES:
        text = re.sub(name, "", text)
    return re.findall(r"\S*\d\S*", text)


@each_lesson
def test_a_lesson_renders_and_leaves_no_mark_behind(lesson: Lesson) -> None:
    made = rendered(lesson)
    assert len(made.headings) >= 3
    assert not MARK.search(made.html) and "{{" not in made.html
    assert not re.search(r"\sstyle=|<script|\son\w+=", made.html)


@each_lesson
def test_no_figure_in_a_lesson_is_typed_by_hand(lesson: Lesson) -> None:
    assert [(at, found) for at, line in by_hand(lesson) if (found := typed_digits(line))] == []
    front = typed_digits(f"{lesson.front.title} {lesson.front.summary}")
    assert {word.strip(".,;:") for word in front} <= GIVEN


def test_a_figure_typed_by_hand_would_be_found() -> None:
    assert typed_digits("On 1,024 H100s in 2024 it took 180 days (section 3.2).") == ["1,024", "180"]
    assert typed_digits("ZeRO-3 shards Llama 3 70B in BF16; 6ND counts, 1F1B waits.") == []
    assert typed_digits("a bubble of $(p-1)/m$") == ["$(p-1)/m$"]


@each_lesson
def test_ids_in_a_lesson_are_unique_and_each_slip_that_a_word_opens_is_there(lesson: Lesson) -> None:
    html = rendered(lesson).html
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'popovertarget="([^"]+)"', html)) <= set(ids)
    for heading in rendered(lesson).headings:
        assert heading.anchor in ids


@each_lesson
def test_a_lesson_cites_sources_and_explains_words(lesson: Lesson) -> None:
    used = rendered(lesson).used
    assert len(used.sources) >= 2
    assert len(used.words) >= 3


@each_lesson
def test_what_a_lesson_is_said_to_use_is_what_it_uses(lesson: Lesson) -> None:
    used = rendered(lesson).used

    def called(kind: str) -> set[str]:
        return {name for call, name in lesson.calls if call == kind}

    assert {word_named(name).name for name in called("term")} == set(used.words)
    assert called("source") == set(used.sources)
    assert called("exercise") == set(used.exercises)
    assert called("scene") == set(used.scenes)


@each_lesson
def test_the_front_of_a_lesson_fits_the_card(lesson: Lesson) -> None:
    block = next(block for block in BLOCKS if block.name == lesson.front.block)
    assert (lesson.front.minutes or block.minutes) == block.minutes
    assert set(lesson.front.scenes) <= set(SCENES)
    assert lesson.front.summary.endswith((".", "?"))


@each_lesson
def test_a_lesson_is_short_enough_to_be_read_at_once(lesson: Lesson) -> None:
    assert 1 <= lesson.minutes <= 12
    words = len(re.findall(r"\w+", " ".join(line for _, line in by_hand(lesson))))
    assert 350 <= words <= 1100


def test_lessons_are_numbered_without_a_gap_and_every_block_of_the_card_has_one() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(1, len(LESSONS) + 1))
    assert len({lesson.slug for lesson in LESSONS}) == len(LESSONS)
    assert {1, 2, 3, 4, 5} <= {lesson.front.block for lesson in LESSONS}
    order = [block.name for block in BLOCKS]
    places = [order.index(lesson.front.block) for lesson in LESSONS]
    assert places == sorted(places)


BROKEN = {
    '{{ value("state_byte", N=1) }}': "there is no formula of this name; formulas lists them all; the nearest that works: state_bytes",
    '{{ value("state_bytes", N=70e9, zero=5, D=1) }}': "zero = 5",
    '{{ value("state_bytes", N=70e9, zero=1, D=1, as_="bits") }}': "the formats are",
    '{{ plan("step.second") }}': "the nearest that works: step.seconds",
    '{{ plan("step.seconds", tpp=4) }}': "the planner has no such field",
    '{{ plan("step.seconds", tp=6) }}': "must divide",
    '{{ plan("step.seconds", preset="71B") }}': "the presets are",
    '{{ fact("hgx-h100", "nvlink") }}': "hgx-h100 has",
    '{{ factor("nic") }}': "there is no such factor",
    '{{ scene("dpd", "a step") }}': "there is no such scene",
    '{{ scene("zero", "prefetsch") }}': "zero has no such stop",
    '{{ scene("ddp", "a step", gpu=4) }}': "no such knob",
    '{{ figure("memories") }}': "the planner's figures are",
    '{{ term("zeero") }}': "the nearest that works: zero",
    '{{ source("zerro") }}': "the nearest that works: zero",
    '{{ exercise("uncut") }}': "there is no such exercise",
    "{{ 80 }}": "80 is no call",
    "{{ number(80) }}": "'number' is undefined",
    "{{ value( }}": "unexpected",
    'In a sentence {{ scene("zero", "gather") }} it has no room.': "a paragraph of its own",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_call_names_its_file_and_line(text: str) -> None:
    calls = Calls("broken", "99-broken.md")
    with pytest.raises(ProseError) as caught:
        prose(f"First.\n\nSecond.\n\n{text}\n", calls.by_name, calls.pieces, "99-broken.md", first_line=8)
    assert (caught.value.file, caught.value.line) == ("99-broken.md", 12)
    assert BROKEN[text] in caught.value.why


def test_a_lesson_cannot_reach_behind_its_calls() -> None:
    calls = Calls("sly", "99-sly.md")
    for text in ("{{ value.__globals__ }}", "{{ ().__class__.__mro__ }}", "{{ range(9) }}"):
        with pytest.raises(ProseError):
            marked(text, calls.by_name, "99-sly.md")


def test_markdown_may_hold_no_html_but_calls_may() -> None:
    calls = Calls("html", "99-html.md")
    made = prose(
        '<b>bold</b> and {{ value("state_bytes", N=1, zero=0, D=1) }}', calls.by_name, calls.pieces, "99-html.md"
    )
    assert "&lt;b&gt;" in made.html
    assert '<a class="value" href="/working/state_bytes?N=1&amp;zero=0&amp;D=1">16 B</a>' in made.html


def test_a_blockquote_is_a_note_to_say_at_the_board_unless_it_has_a_title() -> None:
    made = prose("> Sixteen bytes.\n\nAnd\n\n> ### Red flag: none\n> No.", {}, Calls("n", "n").pieces, "n.md").html
    assert '<aside class="note note-advice">\n<h3>Say this at the board</h3>' in made
    assert '<aside class="note note-warning">\n<h3>Red flag: none</h3>' in made


def test_a_line_does_not_break_between_a_word_that_opens_and_its_comma() -> None:
    calls = Calls("kept", "99-kept.md")
    made = prose('A {{ term("spine") }}, which.', calls.by_name, calls.pieces, "99-kept.md")
    assert re.search(r'<span class="kept"><button.*</span>,</span> which', made.html)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("No front matter.", "begins with front matter"),
        ("---\ntitle: x\nblock: 9\nsummary: y.\n---\n", "front matter"),
        ("---\ntitle: x\nblock: 1\nsummary: y.\nlength: 3\n---\n", "length"),
    ],
)
def test_a_lesson_without_a_proper_front_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "01-x.md").write_text(text)
    with pytest.raises(ProseError, match=why):
        lessons(tmp_path)


def test_every_file_of_the_folder_is_a_lesson() -> None:
    assert {path.suffix for path in FOLDER.iterdir()} == {".md"}
