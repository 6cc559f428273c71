"""One tree, asked everything: its pages, its API, its forms, its commands."""

import os
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from starlette.testclient import TestClient

from tests.compare.api import ask_api, described
from tests.compare.bad_values import ask_bad
from tests.compare.commands import ask_commands
from tests.compare.crawl import Crawl
from tests.compare.page_reader import HOST
from tests.compare.records import FILE, written
from tests.compare.runs import ask_refused, ask_runs
from tests.compare.scenarios import EXPORTED, SLIPPED, ask_exports, ask_scenarios, ask_slips
from tests.compare.site import Site

COMMANDED = 12  # scenarios for the command line


def record_tree(folder: Path) -> str:
    """Write the record of the tree this is run in; what was asked, in sentences."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {
            "SHARDBOARD_DEMOS": "off",
            "SHARDBOARD_DATA": f"{scratch}/data",
            "SHARDBOARD_CACHE": f"{scratch}/cache",
            "SHARDBOARD_HOSTS": HOST,
        }
        from app.main import create_app  # after the environment: settings are read once

        warnings.simplefilter("ignore")
        app = create_app()
        with TestClient(app, raise_server_exceptions=False) as client:
            site = Site(app, client)
            told = _asked(site)
    written(folder / FILE, site.records.values())
    size = (folder / FILE).stat().st_size
    return "\n".join([*told, f"{len(site.records)} answers, {size / 1e6:.0f} MB, {time.monotonic() - began:.0f} s"])


def _asked(site: Site) -> list[str]:
    crawl, told = Crawl(site), []
    crawl.run()
    shown = ask_runs(crawl)
    ask_api(site)
    bad = ask_bad(crawl)
    ask_refused(crawl)
    told.append(f"recorded runs shown: {', '.join(shown)}")
    told.append(f"bad values: {bad} addresses, and what is sent")
    site.part = "scenario"
    asked = ask_scenarios(site)
    files = ask_exports(site, asked.some(EXPORTED, "export"))
    slips = ask_slips(site, asked.some(SLIPPED, "slip"))
    told.append(
        f"scenarios: {len(asked.good)} with a meaning, {asked.refused} refused; {files} exported files read back, {slips} workings"
    )
    site.part = "command"
    count = ask_commands(site, described(site)[0], asked.some(COMMANDED, "command"))
    told.append(f"commands: {count}")
    return [*_by_route(site, crawl), *told]


def _by_route(site: Site, crawl: Crawl) -> list[str]:
    """How many addresses each route was asked, how many of them it refused, and what was never reached."""
    asked = [each for each in site.records.values() if each.part == "address"]
    counts = Counter((each.method, each.route or "(none)") for each in asked)
    wrong = Counter((each.method, each.route or "(none)") for each in asked if each.status >= 400)
    lines = [
        f"{number:6d} {wrong[where]:6d} refused  {where[0]} {where[1]}" for where, number in sorted(counts.items())
    ]
    unseen = [
        f"never reached: {method} {route.path}"
        for route in site.routes
        for method in ("GET", "POST")
        if method in route.methods and not counts[method, route.path]
    ]
    more = [f"more than are asked: {number} at {route}" for route, number in sorted(crawl.refused.items())]
    return [*lines, f"{len(asked)} addresses, {sum(wrong.values())} refused", *unseen, *more]
