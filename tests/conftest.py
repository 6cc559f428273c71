"""What every test relies on: bounded examples, and no deadline, since the machines that run tests differ in speed."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shardboard",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("shardboard")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright keeps an event loop running in the main thread, and others want their own."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
