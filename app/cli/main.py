"""The command line: `shardboard estimate FILE`, `export`, `import`, `model`, `schedule`, `formula`, `formulas`, `demo`, `worker`,
`serve`, `doctor`.

Heavy parts load when asked for.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from app.cli.parser import parser
from app.web.json_text import sentence_of, text_of, value_of
from engine.language.choice import one_of
from engine.language.refusal import Refusal
from engine.language.units import MB

FILE_BYTES = int(10 * MB)
# exit codes: our fault, or the doctor's finding; what was given cannot be read or has no meaning; Ctrl-C
FAILED, WRONG, STOPPED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0, or 2 with one line on stderr; 1 where the doctor found something."""
    code = 0
    given = list(sys.argv[1:] if argv is None else argv)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # stderr is for the one line that says what is wrong
    try:
        command = _command(given)
        code = COMMANDS[command](parser(command).parse_args(given)) or 0
        sys.stdout.flush()
    except Refusal as refusal:
        return _say(sentence_of(refusal))
    except BrokenPipeError:  # whoever reads has had enough; nothing more can be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return STOPPED
    except OSError as error:
        return _say(sentence_of(Refusal("output", None, (error.strerror or str(error)).lower())))
    except Exception as error:
        return _say(_failure(error), FAILED)
    return code


def _say(sentence: str, code: int = WRONG) -> int:
    print(sentence, file=sys.stderr)
    return code


def _failure(error: Exception) -> str:
    """What is said where the fault is ours."""
    return sentence_of(Refusal("shardboard", None, f"failed inside, which is a fault of ours: {error!r}"))


def _command(given: list[str]) -> str:
    """The command that was asked for; an unknown one is refused with the nearest."""
    if not given:
        raise Refusal("shardboard", None, f"needs a command: {', '.join(COMMANDS)}", code="usage")
    if given[0] in ("-h", "--help", "--version"):
        return "formulas"  # these leave in parse_args
    return one_of("command", given[0], COMMANDS, "there are {names}", "usage")


def _estimate(options: argparse.Namespace) -> None:
    from engine.answer import estimate_answer

    def answered(text: bytes) -> dict[str, Any]:
        return estimate_answer(value_of(text, FILE_BYTES))

    with _opened(options.file) as source:
        if not options.lines:
            _show(options, answered(_whole(source, FILE_BYTES)), "estimate")
            return
        for line in _lines(source):
            try:
                made = text_of(answered(line))
            except Refusal as refusal:
                made = text_of({"error": sentence_of(refusal)})
            except Exception as error:
                made = text_of({"error": _failure(error)})
            _write(made)


def _export(options: argparse.Namespace) -> None:
    from app.cli.export import export_answer

    with _opened(options.file) as source:
        _show(options, export_answer(_whole(source, FILE_BYTES), FILE_BYTES, options.to), "export")


def _import(options: argparse.Namespace) -> None:
    from app.cli.export import LAUNCH_BYTES, import_answer

    with _opened(options.file) as source:
        _show(options, import_answer(_whole(source, LAUNCH_BYTES)), "import")


def _model(options: argparse.Namespace) -> None:
    from app.cli.model import model_answer, model_text

    with _opened(options.file) as source:
        _show(options, model_answer(_whole(source, FILE_BYTES), FILE_BYTES), model_text)


def _schedule(options: argparse.Namespace) -> None:
    from engine.pipeline.schedule_answer import ScheduleQuestion, schedule_answer

    given = {name: getattr(options, name) for name in ScheduleQuestion.model_fields if hasattr(options, name)}
    _show(options, schedule_answer(given), "schedule")


def _values(pairs: Sequence[str], given: Mapping[str, object]) -> dict[str, object]:
    """What is given as key=value, beside what is given already.

    >>> _values(["layers=2"], {"ranks": "4"})
    {'ranks': '4', 'layers': '2'}
    """
    values = dict(given)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Refusal("argument", pair, "needs the form key=value", code="usage")
        if name in values:
            raise Refusal(name, value, "is given twice", code="duplicate-key")
        values[name] = value
    return values


def _formula(options: argparse.Namespace) -> None:
    from engine.formulas import formula_answer

    _show(options, formula_answer(options.name, _values(options.values, {})), "formula")


def _formulas(options: argparse.Namespace) -> None:
    from engine.formulas import formulas_answer

    _show(options, formulas_answer(), "formulas")


def _demo(options: argparse.Namespace) -> None:
    from app.cli.demo import run

    given = {} if options.ranks is None else {"ranks": options.ranks}
    run(options.name, _values(options.values, given), options.json or not (options.text or sys.stdout.isatty()))


def _worker(options: argparse.Namespace) -> None:
    from app.cli.worker import work

    work(options.demo, _values(options.values, {}), options.out)


def _serve(options: argparse.Namespace) -> None:
    from app.cli.sockets import serve

    serve(options.host, options.port)


def _doctor(options: argparse.Namespace) -> int:
    from app.cli.doctor import doctor_answer

    answer = doctor_answer(options.host, options.port)
    _show(options, answer, "doctor")
    return 0 if answer["ok"] else FAILED


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "estimate": _estimate,
    "export": _export,
    "import": _import,
    "model": _model,
    "schedule": _schedule,
    "formula": _formula,
    "formulas": _formulas,
    "demo": _demo,
    "worker": _worker,
    "serve": _serve,
    "doctor": _doctor,
}


def _show(options: argparse.Namespace, document: Any, kind: str | Callable[[Any], str]) -> None:
    """JSON for programs; for a person at a terminal, the same in columns.

    kind   what writes it for a person, or its name among the console's texts
    """
    if options.json or not (options.text or sys.stdout.isatty()):
        _write(text_of(document))
        return
    from app.board import console

    write = console.TEXTS[kind] if isinstance(kind, str) else kind
    _write((write(document) + "\n").encode())


def _write(text: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _opened(name: str) -> BinaryIO:
    if name == "-":
        if sys.stdin is None:
            raise Refusal("file", name, "standard input is closed")
        return sys.stdin.buffer
    try:
        return open(name, "rb")
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> Refusal:
    return Refusal("file", name, f"cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}")


def _whole(source: BinaryIO, limit: int) -> bytes:
    try:
        return source.read(limit + 1)
    except OSError as error:
        raise _unreadable(str(source.name), error) from None


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines that are not blank, as they arrive; of one that is too long, as much as shows that it is."""
    try:
        while line := source.readline(FILE_BYTES + 1):
            rest = line
            while len(rest) > FILE_BYTES and not rest.endswith(b"\n"):
                rest = source.readline(FILE_BYTES + 1)
            if rest is not line:
                yield line
            elif line.strip():
                yield line.rstrip()
    except OSError as error:
        raise _unreadable(str(source.name), error) from None


if __name__ == "__main__":
    sys.exit(main())
