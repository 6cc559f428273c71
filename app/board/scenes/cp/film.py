"""The film of context parallelism: keys and values ride the ring while the triangle fills; then it is dealt anew."""

from app.board.film.composition import Composition
from app.board.film.film import Clock, Film
from app.board.film.track import Way
from app.board.scenes.base import Values
from app.board.scenes.cp.asking import Asking, draw_result, draw_shares
from app.board.scenes.cp.case import SHAPE, Case
from app.board.scenes.cp.lanes import Lanes, draw_in_order, draw_rules
from app.board.scenes.cp.places import places
from app.board.scenes.cp.ring import Ring, draw_gpus
from app.board.scenes.cp.square import Square
from app.board.scenes.cp.story import Story
from engine.language.refusal import Refusal

TITLE = "Context parallel: keys on a ring"


def film(values: Values) -> Film:
    """The film for a setting of the knobs; refuses strips that do not come out even and heads that cannot be dealt."""
    refuse_uneven(values)
    story = Story(Case(values))

    def draw(picture: Composition) -> None:
        _still(picture, story)
        draw_gpus(picture, story)
        draw_rules(picture, story)
        above = []
        for act in (story.first_act, story.second_act):
            square = Square(picture, story, act)
            ring = Ring(picture, story, act, square)
            square.draw()
            ring.draw()
            Lanes(picture, story, act).draw()
            above += [ring.coins, square.movers]
        draw_in_order(picture, story)
        draw_shares(picture, story)
        Asking(picture, story).draw()
        draw_result(picture, story)
        for movers in above:
            movers()

    return story.script.film("cp", TITLE, draw, Clock(story.clock, tick=_tick(story)))


def _still(picture: Composition, story: Story) -> None:
    """The words beside the square."""
    at = places(picture)
    x, y = at.grid
    if picture.is_wide:
        picture.text(0, y - 10, "keys", "read", ink="soft")
        picture.text(0, y + at.side + 20, "queries", "read", ink="soft")
    else:
        picture.text(0, 16, "queries by keys", "read", ink="soft")
    way = Way(x + at.side, y + 26).hide(story.dealt[0][0], 0.3).show(story.dealt[-1][0])  # strips fly across it
    way.hide(story.change[0][0], 0.3).show(story.dealt_anew[-1][0])
    why = "above the diagonal lie keys of the future: the causal mask hides them"
    with picture.actor("ahead", "words", way, why=why):
        picture.text(0, 0, "may not", "remark", anchor="end")
        picture.text(0, 24, "look ahead", "remark", anchor="end")


def _tick(story: Story) -> float:
    """Engine time between marks under the bar: a round one, of which a step has a few."""
    tick = 1e-6
    while story.ends / tick > 60:
        tick *= 10
    return tick


def refuse_uneven(values: Values) -> None:
    """What fits no picture, with the nearest that does."""
    case = Case(values)
    sequence, tp = int(values["sequence"]), int(values["tp"])
    if sequence % (2 * case.ranks):
        rule = f"each GPU takes an early and a late half-strip, so {2 * case.ranks} equal pieces must make up the {sequence:,} tokens"
        works = [ranks for ranks in range(2, 9) if sequence % (2 * ranks) == 0]
        if works:
            raise Refusal("ranks", case.ranks, rule, str(min(works, key=lambda ranks: abs(ranks - case.ranks))))
        raise Refusal("sequence", sequence, rule, str(max(1, round(sequence / (2 * case.ranks))) * 2 * case.ranks))
    if SHAPE.kv_heads % tp:
        works = [degree for degree in range(1, 9) if SHAPE.kv_heads % degree == 0]
        near = str(min(works, key=lambda degree: abs(degree - tp)))
        raise Refusal("tp", tp, f"the {SHAPE.kv_heads} key-value heads must be dealt evenly", near)
