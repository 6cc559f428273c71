"""The command line, each command in a process of its own: what it writes, what it complains, how it ends."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.compare.api import likely, names_in
from tests.compare.bad_values import TEXTS, UNKNOWN
from tests.compare.records import Record
from tests.compare.site import Site, by_chance

AT_ONCE, PATIENCE_S = 2, 600
FORMULAS = 16
Command = tuple[tuple[str, ...], str]  # its words, and standard input


def run(command: Command) -> Record:
    """Run one. It sees no terminal and an unchanging width."""
    words, given = command
    done = subprocess.run(
        [sys.executable, "-m", "app", *words],
        input=given.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=PATIENCE_S,
        env={**os.environ, "COLUMNS": "100"},
    )
    out, err = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
    kind = "application/json" if out[:1] in ("{", "[") else "text/plain"
    return Record(
        "command",
        words[0] if words else "",
        "RUN",
        " ".join(words),
        sent=given,
        status=done.returncode,
        type=kind if out else "",
        body=out,
        errors=err,
    )


def commands(site: Site, schema: Mapping[str, Any], good: list[dict[str, Any]]) -> Iterator[Command]:
    """Each command, well and badly asked."""
    yield from (
        (words, "")
        for words in (
            (),
            ("--help",),
            ("nothing",),
            ("formulas",),
            ("formulas", "--text"),
            ("formulas", "--json"),
            ("formulas", "--text", "--json"),
            ("formulas", "more"),
        )
    )
    for name in ("estimate", "export", "import", "schedule", "formula", "formulas", "demo", "serve"):
        yield (name, "--help"), ""
        yield (name, "--nothing"), ""
    yield from _of_formulas(json.loads(site.get("/api/formulas").body))
    for name in names_in(schema["properties"]["layout"]["properties"]["schedule"]):
        for size in (("4", "8"), ("3", "5"), ("0", "many")):
            yield ("schedule", name, "--stages", size[0], "--micro-batches", size[1]), ""
        yield ("schedule", name, "--stages", "4", "--micro-batches", "8", "--chunks", "2", "--text"), ""
    for words in (
        (UNKNOWN, "--stages", "4", "--micro-batches", "8"),
        ("gpipe",),
        ("gpipe", "--stages", "1e30", "--micro-batches", "1"),
    ):
        yield ("schedule", *words), ""
    yield ("demo", UNKNOWN), ""
    yield from _of_scenarios(site, good)


def _of_formulas(entries: list[Mapping[str, Any]]) -> Iterator[Command]:
    by_name = {entry["name"]: entry for entry in entries}
    for name in by_chance(sorted(by_name))[:FORMULAS]:
        given = [f"{each['name']}={likely(each['rule'], 4)}" for each in by_name[name]["parameters"]]
        yield ("formula", name, *given), ""
        yield ("formula", name, *given, "--text"), ""
        yield ("formula", name, *given[1:]), ""
        yield ("formula", name, *given, "stranger=1"), ""
        yield ("formula", name[:-1], *given), ""
        yield ("formula", name, *given[:1], *given), ""
        yield ("formula", name, "no-value"), ""


def _of_scenarios(site: Site, good: list[dict[str, Any]]) -> Iterator[Command]:
    shown = (
        key[1]
        for key, each in site.records.items()
        if each.route.startswith("/topology/export/") and each.status == 200
    )
    targets = sorted({address.split("/")[3] for address in shown})
    for made in good:
        text = json.dumps(made)
        yield ("estimate", "-"), text
        yield ("estimate", "-", "--text"), text
        yield from ((("export", "-", "--to", target), text) for target in (*targets, "megatronn"))
    yield from ((("export", "-", "--to", target, "--text"), json.dumps(good[0])) for target in targets)
    yield ("estimate", "-", "--lines"), "\n".join(map(json.dumps, [*good, {"gpus": 8}, *good[:1]])) + "\nno json\n\n"
    for text in TEXTS:
        yield ("estimate", "-"), text
        yield ("export", "-", "--to", "megatron"), text
        yield ("import", "-"), text
    for words in (("estimate", "no-such-file.json"), ("estimate", "."), ("export", "-"), ("import", "no-such-file.sh")):
        yield words, ""


def ask_commands(site: Site, schema: Mapping[str, Any], good: list[dict[str, Any]]) -> int:
    """Run them all, then read back what they exported; how many there were."""
    asked = list(dict.fromkeys(commands(site, schema, good)))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = list(pool.map(run, asked))
        texts = dict.fromkeys(
            file["text"] for each in made if each.route == "export" and each.status == 0 for file in _files(each.body)
        )
        made += pool.map(run, [((("import", "-"), text)) for text in texts])
        made += pool.map(run, [((("import", "-", "--text"), text)) for text in list(texts)[:8]])
    for each in made:
        site.records.setdefault(each.key, each)
    return len(made)


def _files(text: str) -> list[Mapping[str, Any]]:
    try:
        return json.loads(text)["files"]
    except (ValueError, KeyError, TypeError):
        return []
