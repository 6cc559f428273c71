"""GPUs and the global batch of a command as data-parallel ranks and micro-batches of each."""

from math import gcd

from engine.importing.imported import Remarks
from engine.importing.launched import Launched
from engine.language.document import beside
from engine.language.refusal import Refusal


def batch_of(command: Launched, degrees: dict[str, int], remarks: Remarks) -> tuple[int, dict[str, int]]:
    """GPUs, and the part of the layout that says the batch.   [count, layout]"""
    options = command.options
    micro, whole = options.whole("--micro-batch-size"), options.whole("--global-batch-size")
    rounds = options.whole("--gradient-accumulation-steps")
    rest = degrees["tp"] * degrees["cp"] * degrees["pp"]
    if micro is None:
        remarks.assumed.append("--micro-batch-size: it is not given, so 1 is assumed")
    micro = micro or 1
    if command.gpus is None and whole and rounds and whole % (micro * rounds) == 0:
        dp = whole // (micro * rounds)  # the batch itself says how many ranks share it
    else:
        dp = _width(command, degrees, rest, remarks)
    ranks, name = dp * micro, options.spelled("--global-batch-size")
    if whole is None and rounds is None:
        remarks.assumed.append(
            f"{name}: it is not given, so one micro-batch a pipeline is assumed, {ranks} sequences a step"
        )
    if whole and whole % ranks:
        rule = f"must be a multiple of {ranks}: {dp} data-parallel ranks with micro-batches of {micro}"
        near = beside(whole, [number for number in (whole // ranks * ranks, (whole // ranks + 1) * ranks) if number])
        raise Refusal(name, whole, rule, near)
    if whole and rounds and whole != ranks * rounds:
        rule = f"must be {dp} data-parallel ranks x micro-batches of {micro} x {rounds} of them"
        raise Refusal(name, whole, rule, str(ranks * rounds))
    return rest * dp, {"dp": dp, "micro_batch": micro, "micro_batches": rounds or (whole or ranks) // ranks}


def _width(command: Launched, degrees: dict[str, int], rest: int, remarks: Remarks) -> int:
    """Data-parallel ranks: what the other degrees leave of the launcher's GPUs; else as few as the experts allow."""
    if (gpus := command.gpus) is None:
        dp = degrees["ep"] // gcd(degrees["ep"], rest // degrees["pp"])
        remarks.assumed.append(
            f"gpus: the text does not say how many, so put NNODES=… GPUS_PER_NODE=… in front; the fewest that the degrees "
            f"allow are assumed, {rest * dp}"
        )
        return dp
    if gpus % rest:
        rule = f"must be a multiple of tp {degrees['tp']} x cp {degrees['cp']} x pp {degrees['pp']} = {rest}"
        raise Refusal("gpus", gpus, rule, str(max(1, gpus // rest) * rest))
    return gpus // rest
