"""What the tests of single scenes share: settings as cases."""

from collections.abc import Iterable

import pytest


def each_of(settings: Iterable[dict[str, str]]) -> pytest.MarkDecorator:
    """A test for each setting of the knobs."""
    return pytest.mark.parametrize(
        "given", settings, ids=lambda given: " ".join(f"{k}={v}" for k, v in given.items()) or "default"
    )
