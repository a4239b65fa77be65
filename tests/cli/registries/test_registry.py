"""The command `ararat registry update`: new tables, their changes, and records that must not be missing."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.identifiers import registries
from ararat.identifiers.registries import tables
from ararat.identifiers.registries.tables import NAANS, NAMESPACES, SCHEMES
from tests.wrapping import unwrapped

ARARAT = Path(sys.executable).with_name("ararat")


@pytest.fixture
def update(data: Path, tmp_path: Path) -> Callable[..., Result]:
    """update("naan.txt", *options) reads a sample registry file into the tables of tmp_path / "tables"."""

    def run(name: str, *options: str) -> Result:
        arguments = ["registry", "update", str(data / "registries" / name), "--out", str(tmp_path / "tables"), *options]
        result = CliRunner().invoke(main.main, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Any]:
    def read(registry: tables.Registry) -> tables.Table:
        return tables.read((tmp_path / "tables" / registry.file).read_text("utf-8"), registry)

    return read


def test_the_first_file_is_compared_with_the_built_in_tables(update, tmp_path):
    result = update("naan-v2.json")
    assert result.exit_code == 1
    assert re.search(r"^  Added .*10101", result.stdout, re.MULTILINE)
    assert re.search(r"^  Missing .*10113", result.stdout, re.MULTILINE)
    assert "not in the file" in unwrapped(result.stderr)
    assert not (tmp_path / "tables").exists()


def test_force_writes_the_tables_although_naans_are_missing(update, table):
    result = update("naan-v2.json", "--force")
    assert result.exit_code == 0
    assert list(table(NAANS).records) == ["10101", "20202", "99999", "b9999"]
    assert table(tables.SHOULDERS).records["10101/w6"].status == 303


# ARK-021
def test_a_missing_naan_ends_with_1_and_writes_nothing(update, table, tmp_path):
    update("naan-v2.json", "--force")
    before = table(NAANS)
    result = update("naan.txt")
    assert result.exit_code == 1
    assert re.search(r"Missing +3: 20202, 99999, b9999", result.stdout)
    assert re.search(r"Changed +1: 10101 \(where, template, policy_url\)", result.stdout)
    assert re.search(r"Written +no$", result.stdout, re.MULTILINE)
    assert "3 NAANs of the table in use are not in the file" in unwrapped(result.stderr)
    assert "the file is older (2020-01-29)" in unwrapped(result.stderr)
    assert table(NAANS) == before


def test_the_text_form_changes_no_shoulders(update, table):
    update("naan-v2.json", "--force")
    update("naan.txt", "--force")
    assert "b9999" not in table(NAANS).records
    assert "10101/w6" in table(tables.SHOULDERS).records


def test_installing_the_same_file_again_changes_nothing(update):
    update("naan-v2.json", "--force")
    again = update("naan-v2.json")
    assert again.exit_code == 0
    assert len(re.findall(r"Changed +nothing", again.stdout)) == 2


def test_missing_records_of_other_registries_are_reported_and_removed(update, table):
    result = update("uri-schemes.xml")
    assert result.exit_code == 0
    assert re.search(r"Missing +\d+: aaa, aaas, .* and \d+ more", " ".join(result.stdout.split()))
    assert "upt" in table(SCHEMES).records


def test_json_output_has_one_object_per_table(update, tmp_path):
    update("naan-v2.json", "--force")
    result = update("naan.txt", "--json")
    assert result.exit_code == 1
    [said] = map(json.loads, result.stdout.splitlines())
    assert said == {
        "registry": "naan",
        "snapshot": {"date": "2020-01-29", "source": "https://n2t.net/e/pub/naan_registry.txt"},
        "replaces": {"date": "2026-07-14", "source": "https://cdluc3.github.io/naan_reg_priv/naan_records.json"},
        "records": 4,
        "added": ["30303", "40404", "50505"],
        "changed": {"10101": ["where", "template", "policy_url"]},
        "vanished": ["20202", "99999", "b9999"],
        "written": None,
    }


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        pytest.param(None, 66, "No such file", id="no file"),
        pytest.param(b"hello", 2, "line 1, column 1: the file is not in an official form", id="another file"),
        pytest.param(b'{"metadata": {},\n "data": [}', 2, "line 2, column 11: the file is not JSON", id="broken JSON"),
        pytest.param(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", 2, "document type", id="entities"),
        pytest.param(
            b"naa:\nwhat: 1\n\nnaa:\nwhat: 1\n", 2, "line 4: the key 1 is repeated; it is first in line 1", id="twice"
        ),
    ],
)
def test_an_unusable_file_is_refused_and_nothing_is_written(content, code, words, tmp_path):
    file = tmp_path / "a\u202efile"
    if content is not None:
        file.write_bytes(content)
    result = CliRunner().invoke(main.main, ["registry", "update", str(file), "--out", str(tmp_path / "tables")])
    assert result.exit_code == code
    assert result.stdout == ""
    assert words in unwrapped(result.stderr)
    assert re.fullmatch(r"[\n\x20-\x7e]*", result.stderr)
    assert not (tmp_path / "tables").exists()


def test_a_folder_that_cannot_be_written_is_reported(data, tmp_path):
    (tmp_path / "tables").write_text("a file")
    file = str(data / "registries" / "urn-namespaces.xml")
    result = CliRunner().invoke(main.main, ["registry", "update", file, "--out", str(tmp_path / "tables")])
    assert result.exit_code == 74
    assert str(tmp_path / "tables") in "".join(result.stderr.split("\n  ")[0].split())


def test_a_broken_installed_table_is_refused_and_kept(update, tmp_path):
    (tmp_path / "tables").mkdir()
    broken = tmp_path / "tables" / NAMESPACES.file
    broken.write_text("{}\n")
    result = update("urn-namespaces.xml")
    assert result.exit_code == 2
    assert "delete this file" in unwrapped(result.stderr)
    assert broken.read_text() == "{}\n"


@pytest.mark.one_setup
@pytest.mark.parametrize("options", [["--date", "yesterday"], ["--nope"]])
def test_a_usage_error_ends_with_64(options, update):
    assert update("naan.txt", *options).exit_code == 64


def test_a_command_does_not_change_the_tables_of_the_process(update, monkeypatch, tmp_path):
    update("urn-namespaces.xml")
    monkeypatch.setenv("ARARAT_REGISTRIES", str(tmp_path / "tables"))
    result = CliRunner().invoke(main.main, ["inspect", "--json", "urn:ark-sea:x"])
    assert json.loads(result.stdout)["registry"]["registered"]
    assert registries.namespace("ark-sea") is None


def test_every_command_reports_a_broken_installed_table(monkeypatch, tmp_path):
    (tmp_path / NAMESPACES.file).write_text("{}\n")
    monkeypatch.setenv("ARARAT_REGISTRIES", str(tmp_path))
    result = CliRunner().invoke(main.main, ["inspect", "--json", "urn:isbn:0451450523"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["registry"]["registered"]
    assert "urn-namespaces.jsonl, line 1: the file is not a table" in unwrapped(result.stderr)
    assert "the built-in table was used instead" in unwrapped(result.stderr)


def test_the_user_data_folder_is_used_before_the_package(run_command, data, tmp_path):
    environ = {"XDG_DATA_HOME": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}

    def ararat(*arguments: str) -> str:
        done = run_command(ARARAT, *arguments, **environ)
        assert done.returncode == 0
        return done.stdout.decode()

    said = ararat("registry", "update", "--force", str(data / "registries" / "naan-v2.json"))
    assert "NAANs: 4 as of 2026-07-14" in said
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jsonl"))
    assert written == ["ararat/registries/naan-shoulders.jsonl", "ararat/registries/naan.jsonl"]
    known = json.loads(ararat("inspect", "--json", "ark:10101/w6x"))["registry"]
    assert known["holder"]["name"] == "Museum of the Mountain"
    assert known["resolver"]["address"] == "http://people.museum.ararat/ark:/10101/w6x"
