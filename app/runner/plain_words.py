"""What torch and gloo say, made fit for a page: no paths, no ports, one line. Pure text."""

import re

LONGEST = 400
_PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w.+@-]+/)+([\w.+@-]+)")
_PORT = re.compile(r"(\[?(?:\d{1,3}\.){3}\d{1,3}\]?|\[::1?\]):\d+")
_STACK = re.compile(
    r"\s*(?:Exception raised from|C\+\+ CapturedTraceback|Stack trace|This is typically caused by).*", re.DOTALL
)
_OPTIONS = re.compile(r",? ?TensorDeviceTypes=TensorOptions\(.*?\(nullopt\)\)")  # of a collective's fingerprint


def without_paths(text: str) -> str:
    """The text on one line, each path cut to its last part, ports and C++ stacks left out.

    >>> without_paths("[/pytorch/gloo/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:4513")
    '[pair.cc:547] Connection closed by peer [127.0.0.1]'
    """
    text = _plain(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def last_of(text: str) -> str:
    """As without_paths, but of a longer text the end is kept: an error stands last.

    >>> last_of("Traceback (most recent call last):\\n" + "  File x\\n" * 99 + "ImportError: /opt/lib/libcudart.so")[-25:]
    'ImportError: libcudart.so'
    """
    text = _plain(text)
    return text if len(text) <= LONGEST else "…" + text[1 - LONGEST :]


def _plain(text: str) -> str:
    text = _PORT.sub(r"\1", _PATH.sub(r"\1", _OPTIONS.sub("", _STACK.sub("", text))))
    return " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
