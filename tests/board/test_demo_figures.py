"""Figures of real runs: what ranks hold, their losses, and one step of each on one clock."""

import re

from app.board.figures.held_bars import RankState, held_bars
from app.board.figures.loss_lines import loss_lines
from app.board.figures.rank_lanes import Lane, axis_of, rank_lanes

LANES = (
    Lane(
        "rank 0",
        0.0,
        1.0,
        (("dp_shard", 0.1, 0.2), ("tp", 0.3, 0.4)),
        (("f", 0.0, 0.4), ("b", 0.4, 0.9), ("optimizer", 0.9, 1.0)),
    ),
    Lane("rank 1", 0.05, 1.1, (("tp", 0.3, 0.3),)),
)


def test_ranks_stand_beside_what_was_predicted() -> None:
    states = [RankState(f"rank {rank}", (10e6, 10e6, 20e6 / (rank + 1))) for rank in range(3)]
    figure = held_bars(states, [40e6, 30e6, 26.7e6])
    assert figure.svg().count("pen-dashed") == 4  # one for each rank, one in the legend
    assert "rank 1 30 MB" in figure.description
    assert "predicted" not in held_bars(states, []).svg()
    for narrow in (False, True):
        drawn = held_bars(states, [40e6] * 3, narrow=narrow)
        assert all(float(x) <= drawn.width for x in re.findall(r'<text class="t-number" x="([\d.]+)"', drawn.svg()))


def test_losses_lie_on_one_another_or_can_be_seen_apart() -> None:
    alone = {0: 6.4, 1: 6.2, 2: 6.0}
    figure = loss_lines(alone, {0: 6.4, 1: 6.2}, steps=3)
    assert "2 of 3 steps; the largest difference to one process alone is 0" in figure.description
    assert loss_lines({}, {}, steps=5).description == "No step yet."
    assert loss_lines(alone, alone, steps=1, narrow=True).svg() == loss_lines(alone, alone, steps=1, narrow=True).svg()


def test_a_step_shows_its_passes_and_its_collectives_by_axis() -> None:
    svg = rank_lanes(LANES).svg()
    for words in ("forward", "backward", "optimizer", "DP on the wire", "TP on the wire", "1.1 s"):
        assert words in svg
    assert "fill-f" in svg and "fill-dp" in svg and "fill-plain" in svg  # a rank that told no passes only computes
    assert "rank 0 issued 2 collectives" in rank_lanes(LANES, narrow=True).description


def test_groups_take_the_colour_of_their_axis() -> None:
    assert [axis_of(name) for name in ("dp_replicate", "tp", "pp", "ep", "cp", "world")] == [
        "dp",
        "tp",
        "pp",
        "ep",
        "cp",
        "dp",
    ]
