"""The tensor parallel film in words: caption and description of each stop, from the engine's numbers."""

from app.board.scenes.tp.case import ELEMENT, SUMS, Case, silu_of
from engine.language.units import bytes_text, count_text, counted, digits_text, seconds_text, share_text

Said = tuple[str, str]  # caption, description


def whole(case: Case) -> Said:
    model = case.model
    return "An MLP is two products: tokens times A, a nonlinearity, times B.", (
        f"X has {count_text(case.tokens)} rows and {count_text(model.hidden)} columns. A widens it to {count_text(model.ffn)}, "
        f"which is Y; B brings it back to the first width, which is Z. {counted(case.tp, 'GPU')} will share A and B."
    )


def first_cut(case: Case) -> Said:
    if case.alone:
        return "One GPU holds all of A: nothing is cut yet. Give it company.", (
            f"One GPU makes all {count_text(case.model.ffn)} columns of Y from X in {case.products[0].text}."
        )
    if case.columns_first:
        return "Cut A by columns: whole X goes in, finished columns of Y come out.", (
            f"Each of {counted(case.tp, 'GPU')} holds {count_text(case.model.ffn / case.tp)} columns of A and makes the "
            f"same columns of Y from all of X in {case.products[0].text}. No traffic."
        )
    return "Cut A by rows: every GPU makes a part of each element of Y.", (
        f"Y lies {case.tp} times as parts of a sum; only an all-reduce of {case.forced[0].size.text} makes it whole."
    )


def nonlinearity(case: Case) -> Said:
    right, wrong = silu_of(sum(ELEMENT)).value, sum(silu_of(part).value for part in ELEMENT)
    one, two = ELEMENT
    about = (
        f"By columns an element of Y is {signed(sum(ELEMENT))} and becomes {signed(right)}. By rows two GPUs hold {signed(one)} "
        f"and {signed(two)} of it; after the nonlinearity these add to {signed(wrong)}, which is wrong."
    )
    if case.columns_first or case.alone:
        return "Finished columns pass σ one by one; parts of a sum do not.", about
    first = case.forced[0]
    return "Parts of a sum break at σ: an all-reduce must come first.", (
        f"{about} So all {case.tp} parts meet first, {first.size.text} in {first.seconds.text}."
    )


def second_cut(case: Case) -> Said:
    last = case.forced[-1]
    if case.alone:
        return "One GPU holds all of B: Z is whole at once, and nothing travels.", (
            f"One GPU multiplies Y with B in {case.products[1].text}; there is nobody to add up with."
        )
    if case.rows_second:
        return "Cut B by rows: each has a part of Z, one sum repairs it.", (
            f"{counted(case.tp, 'part')} of Z, as large as Z, meet in an all-reduce of {last.size.text}: "
            f"{last.seconds.text} on NVLink. Each GPU sends {bytes_text(last.sent.value)}; then all have the same Z."
        )
    return "Cut B by columns: every GPU needs all of Y, and Z is gathered.", (
        f"Each GPU makes some columns of Z from the whole of Y. Forced: {', '.join(f.what for f in case.forced)}; "
        f"the last one takes {last.seconds.text}."
    )


def heads(case: Case) -> Said:
    model, n = case.model, case.tp
    about = (
        f"Each GPU has {model.heads // n} of {model.heads} query heads, {model.kv_heads // n} of {model.kv_heads} key-value "
        "heads and its rows of the output matrix. "
    )
    if case.alone:
        return "One GPU has all heads and all of the output matrix.", f"{about}There is nothing to add up."
    return "Attention cuts itself: heads are dealt, the output matrix by rows.", (
        f"{about}A second all-reduce of {case.field.text} adds up what they make, in {case.sum_s.text}."
    )


def mirror(case: Case) -> Said:
    about = (
        f"Forward, g adds up after attention and after the MLP; backward, f does. {SUMS} sums of {case.field.text}: "
        f"{case.sums_s.text} beside {case.work.text} of work."
    )
    if case.alone:
        return "Backward is the mirror: g passes on, f adds up. One GPU needs neither.", about
    return "Backward is the mirror: g passes on, f adds up.", about


def sequence_parallel(case: Case) -> Said:
    if case.alone:
        return "Norms on their own tokens: one GPU has all of them.", (
            f"Activations kept of a layer: {case.kept(1, False).text}, and nothing to cut them with."
        )
    before, after = case.kept(case.tp, False), case.kept(case.tp, True)
    less = share_text(1 - after.value / before.value)
    return f"Norms on their own tokens: same bytes, {less} less kept.", (
        f"Each all-reduce becomes a reduce-scatter and an all-gather, {bytes_text(case.half_sent.value)} sent by each GPU in either. "
        f"Between them a GPU has its own tokens only. Activations kept of a layer: {before.text} before, {after.text} after."
    )


def stretched(case: Case) -> Said:
    if case.alone:
        return "One GPU sends nothing, in a node or alone: wires do not matter.", (
            f"One GPU computes a layer in {case.work.text}. Give it company to see wires matter."
        )
    return f"One GPU a node: the same bytes take {case.far_sum_s.text}, and compute waits.", (
        f"In one node a sum takes {case.sum_s.text}, and the sums of a layer {share_text(case.near_wait.value)} of its work. "
        f"With one GPU per node, on {counted(case.tp, 'node')}, a sum takes {case.far_sum_s.text}, all of them "
        f"{case.far_sums_s.text}: {share_text(case.far_wait.value)} of the work."
    )


def signed(value: float, digits: int = 3) -> str:
    """A number with a minus that can be seen from the last row."""
    return digits_text(value, digits).replace("-", "−")


def wires(case: Case, short: bool) -> str:
    """What the cuts of the MLP send, under its lanes."""
    return "; ".join(
        f"{each.what[-1] if short else each.what}: {bytes_text(each.size.value)}, {seconds_text(each.seconds.value)}"
        for each in case.forced
    )
