"""`python -m app.runner.fake --ranks 1024 --json`: a trace on fake ranks, as JSON lines or as a table."""

import argparse
import json
import sys
from collections.abc import Sequence

from app.runner.fake.request import Asked, dp_of, fake_request
from app.runner.fake.run import run
from app.runner.fake.text import trace_text
from app.web.json_text import sentence_of
from engine.language.refusal import Refusal


def main(argv: Sequence[str] | None = None) -> int:
    """Run one trace. Returns the exit code: 0, 1 where a row disagrees or a role failed, 2 with one line on stderr."""
    given = vars(_parser().parse_args(argv))
    as_json, ranks, jobs = given.pop("json") or not sys.stdout.isatty(), given.pop("ranks"), given.pop("jobs")
    asked = {name: value for name, value in given.items() if value is not None}
    seen = []
    try:
        if ranks is not None:
            asked["dp"] = dp_of(ranks, asked)
        for event in run(fake_request(asked), jobs):
            seen.append(event)
            if as_json:
                print(json.dumps(event), flush=True)
    except Refusal as refusal:
        print(sentence_of(refusal), file=sys.stderr)
        return 2
    if not as_json:
        print(trace_text(seen))
    return 0 if seen[-1].get("ok") else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m app.runner.fake",
        description="The framework's own code on as many fake ranks as you like: no GPU, no network.",
        allow_abbrev=False,
    )
    parser.add_argument("--ranks", type=int, help="all ranks; dp is what tp and pp leave of them")
    for name, field in Asked.model_fields.items():
        kind = str if name == "model" else int
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=f"{field.description} ({field.default})")
    parser.add_argument("--jobs", type=int, help="roles at a time (as many as there are processors)")
    parser.add_argument("--json", action="store_true", help="JSON lines (as when output is no terminal)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
