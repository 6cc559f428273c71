"""What a comparison found, for people and for programs."""

from typing import Any

from tests.compare.differ import Change, Compared, Group
from tests.compare.records import Key

LONGEST = 300


def summary_of(found: Compared) -> list[str]:
    """A line for each part: addresses, scenarios, commands."""
    return [
        f"{part:9s} {count['compared']} compared: {count['same']} same, {count['changed']} changed; "
        f"only in the old record {count['only_old']}, only in the new one {count['only_new']}"
        for part, count in found.counts.items()
    ]


def text_of(found: Compared, examples: int) -> str:
    """The groups, the largest first, each with a few examples; the summary last, where a terminal shows it."""
    return "\n".join([*(_group(group, examples) for group in found.groups), *summary_of(found)])


def _group(group: Group, examples: int) -> str:
    seen = len(group.addresses)
    head = f"{group.kind}: {_short(group.where)}\n  {len(group.places)} times, in {seen} answers"
    if group.patterns > 1:
        head += f", in {group.patterns} ways"
    return "\n".join([head, *(_example(*each) for each in group.examples(examples)), ""])


def _example(key: Key, change: Change) -> str:
    lines = [f"  {_asked(key)}"]
    lines += [f"    - {line}" for line in _short(change.old).splitlines()]
    lines += [f"    + {line}" for line in _short(change.new).splitlines()]
    return "\n".join(lines)


def _asked(key: Key) -> str:
    method, address, htmx, sent = key
    return _short(" ".join([method, address, *(["(part)"] if htmx else []), sent.strip()]).strip())


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def document_of(found: Compared) -> dict[str, Any]:
    """Everything, with every place of every group."""
    return {
        "summary": found.counts,
        "groups": [
            {
                "kind": group.kind,
                "where": group.where,
                "times": len(group.places),
                "answers": len(group.addresses),
                "ways": group.patterns,
                "places": [
                    {
                        "method": key[0],
                        "address": key[1],
                        "htmx": key[2],
                        "sent": key[3],
                        "old": change.old,
                        "new": change.new,
                    }
                    for key, change in group.places
                ],
            }
            for group in found.groups
        ],
    }
