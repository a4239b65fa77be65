"""Names that a restored database lacks are protected: from a newer store, an export, a history and a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.backups.backup import back_up
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError
from ararat.cli.main import main
from ararat.middleware import open_bindings
from tests.wrapping import unwrapped


def ararat(*arguments: str | Path, **environ: str) -> Result:
    result = CliRunner(env={"ARARAT_DATABASE": None, **environ}).invoke(main, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def mint(database: Path) -> str:
    return ararat(
        "mint", "--database", database, "12345/x5", "--digits", "--length", "4", "--sequential"
    ).stdout.strip()


@pytest.fixture
def restored(tmp_path: Path) -> tuple[Path, Path]:
    """A restored backup, and the newer database that it replaced."""
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    assert ararat("init", "--database", newer).exit_code == 0
    assert mint(newer) == "ark:12345/x50000"
    with open_bindings(newer) as bindings:
        bindings.bind("ark:12345/x50000", "https://example.org/a")
        bindings.reserve("ark:12345/later")
    back_up(newer, old)
    assert mint(newer) == "ark:12345/x50001"
    with open_bindings(newer) as bindings:
        bindings.bind("ark:12345/x50001", "https://example.org/painting", resource="painting")
        bindings.bind("ark:12345/later", "https://example.org/later", resource="later")
        bindings.reserve("ark:12345/hope")
        bindings.bind("ark:12345/gone", "https://example.org/gone")
        bindings.withdraw("ark:12345/gone")
    return old, newer


def sources(newer: Path, kind: str) -> Path:
    if kind == "store":
        return newer
    file = newer.with_name(f"export.{'jsonl' if kind == 'history' else kind}")
    options = ["--history"] if kind == "history" else []
    assert ararat("export", "--database", newer, *options, file).exit_code == 0
    return file


@pytest.mark.parametrize("kind", ["store", "csv", "jsonl", "history"])
def test_no_name_is_given_twice_after_a_restore(kind: str, restored: tuple[Path, Path]) -> None:
    old, newer = restored
    source = sources(newer, kind)
    before = old.read_bytes()
    planned = ararat("recover", "--database", old, "--from", source, "--dry-run")
    assert (planned.exit_code, old.read_bytes() == before) == (1, True)
    done = ararat("recover", "--database", old, "--from", source)
    assert done.exit_code == 1
    lines = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines() if " ark:" in line}
    assert lines == {"ark:12345/x50001": "missing", "ark:12345/later": "reserved", "ark:12345/gone": "missing"}
    assert mint(old) not in ("ark:12345/x50000", "ark:12345/x50001")
    with open_bindings(old) as bindings:
        assert [*verify(bindings)] == []
        for name in lines:
            found = bindings.lookup(name)
            assert found is not None
            assert found.is_hidden
            with pytest.raises(BindingError, match="delete"):
                bindings.delete(name)
        with pytest.raises(BindingError):
            bindings.bind("ark:12345/x50001", "https://example.org/sculpture", resource="sculpture")
        assert bindings.bind("ark:12345/x50001", "https://example.org/painting", resource="painting") == "bound"
        # A name that was only reserved there is reserved, and can be deleted.
        assert bindings.delete("ark:12345/hope") == "deleted"
    again = ararat("recover", "--database", old, "--from", source)
    assert "x50001" not in again.stdout
    assert "later" not in again.stdout


def test_names_of_a_log_are_protected_without_targets(restored: tuple[Path, Path], tmp_path: Path) -> None:
    old, newer = restored
    log, key = tmp_path / "log", tmp_path / "log.key"
    made = ararat("log", "init", "--database", newer, "--dir", log, "--key", key, "--origin", "example.org/log")
    assert made.exit_code == 0, made.output
    published = ararat("log", "publish", "--database", newer, "--dir", log, "--key", key)
    assert published.exit_code == 0, published.output
    done = ararat("recover", "--database", old, "--from", log)
    assert done.exit_code == 1, done.output
    assert "Protected: 3 public names, 1 counter" in unwrapped(done.stdout)
    with open_bindings(old) as bindings:
        found = bindings.lookup("ark:12345/x50001")
        assert found is not None
        assert (found.is_hidden, found.target) == (True, None)
        assert [*verify(bindings)] == []
    tile = next(path for path in (log / "tile" / "entries").rglob("*") if path.is_file())
    tile.write_bytes(tile.read_bytes().replace(b"x50001", b"x50009"))
    assert ararat("recover", "--database", old, "--from", log).exit_code == 2


def test_other_sources_are_refused(restored: tuple[Path, Path], tmp_path: Path) -> None:
    old, _ = restored
    for source, code in ((old, 2), (tmp_path / "none.sqlite", 69), (tmp_path, 66), ("https://example.org/log", 64)):
        assert ararat("recover", "--database", old, "--from", source).exit_code == code, source


def test_every_store_is_protected(database: str, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    store = open_store(database)
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:12345/a,https://example.org/a\n")
    assert ararat("recover", "--database", database, "--from", table).exit_code == 1
    found = store.lookup("ark:12345/a")
    assert found is not None
    assert found.is_hidden
