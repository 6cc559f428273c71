"""What the numbers and texts of a run's events may be, by what they are: each field of an event is one of these.

The ranges are wider than any run, and narrow enough that whatever is drawn of them can be drawn. Their least is no more
than 0 and their most no less than 1, so that 0 and 1 are always numbers that a field takes.
"""

from typing import Annotated

from app.live.bounds import AtMost, OneOf, Within

Number = int | float

Moment = Annotated[float, Within(-1_000, 100_000_000)]  # since the run started; clocks of two nodes may differ   [s]
Seconds = Annotated[float, Within(0, 100_000_000)]  # three years
Milliseconds = Annotated[float, Within(0, 100_000_000_000)]
RankNumber = Annotated[int, Within(0, 10_000_000)]
StepNumber = Annotated[int, Within(0, 1_000_000_000)]
Count = Annotated[int, Within(0, 1_000_000_000_000_000)]  # of tokens, calls, parameters
Bytes = Annotated[int, Within(0, 1_000_000_000_000_000)]  # a petabyte
BytesReckoned = Annotated[float, Within(0, 1_000_000_000_000_000)]
Whole = Annotated[int, Within(-1_000_000_000_000_000, 1_000_000_000_000_000)]  # of a knob, an exit code, a seed
Loss = Annotated[float, Within(-1e38, 1e38)]  # FP32 holds no more   [nats]
Figure = Annotated[Number, Within(-1e38, 1e38)]  # of a verdict or a working, in any unit
Allowed = Annotated[Number, Within(0, 1e38)]  # by which two figures may differ

Word = Annotated[str, AtMost(100)]  # a name, a unit, a date
Sentence = Annotated[str, AtMost(4_000)]  # a reason, a message, a formula, a command
OpKind = Annotated[str, OneOf(("F", "B", "I", "W"))]  # forward, backward, its input and its weight gradients
