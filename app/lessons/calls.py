"""What a lesson may call in its Markdown. Each call puts a mark into the text and keeps what will stand there.

    value(name, as_="", **arguments)      a formula's value, linked to its working; another call may be an argument
    given(number, unit)                   a number that the question gives, for a sentence or for another call
    symbolic(name, **case)                a formula in symbols: a block, or inside a sentence
    plan(path, preset=…, as_="", **fields)    a number of the planner for a preset with fields of its form changed
    fact(name, key, as_="")               a number of the hardware catalogue, with its source
    factor(name, as_="")                  a calibrated factor, with its range and source
    scene(name, frame, **knobs)           a frame of a scene, counted from 0, linked to the scene
    figure(name, preset=…, **fields)      memory, pipeline or time: a figure of the planner
    term(name, words="")                  a word of the glossary, which opens in place
    source(key, part="")                  a citation
    exercise(key)                         spot the wrong calculator

What does not exist is refused, and the text's file and line are told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup, escape

from app.board.linked import LinkedFigure
from app.board.scenes import scene_named
from app.lessons.exercises import exercise_named
from app.lessons.glossary import reference_named, word_named
from app.lessons.prose import Pieces, Shown, sentence
from app.plan.figures import memory_figure, pipeline_figure, time_figure
from app.plan.form import FIELDS, document_of, query_of, state_of
from app.plan.presets import preset_queries
from app.plan.terms import term_at
from app.web.render import environment, mathml
from engine.catalog.calibration import fitted_calibration
from engine.catalog.hardware import Fact, cluster_named, cluster_names, gpu_named
from engine.catalog.scenarios import CARD, presets
from engine.estimate import Estimate, estimate
from engine.formulas import formula_named
from engine.language import units
from engine.language.choice import choose, strangers
from engine.language.formula import Value, number_of
from engine.language.refusal import Refusal, together
from engine.scenario import scenario_from

CARD_TITLE = presets()[CARD].title
FORMATS: dict[str, Callable[[float], str]] = {
    "share": units.share_text,
    "bytes": units.bytes_text,
    "binary": lambda value: units.bytes_text(value, binary=True),
    "seconds": units.seconds_text,
    "count": units.count_text,
    "usd": units.usd_text,
    "power": units.power_text,
    "digits": units.digits_text,
    "times": lambda value: f"{units.digits_text(value)}×",
}
UNITS = {"_s": "s", "_bytes": "bytes", "_share": "share"}  # what a factor's name ends in


@dataclass
class Used:
    """What a text named, for the lists that say where a thing is met."""

    words: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    scenes: dict[str, None] = field(default_factory=dict)
    exercises: dict[str, None] = field(default_factory=dict)
    formulas: dict[str, None] = field(default_factory=dict)


class Calls:
    """The calls of one text.

    name   of the text, for ids and for the exercises' way back
    """

    def __init__(self, name: str, file: str):
        self.name, self.file = name, file
        self.pieces, self.used = Pieces(), Used()

    @property
    def by_name(self) -> Mapping[str, Callable[..., Shown]]:
        return {
            call.__name__: call
            for call in (
                self.value,
                self.given,
                self.symbolic,
                self.plan,
                self.fact,
                self.factor,
                self.scene,
                self.figure,
                self.term,
                self.source,
                self.exercise,
            )
        }

    def value(self, name: str, /, as_: str = "", **arguments: Any) -> Shown:
        made = formula_named(name)
        given = {
            key: argument.number if isinstance(argument, Shown) else argument for key, argument in arguments.items()
        }
        numbers = {key: number_of(argument) for key, argument in given.items() if argument is not None}
        checked = made.answer(numbers)
        term = made.explain(
            checked.label, **{**checked.arguments, **{k: v for k, v in given.items() if isinstance(v, Value)}}
        )
        self.used.formulas[name] = None
        href = f"/working/{name}?{urlencode({key: f'{number:.12g}' for key, number in numbers.items()})}"
        return self._number(term, href.rstrip("?"), as_)

    def given(self, number: float, unit: str, /) -> Shown:
        return self.pieces.add(inline=str(escape(units.quantity_text(number, unit))), number=number)

    def symbolic(self, name: str, /, **case: Any) -> Shown:
        made = formula_named(name)
        if made.case and case.get(made.case) not in made.templates:
            raise Refusal(
                made.case, case.get(made.case), f"symbolic of {name} needs one of {', '.join(map(str, made.templates))}"
            )
        latex = made.latex(case)
        template = made.templates[case[made.case] if made.case else None]
        meant = [(mathml(p.symbol, False), p.meaning) for p in made.parameters.values() if f"<{p.name}>" in template]
        self.used.formulas[name] = None
        block = environment().get_template("lessons/_formula.html").render(made=made, math=mathml(latex), meant=meant)
        return self.pieces.add(inline=mathml(latex, False), block=block)

    def plan(self, path: str, /, preset: str = CARD_TITLE, as_: str = "", **fields: Any) -> Shown:
        query = plan_query(preset, fields)
        return self._number(term_at(planned(query), path), f"/plan/working/{path}?{query}", as_)

    def fact(self, name: str, key: str, /, as_: str = "") -> Shown:
        found = fact_named(name, key)
        words = f"{escape(key.replace('_', ' '))}: <b>{units.quantity_text(found.value, found.unit)}</b>. {escape(found.source)}."
        return self._opens(_text(found.value, found.unit, as_), words, "value", found.value)

    def factor(self, name: str, /, as_: str = "") -> Shown:
        made = choose("factor", name, fitted_calibration().factors, "there is no such factor")
        unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")
        low, high = (_text(each, unit, as_) for each in (made.low, made.high))
        words = f"fitted or judged, seen from {low} to {high}: {escape(made.source)}."
        return self._opens(_text(made.value, unit, as_), words, "value", made.value)

    def scene(self, name: str, stop: str, /, **knobs: Any) -> Shown:
        scene = scene_named(name)
        if strange := strangers(knobs, [knob.name for knob in scene.knobs], f"{name} has no such knob"):
            raise together(strange)
        frames = scene.frames(scene.values({key: str(given) for key, given in knobs.items()}))
        at = {frame.name: at for at, frame in enumerate(frames)}
        place = choose("stop", stop, at, f"{name} has no such stop; it has {{names}}")
        self.used.scenes[name] = None
        query = urlencode({"frame": place, **knobs})
        return self._block("lessons/_scene.html", scene=scene, frame=frames[place], href=f"/scenes/{name}?{query}")

    def figure(self, name: str, /, preset: str = CARD_TITLE, **fields: Any) -> Shown:
        draw = choose("figure", name, FIGURES, "the planner's figures are {names}")
        query = plan_query(preset, fields)
        seed = f"{name}-{len(self.pieces.inline)}"
        wide, narrow = (draw(planned(query), query, seed, small) for small in (False, True))
        return self._block(
            "lessons/_figure.html", wide=wide, narrow=narrow, title=preset, href=f"/plan?{query}".rstrip("?")
        )

    def term(self, name: str, words: str = "", /) -> Shown:
        word = word_named(name)
        self.used.words[word.name] = None
        more = f' <a href="/glossary#{word.anchor}">in the glossary</a>'
        return self._opens(words or name, f"<b>{escape(word.name)}</b>: {escape(word.short)}{more}", "term")

    def source(self, key: str, part: str = "", /) -> Shown:
        found = reference_named(key)
        self.used.sources[key] = None
        words = escape(found.short + (f", {part}" if part else ""))
        return self.pieces.add(
            inline=f'<a class="cite" href="/sources#{found.anchor}" title="{escape(found.title)}">[{words}]</a>'
        )

    def exercise(self, key: str, /) -> Shown:
        self.used.exercises[key] = None
        return self._block("lessons/_exercise.html", view=self.posed(key, lesson=self.name))

    def posed(self, key: str, answer: str = "", lesson: str = "") -> "Posed":
        """An exercise with its texts made ready; `answer` is what somebody chose."""
        given = exercise_named(key)
        texts = [sentence(text, self.by_name, self.pieces, f"exercises.yaml, {key}") for text in (given.ask, given.why)]
        return Posed(given, texts[0], texts[1], lesson, answer)

    def _number(self, term: Value, href: str, as_: str) -> Shown:
        words = _text(term.value, term.unit, as_)
        return self.pieces.add(inline=f'<a class="value" href="{escape(href)}">{escape(words)}</a>', number=term)

    def _opens(self, words: str, inside: str, css: str, number: float | None = None) -> Shown:
        """Words that open a slip in place."""
        slip = f"{self.name}-slip-{len(self.pieces.inline)}"
        return self.pieces.add(
            number=number,
            inline=f'<button type="button" class="{css}" popovertarget="{slip}">{escape(words)}</button>'
            f'<span class="term-slip" id="{slip}" popover>{inside}</span>',
        )

    def _block(self, template: str, **view: Any) -> Shown:
        return self.pieces.add(block=environment().get_template(template).render(**view))


@dataclass(frozen=True)
class Posed:
    """An exercise as a page shows it.

    lesson   the slug to go back to, if it stood in one
    answer   what was chosen, if anything was
    """

    exercise: Any
    ask: Markup
    why: Markup
    lesson: str
    answer: str = ""

    @property
    def chosen(self) -> Any:
        return self.exercise.chosen(self.answer) if self.answer else None


def _text(value: float, unit: str, as_: str) -> str:
    if as_:
        return choose("as_", as_, FORMATS, "the formats are {names}")(value)
    return units.quantity_text(value, unit) if unit else units.digits_text(value)


def fact_named(name: str, key: str) -> Fact:
    """A number of the catalogue: of a cluster, or of the GPU in it.

    >>> fact_named("hgx-h100", "nvlink_bytes_per_s").value
    450000000000.0
    """
    cluster = cluster_named(name) if name in cluster_names() else None
    gpu = cluster.gpu if cluster else gpu_named(name)
    found = {fact.name: fact for fact in (*gpu.facts, *(cluster.facts if cluster else ()))}
    return choose("fact", key, found, f"{name} has {{names}}")


def plan_query(preset: str, fields: Mapping[str, Any]) -> str:
    """The planner's query for a preset with fields of its form changed."""
    query = choose("preset", preset, preset_queries(tuple(presets())), "the presets are {names}")
    told = {"units": "GB", **fields}  # as the lesson shows it
    given = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in told.items()}
    if unknown := strangers(given, FIELDS, "the planner has no such field"):
        raise together(unknown)
    return query_of(state_of({**dict(parse_qsl(query, keep_blank_values=True)), **given}))


@lru_cache(maxsize=128)
def planned(query: str) -> Estimate:
    """The estimate behind a planner's address."""
    return estimate(scenario_from(document_of(state_of(dict(parse_qsl(query))))))


def _memory(found: Estimate, query: str, name: str, narrow: bool) -> LinkedFigure:
    return memory_figure(found, query, narrow=narrow, binary=False, name=name)


def _pipeline(found: Estimate, query: str, name: str, narrow: bool) -> LinkedFigure:
    return pipeline_figure(found, narrow=narrow, name=name)


def _time(found: Estimate, query: str, name: str, narrow: bool) -> LinkedFigure:
    return time_figure(found, query, narrow=narrow, name=name)


FIGURES = {"memory": _memory, "pipeline": _pipeline, "time": _time}
