"""What people kept still opens: addresses, scenario documents, exported files and recorded runs of earlier months.

A folder is a month, written once and never changed: an address in it may lead elsewhere, but not nowhere.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from engine.export import TARGETS
from engine.importing import read
from engine.scenario import Scenario, scenario_from

FROZEN = Path(__file__).parent
MONTHS = tuple(sorted(folder for folder in FROZEN.iterdir() if (folder / "addresses.txt").exists()))
ADDRESSES = [address for month in MONTHS for address in (month / "addresses.txt").read_text().split()]
DOCUMENTS = [path for month in MONTHS for path in sorted(month.glob("*.scenario.json"))]
RUNS = [path for month in MONTHS for path in sorted(month.glob("*.jsonl"))]
EXPORTS = [path for month in MONTHS for path in sorted(month.glob("exports/*/*/*"))]
PLANS = ("/plan", "/topology")
# the file of each target that can be read back and says its layout; the others start it or go along
FIRST = {
    "megatron": ("train.sh",),
    "torchtitan": ("train.toml",),
}


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(), raise_server_exceptions=False)


def named(path: Path) -> str:
    return str(path.relative_to(FROZEN))


def test_there_is_something_to_open() -> None:
    assert len(ADDRESSES) > 250 and DOCUMENTS and RUNS and {path.parent.name for path in EXPORTS} == set(TARGETS)


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_still_opens(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[:300]
    parts = urlsplit(address)
    if parts.path in PLANS:
        assert "has no meaning" not in answer.text
        assert _kept(answer.text, dict(parse_qsl(parts.query))), address


def _kept(page: str, query: Mapping[str, str]) -> bool:
    """Whether the form shows each value of the address."""
    return all(f'value="{value}"' in page or f">{value}<" in page for value in query.values())


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_a_scenario_document_is_still_estimated(client: TestClient, path: Path) -> None:
    assert client.post("/api/estimate", json=json.loads(path.read_text())).status_code == 200


@pytest.mark.parametrize("path", RUNS, ids=named)
def test_the_events_of_a_run_are_still_drawn(client: TestClient, path: Path) -> None:
    page = client.post("/demos/open", data={"events": path.read_text()})
    assert page.status_code == 200 and "<svg" in page.text


@pytest.mark.parametrize("path", [path for path in EXPORTS if path.name in FIRST.get(path.parent.name, ())], ids=named)
def test_an_exported_file_still_comes_back(path: Path) -> None:
    kept = json.loads((path.parents[3] / f"{path.parents[1].name}.scenario.json").read_text())
    back, meant = scenario_from(read(path.read_text()).document), scenario_from(kept)
    assert said(back) == said(meant)


def said(scenario: Scenario) -> tuple[int, ...]:
    """What every target can say."""
    layout = scenario.layout
    return (scenario.gpus, layout.global_batch, layout.tp, layout.pp, layout.cp, layout.micro_batch)
