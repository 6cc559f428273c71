"""A plan to take away: its document, its numbers as a table, and the command that gives them again."""

import csv
import io
import json
import shlex
from collections.abc import Mapping

from app.plan.form import document_of
from engine.estimate import Estimate
from engine.language.formula import Given
from engine.workings import terms_of

COLUMNS = ("name", "label", "value", "unit", "source")
FORMULA_STARTS = ("=", "+", "-", "@")  # what a spreadsheet would run


def document_text(state: Mapping[str, str]) -> str:
    """The scenario document of a plan, as POST /api/estimate takes it.

    >>> from app.plan.form import state_of
    >>> json.loads(document_text(state_of({"gpus": "64", "tp": "4", "pp": "2", "batch": "128"})))["layout"]["tp"]
    4
    """
    return json.dumps(document_of(state), indent=2) + "\n"


def command_text(state: Mapping[str, str]) -> str:
    """The command line that answers the same plan."""
    return f"echo {shlex.quote(json.dumps(document_of(state)))} | shardboard estimate -"


def numbers_text(estimate: Estimate) -> str:
    """Every number of the answer as a line of CSV, in base units, by its name in the API's document.

    >>> from engine.estimate import estimate
    >>> from engine.scenario import scenario_from
    >>> card = estimate(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}))
    >>> numbers_text(card).splitlines()[0]
    'name,label,value,unit,source'
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for name, term in terms_of(estimate).items():
        source = term.source if isinstance(term, Given) else term.formula.source
        rows.writerow([_plain(name), _plain(term.label), repr(float(term.value)), _plain(term.unit), _plain(source)])
    return out.getvalue()


def _plain(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
