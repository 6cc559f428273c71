"""Scenarios asked of the API; for some of them every export, read back again, and every slip that shows a working."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.compare.api import FORM, described
from tests.compare.documents import ATTEMPTS, documents, mended
from tests.compare.page_reader import read_page
from tests.compare.site import Site, by_chance

EXPORTED, SLIPPED = 48, 27
BOARDS = (
    "/plan",
    "/plan/chart/memory",
    "/plan/chart/knob",
    "/topology/board",
    "/topology/tries",
    "/topology/layouts",
    "/topology/panel",
)
IN_FORM = {
    "precision": "precision",
    "stack": "stack",
    "sequence": "sequence_tokens",
    "gpus": "gpus",
    "model": "model",
    "cluster": "cluster",
}
IN_LAYOUT = (
    "tp",
    "pp",
    "cp",
    "ep",
    "vp",
    "schedule",
    "micro_batch",
    "zero",
    "hsdp_shard",
    "recompute",
    "gradient_bytes",
    "rank_order",
    "sequence_parallel",
)


@dataclass
class Asked:
    """The scenarios that have a meaning, by name, and how many have none."""

    good: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: int = 0

    def some(self, count: int, seed: str) -> list[dict[str, Any]]:
        """A few that a form can say too: those of the catalogue."""
        named = [name for name, made in self.good.items() if isinstance(made["model"], str)]
        return [self.good[name] for name in by_chance(sorted(named), seed)[:count]]


def ask_scenarios(site: Site) -> Asked:
    """Estimate all of them. One that is refused is asked again, its fields made plain that were refused."""
    asked = Asked()
    for name, drawn in documents(described(site)[0]):
        made: dict[str, Any] | None = drawn
        for _ in range(ATTEMPTS):
            answer = site.ask("POST", "/api/estimate", json.dumps(made), "application/json")
            if answer.status == 200 and made:
                asked.good[name] = made
                break
            asked.refused += 1
            made = mended(made or {}, [each["field"] for each in json.loads(answer.body).get("refusals", ())])
            if made is None:
                break
    return asked


def query_of(made: Mapping[str, Any]) -> str:
    """The planner's query for a scenario of the catalogue."""
    layout = made["layout"]
    values = {name: made[path] for name, path in IN_FORM.items() if path in made}
    values |= {name: layout[name] for name in IN_LAYOUT if layout.get(name) is not None}
    values["sequence_parallel"] = str(layout["sequence_parallel"]).lower()
    values["batch"] = layout["dp"] * layout["micro_batch"] * layout["micro_batches"]
    return urlencode(values)


def ask_exports(site: Site, made: list[dict[str, Any]]) -> int:
    """Every file of every export of these scenarios, each read back; how many files there were."""
    files = 0
    for each in made:
        place = f"/topology/export?{query_of(each)}"
        for link in read_page(site.get(place).body, place).links:
            if "/export/" in urlsplit(link).path:
                files += 1
                text = site.get(link).body
                site.ask("POST", "/topology/import", urlencode({"text": text}), FORM)
    return files


def ask_slips(site: Site, made: list[dict[str, Any]]) -> int:
    """Every working that the planner and the topology page open for these scenarios; how many there were."""
    slips = 0
    for each in made:
        for board in BOARDS:
            place = f"{board}?{query_of(each)}"
            for link in read_page(site.get(place).body, place).links:
                if "/working/" in urlsplit(link).path:
                    slips += 1
                    site.get(link, htmx=True)
    return slips
