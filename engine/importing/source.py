"""One source of launch texts, and how a text is known for its own."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.importing.imported import Imported
from engine.importing.kinds import Kinds

# how the first line of a TOML file begins, and what the others hold; each is matched line by line, in time that grows with the text
_TOML = re.compile(r"\[[\w. \[\"']+\]|[\w.\"'-]+[ \t]+=|[\w\"'-]+\.[\w.\"'-]+[ \t]*=")
_YAML = re.compile(r"^[\"']?[A-Za-z_][\w-]*[\"']?[ \t]*:([ \t]|$)", re.MULTILINE)
_SHELL = re.compile(
    r"^[ \t]*(export[ \t]|#!.*sh\b|[A-Za-z_]\w*\+?=|(\S*/)?(torchrun|deepspeed|python[0-9.]*|srun|accelerate)[ \t])",
    re.MULTILINE,
)
_OPTION = re.compile(r"(^|[\s(\"'])--[A-Za-z]")


@dataclass(frozen=True)
class Source:
    """A framework whose texts are read.

    what        what is pasted, in words
    recognises  whether a text of this kind (json, toml, yaml, shell) is one of its own
    kinds       its settings, sorted by what they do
    """

    name: str
    title: str
    what: str
    recognises: Callable[[str, str], bool]
    read: Callable[[str], Imported]
    kinds: Kinds


def kind_of(text: str) -> str:
    """How a text is written: json, toml, yaml or shell; nothing for prose.

    >>> [kind_of(text) for text in ('{"a": 1}', "[model]\\nname = 1", "trainer:\\n  devices: 8", "--bf16")]
    ['json', 'toml', 'yaml', 'shell']
    """
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "---"))), "")
    if first.startswith("{"):
        return "json"
    if _TOML.match(first):
        return "toml"
    if _YAML.search(text) and not (_SHELL.search(text) and _OPTION.search(text)):
        return "yaml"
    return "shell" if _OPTION.search(text) or _SHELL.search(text) else ""


def has(*keys: str) -> Callable[[str], bool]:
    """Whether one of these keys stands in a text.

    >>> has("trainer")("trainer:\\n  devices: 8")
    True
    """
    named = re.compile(rf"(^|[\s{{,])[\"']?({'|'.join(map(re.escape, keys))})[\"']?[ \t]*:", re.MULTILINE)
    return lambda text: bool(named.search(text))
