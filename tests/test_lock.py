"""constraints.txt, which set-up installs by, against pyproject.toml: everything pinned, inside its bounds, from no place named."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [
    Requirement(text)
    for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in group
]
LINES = [
    line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line and line[0] not in "# "
]
PINNED = [Requirement(line) for line in LINES]
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ({"sys_platform": "linux"}, {"sys_platform": "darwin"}, {"sys_platform": "win32"})
MACHINES = [
    {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": "x86_64", **platform}
    for python in PYTHONS
    for platform in PLATFORMS
]


def applies(requirement: Requirement, machine: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(machine)


@pytest.mark.parametrize(
    "machine", MACHINES, ids=lambda machine: f"{machine['python_version']}-{machine['sys_platform']}"
)
def test_everything_that_is_asked_for_has_one_version_within_its_bounds(machine: dict[str, str]) -> None:
    for asked in ASKED:
        if applies(asked, machine):
            found = [
                pin
                for pin in PINNED
                if canonicalize_name(pin.name) == canonicalize_name(asked.name) and applies(pin, machine)
            ]
            assert len(found) == 1, asked
            [version] = found[0].specifier
            assert version.operator == "==" and asked.specifier.contains(version.version), f"{asked} against {found[0]}"


def test_a_pin_names_no_place_and_no_build_of_one_machine() -> None:
    assert [line for line in LINES if any(sign in line for sign in ("://", "@", "--", "+", "/"))] == []
    assert all(pin.url is None and not pin.extras for pin in PINNED)
