"""The two commands of the package."""

import argparse
import json
import sys
from pathlib import Path

from tests.compare.differ import compared
from tests.compare.records import FILE
from tests.compare.report import document_of, text_of


def main() -> int:
    """Record, or compare. 0: recorded, or nothing has changed; 1: something has; 2: asked wrongly."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.compare",
        description=sys.modules["tests.compare"].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="ask this tree everything, and write it down")
    record.add_argument("folder", type=Path)
    diff = commands.add_parser("diff", help="what changed between two records")
    diff.add_argument("old", type=Path, help="a folder of `record`, or its file")
    diff.add_argument("new", type=Path)
    diff.add_argument("--json", action="store_true", help="one JSON document, with every address of every group")
    diff.add_argument("--examples", type=int, default=3, help="how many are shown of each kind of change")
    options = parser.parse_args()
    if options.command == "record":
        from tests.compare.recording import record_tree  # needs the program; comparing does not

        print(record_tree(options.folder))
        return 0
    found = compared(*(path / FILE if path.is_dir() else path for path in (options.old, options.new)))
    if options.json:
        print(json.dumps(document_of(found), ensure_ascii=False, indent=1))
    else:
        print(text_of(found, options.examples))
    return 1 if found.groups else 0


if __name__ == "__main__":
    sys.exit(main())
