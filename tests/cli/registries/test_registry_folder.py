"""The folder of the registry tables. Tables are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ararat.cli.registries import registry_folder
from ararat.cli.registries.registry_folder import table_in, write_tables
from ararat.identifiers import registries
from ararat.identifiers.registries.tables import (
    NAMESPACES,
    SCHEMES,
    RegisteredNamespace,
    RegistryError,
    Scheme,
    Table,
    TableOrigin,
)

DAY = TableOrigin("1999-01-01", "https://registry.ararat/")
TABLES = (
    Table.of(NAMESPACES, DAY, [RegisteredNamespace("old", "formal")]),
    Table.of(SCHEMES, DAY, [Scheme("old", "historical", description="Vieux schéma")]),
)


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        pytest.param({"ARARAT_REGISTRIES": "/srv/tables"}, "linux", "/srv/tables", id="named"),
        pytest.param({"ARARAT_REGISTRIES": ""}, "linux", "/home/me/.local/share/ararat/registries", id="named nothing"),
        pytest.param({}, "linux", "/home/me/.local/share/ararat/registries", id="home"),
        pytest.param({"XDG_DATA_HOME": "/data"}, "linux", "/data/ararat/registries", id="XDG"),
        pytest.param({"XDG_DATA_HOME": "data"}, "linux", "/home/me/.local/share/ararat/registries", id="XDG, relative"),
        pytest.param({}, "darwin", "/home/me/Library/Application Support/ararat/registries", id="macOS"),
        pytest.param({"LOCALAPPDATA": "/local"}, "win32", "/local/ararat/registries", id="Windows"),
    ],
)
def test_the_default_folder_is_in_the_user_data_folder(environ, platform, folder, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert registry_folder.registry_folder(environ, platform) == Path(folder)


def test_the_tests_use_no_folder_of_the_developer():
    assert not registry_folder.registry_folder().is_relative_to(Path.home())
    assert not registry_folder.registry_folder().exists()


def test_without_a_home_folder_the_built_in_tables_are_used(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    for name in ("ARARAT_REGISTRIES", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    before = registries.current()
    with registry_folder.use_user_tables():
        assert registries.current() is before


def test_a_folder_that_cannot_be_looked_at_is_not_used(tmp_path, monkeypatch):
    # os.stat() raises an error other than FileNotFoundError, as for a home folder that is closed to the process.
    monkeypatch.setenv("ARARAT_REGISTRIES", str(tmp_path / ("a" * 300)))
    before = registries.current()
    with registry_folder.use_user_tables():
        assert registries.current() is before


def test_written_tables_are_read_and_used(tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    assert write_tables(folder, TABLES) == [folder / "urn-namespaces.jsonl", folder / "uri-schemes.jsonl"]
    assert table_in(folder, SCHEMES) == TABLES[1]
    monkeypatch.setenv("ARARAT_REGISTRIES", str(folder))
    with registry_folder.use_user_tables():
        assert registries.scheme("old") == TABLES[1].records["old"]
        assert registries.scheme("http") is None
        assert registries.authority("12148") is not None
    assert registries.scheme("old") is None


def test_a_missing_table_is_replaced_by_the_built_in_table(tmp_path):
    assert table_in(tmp_path / "nowhere", SCHEMES).records["http"].status == "permanent"


@pytest.mark.one_setup
@pytest.mark.parametrize("content", [b"", b"\xff", b"{}\n"])
def test_an_unreadable_table_is_reported(content, tmp_path):
    (tmp_path / SCHEMES.file).write_bytes(content)
    with pytest.raises(RegistryError) as refused:
        table_in(tmp_path, SCHEMES)
    assert str(refused.value).startswith(str(tmp_path / SCHEMES.file))


def test_a_full_disk_does_not_change_the_folder(tmp_path, monkeypatch):
    write_tables(tmp_path, TABLES)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    synced = []

    def full(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    newer = [table._replace(snapshot=TableOrigin("2026-01-01", "")) for table in TABLES]
    with pytest.raises(OSError, match="No space"):
        write_tables(tmp_path, newer)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_of_another_process_stays(tmp_path):
    # In another container, another process can have the same number.
    other = tmp_path / f".{SCHEMES.file}.{os.getpid()}"
    other.write_text("of another process")
    write_tables(tmp_path, TABLES)
    assert other.read_text() == "of another process"
    assert len(list(tmp_path.iterdir())) == 3


def test_tables_have_the_usual_file_permissions(tmp_path):
    [path, _] = write_tables(tmp_path, TABLES)
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
