"""Each command whose file cannot be written names the file, the reason and the remedy, with one exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from tests.wrapping import unwrapped

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs limits of POSIX")

WRITERS = {
    "a table": ("export", "{}.csv"),
    "a history": ("export", "--history", "{}.jsonl"),
    "a backup": ("backup", "{}.sqlite"),
    "a snapshot": ("snapshot", "{}.snapshot"),
    "the report of an import": ("import", "--dry-run", "--report", "{}.csv", "names.csv"),
    "the result of a table with keys": (
        *("import", "keys.csv", "--key", "Key", "--mint", "ark:12345/x5"),
        *("--map", "Link=target", "--output", "{}.csv"),
    ),
    "the traces": ("check", "--trace", "-", "--resume", "{}.jsonl"),
    "the key of a log": ("log", "init", "--origin", "example.org/log", "--dir", "public", "--key", "{}"),
    "the tables of registries": ("registry", "update", "urn-namespaces.xml", "--out", "{}"),
}


@contextmanager
def largest_file(octets: int) -> Iterator[None]:
    """Limit the size of the files that this process writes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def site(bound: Callable[..., Result], tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database, a table, a log to publish and a file of a registry."""
    monkeypatch.chdir(tmp_path)
    Path("names.csv").write_text("identifier,target\nark:12345/b,http://[\n")
    Path("keys.csv").write_text("Key,Link\nk1,https://example.org/k1\n")
    Path("urn-namespaces.xml").write_bytes((data / "registries" / "urn-namespaces.xml").read_bytes())
    return tmp_path


def _fill(command: tuple[str, ...], place: str) -> list[str]:
    return [each.replace("{}", place) for each in command]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_missing_folder_is_named_with_its_remedy(writer: str, site: Path, bound: Callable[..., Result]) -> None:
    Path("file").write_text("not a folder")
    before = bound("list", "--json").stdout
    result = bound(*_fill(WRITERS[writer], "file/new"), given="ark:12345/doc\n")
    said = unwrapped(result.stderr)
    assert (result.exit_code, "file/new" in said, "Not a directory" in said) == (74, True, True), said
    assert "create the folder, or name a file in another folder" in said
    assert bound("list", "--json").stdout == before
    if writer == "the result of a table with keys":
        assert bound(*_fill(WRITERS[writer], "file/new"), "--dry-run").exit_code == 74


@pytest.mark.parametrize("writer", [each for each in WRITERS if WRITERS[each][0] not in ("log", "registry", "import")])
def test_a_limit_of_the_file_size_is_named_with_its_remedy(
    writer: str, site: Path, bound: Callable[..., Result]
) -> None:
    with largest_file(0):
        result = bound(*_fill(WRITERS[writer], "new"), given="ark:12345/doc\n")
    said = unwrapped(result.stderr)
    assert (result.exit_code, "File too large" in said) == (74, True), said
    assert "raise the file size limit of this process, such as with ulimit -f" in said
    assert not [each for each in site.iterdir() if each.name.endswith(".part")]


def test_a_database_above_the_limit_of_the_file_size_is_reported_with_its_remedy(
    site: Path, bound: Callable[..., Result]
) -> None:
    with largest_file(1):
        result = bound("bind", "ark:12345/other", "https://example.org/2")
    assert (result.exit_code, "raise the file size limit" in unwrapped(result.stderr)) == (69, True), result.stderr


@pytest.mark.parametrize("writer", [each for each in WRITERS if "{}.csv" in WRITERS[each]])
def test_a_full_disk_is_reported_for_each_file(writer: str, site: Path, bound: Callable[..., Result]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    Path("full.csv").symlink_to("/dev/full")
    result = bound(*_fill(WRITERS[writer], "full"))
    said = unwrapped(result.stderr)
    assert (result.exit_code, "cannot write full.csv: No space left on device" in said) == (74, True), said
    assert "free space on its disk, or name a file on another disk" in said
