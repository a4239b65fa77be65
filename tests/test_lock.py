"""Check tests/requirements: all requirements of pyproject.toml are pinned once, with hashes and without URLs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES = {path.stem: path for path in (ROOT / "tests" / "requirements").glob("*.txt")}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
BEFORE = {"run": (), "test": ("run",)} | dict.fromkeys(("lint", "servers", "bench", "fuzz"), ("run", "test"))
EVERYWHERE = [
    {"python_version": version, "python_full_version": f"{version}.1", "sys_platform": system, "os_name": name}
    for version in ("3.11", "3.12", "3.13")
    for system, name in (("linux", "posix"), ("darwin", "posix"), ("win32", "nt"))
]


def pins(file: str) -> list[Requirement]:
    """Return the requirements of a file, without their hashes."""
    text = FILES[file].read_text("utf-8").replace("\\\n", " ")
    return [Requirement(line.partition("--hash")[0]) for line in text.splitlines() if not line.startswith("#")]


def required(file: str) -> list[str]:
    """Return the requirements of pyproject.toml for a file, without the groups that a group includes."""
    if file == "build":
        return PROJECT["build-system"]["requires"]
    if file == "run":
        return [*PROJECT["project"]["dependencies"], *EXTRAS["app"]]
    return [
        *EXTRAS["client"],
        *EXTRAS["log"],
        *EXTRAS["metrics"],
        *EXTRAS["oidc"],
        *EXTRAS["postgres"],
        *(line for line in PROJECT["dependency-groups"][file] if isinstance(line, str)),
    ]


def test_there_is_a_file_for_each_set() -> None:
    assert {*FILES} == {*BEFORE, "build", "pip", "sites", "tools"}


@pytest.mark.parametrize("file", FILES)
def test_each_package_has_hashes_and_no_file_names_a_registry(file: str) -> None:
    text = FILES[file].read_text("utf-8")
    assert "://" not in text
    packages = re.findall(r"^[^\s#].*(?:\n +.*)*", text, re.MULTILINE)
    assert packages
    for package in packages:
        assert re.match(r"[a-z0-9-]+(\[\w+\])?==\S+( ; .+)? \\\n    --hash=sha256:[0-9a-f]{64}", package), package


@pytest.mark.parametrize("file", [*BEFORE, "build"])
def test_requirements_of_pyproject_are_pinned_within_their_versions(file: str) -> None:
    found: dict[str, list[Requirement]] = {}
    for each in (file, *BEFORE.get(file, ())):
        for pin in pins(each):
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    for requirement in map(Requirement, required(file)):
        for environment in EVERYWHERE:
            here = {**default_environment(), **environment}
            if requirement.marker is None or requirement.marker.evaluate(here):
                pinned = [
                    pin
                    for pin in found.get(canonicalize_name(requirement.name), [])
                    if pin.marker is None or pin.marker.evaluate(here)
                ]
                assert len(pinned) == 1, f"{requirement}: run `make lock`"
                (version,) = pinned[0].specifier
                assert requirement.specifier.contains(version.version), f"{requirement}: run `make lock`"
