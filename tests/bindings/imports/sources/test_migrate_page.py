"""The commands of docs/migrate.md, on dumps of 40 names, and of 50,000 names in `make long`."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.middleware import open_bindings

PAGE = (Path(__file__).parents[4] / "docs" / "migrate.md").read_text("utf-8")


def commands(chapter: str) -> str:
    text = PAGE.partition(f"\n## {chapter}\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("names", [40, pytest.param(50_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("chapter", "dump", "withdrawn", "minted"),
    [
        ("EZID", "ezid.txt.gz", True, 0),
        pytest.param("arklet", "arklet.sql", False, 0, marks=pytest.mark.long),
        pytest.param("noid", "noid.dump", True, 12, marks=pytest.mark.long),
        pytest.param("N2T", "n2t.json", True, 0, marks=pytest.mark.long),
        pytest.param("ERC", "erc.txt", True, 0, marks=pytest.mark.long),
    ],
)
def test_the_commands_of_the_page_import_a_dump(
    chapter: str,
    dump: str,
    withdrawn: bool,
    minted: int,
    names: int,
    dumped: Callable[..., Path],
    tmp_path: Path,
    search_path: str,
) -> None:
    dumped(tmp_path / dump, names)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ARARAT_")}
    environ |= {
        "ARARAT_DATABASE": f"sqlite:///{tmp_path}/bindings.sqlite",
        "PATH": search_path,
    }

    def shell(script: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-euc", script],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=500,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    output = shell(commands(chapter))
    assert "Nothing was written." in output
    assert "The database has all names of the dump with their targets." in " ".join(output.split())
    sums = re.findall(r"SHA-256\s+([0-9a-f]{64})", output)
    assert len(sums) == 3
    assert len(set(sums)) == 1
    if not minted:
        assert shell(commands("Steps")).split()[0] == sums[0]
    with (tmp_path / f"{dump.partition('.')[0]}-report.csv").open(encoding="utf-8-sig", newline="") as report:
        assert list(csv.DictReader(report)) == []
    with open_bindings(tmp_path / "bindings.sqlite") as bindings, bindings.store.snapshot() as snapshot:
        states = [binding.status for binding in snapshot.bindings()]
    reserved, gone = names // 20 + minted, names // 10 if withdrawn else 0
    assert (len(states), states.count("reserved"), states.count("withdrawn")) == (names + minted, reserved, gone)
