"""Names that a restored database lacks are protected: from a newer store, an export, a history and a log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.backups.backup import back_up
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.holding import hold
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.prefixes.prefixes import PrefixRecords
from ararat.bindings.operations.undo import undo_change
from ararat.cli.main import main
from ararat.middleware import open_bindings, resolve
from ararat.webapp.accounts.store import Accounts
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
    assert again.exit_code == 1
    assert "x50001" not in again.stdout
    assert "ark:12345/later" in again.stdout
    with open_bindings(old) as bindings:
        bindings.bind("ark:12345/later", "https://example.org/later", resource="later")
        bindings.bind("ark:12345/gone", "https://example.org/gone")
        bindings.withdraw("ark:12345/gone")
        bindings.reserve("ark:12345/hope")
    again = ararat("recover", "--database", old, "--from", source)
    assert (again.exit_code, "Nothing that the source knows differs." in again.stdout) == (0, True), again.stdout
    assert ararat("verify", "--database", old, "--against", source).exit_code == 0


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


UNTIL = datetime.now(UTC) + timedelta(days=30)
NAME, OTHER = "ark:12345/c9a", "ark:12345/c9b"


def people(bindings: Bindings) -> Accounts:
    return Accounts(bindings)


def withdrawn(bindings: Bindings) -> None:
    bindings.withdraw(NAME, reason="taken down: privacy", successor=OTHER)


def on_hold(bindings: Bindings) -> None:
    hold(bindings, NAME, UNTIL, "court order 17")


def prefix_on_hold(bindings: Bindings) -> None:
    hold(bindings, "12345/c9", UNTIL, "court order 18", kind="prefix")


def delegated(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/m1", state="delegated", resolver="https://other.example")


def retired(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/f4", state="retired")


def delegated_without_a_record_before(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/n7", who="A new partner", state="delegated", about="https://other.example/names")


def disabled(bindings: Bindings) -> None:
    people(bindings).disable("jane")


def revoked(bindings: Bindings) -> None:
    tokens = people(bindings).tokens
    tokens.revoke(tokens.list("jane")[0].number)


def fewer_grants(bindings: Bindings) -> None:
    people(bindings).revoke("jane", "12345/c9")


def lower_role(bindings: Bindings) -> None:
    people(bindings).set_role("joe", "reader")


OF_NAMES = [withdrawn, on_hold, prefix_on_hold, delegated, retired, delegated_without_a_record_before]
OF_PEOPLE = [disabled, revoked, fewer_grants, lower_role]


def with_partners(place: str | Path) -> Bindings:
    bindings = open_bindings(place, create=True)
    for name in (NAME, OTHER, "ark:12345/f4a"):
        bindings.bind(name, "https://example.org/a")
    bindings.prefixes.set("12345/m1", who="Map room")
    bindings.prefixes.set("12345/f4", who="Film archive")
    accounts = people(bindings)
    accounts.add("ada", "administrator", [])
    accounts.add("jane", "curator", ["12345/x5", "12345/c9"])
    accounts.add("joe", "curator", ["12345/x5"])
    accounts.tokens.create("jane", "script")
    return bindings


def answers(bindings: Bindings) -> list[object]:
    """Return what is closed: the answers of names, what is minted, and what the accounts can do."""
    leads = [(each.status, each.target) for name in (NAME, OTHER) for each in [resolve(bindings, name)]]
    minting = [
        PrefixRecords(bindings.prefixes.list()).is_minted_here(f"ark:12345/{each}z") for each in ("m1", "f4", "n7")
    ]
    known = people(bindings)
    rights = [(each.role, bool(each.disabled), sorted(each.prefixes)) for each in known.list()]
    return [leads, minting, rights, [bool(each.revoked) for each in known.tokens.list("jane")]]


@pytest.mark.parametrize(
    ("kind", "narrow"),
    [
        *(
            pytest.param(
                kind,
                each,
                id=f"{kind}-{each.__name__}",
                # Each restriction comes from a store, and each kind of source gives one, in a usual run.
                marks=[] if kind == "store" or each in OF_NAMES[:2] else pytest.mark.long,
            )
            for each in OF_NAMES
            for kind in ("store", "csv", "history")
        ),
        *(pytest.param("store", each, id=f"store-{each.__name__}") for each in OF_PEOPLE),
    ],
)
def test_a_restriction_outlives_a_restore(kind: str, narrow: Callable[[Bindings], None], tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
        narrow(bindings)
        expected = answers(bindings)
    source = sources(newer, kind)
    with open_bindings(old) as restored:
        assert answers(restored) != expected
    planned = ararat("recover", "--database", old, "--from", source, "--dry-run")
    assert "carried over" in planned.stdout
    with open_bindings(old) as restored:
        assert answers(restored) != expected
    done = ararat("recover", "--database", old, "--from", source, "--actor", "operator")
    assert done.exit_code == 0, done.output
    assert "1 restriction" in done.stdout
    with open_bindings(old) as restored:
        assert answers(restored) == expected
        assert [*verify(restored)] == []
    again = ararat("recover", "--database", old, "--from", source)
    assert (again.exit_code, "carried over" in again.stdout) == (0, False)
    assert ararat("verify", "--database", old, "--against", source).exit_code == 0


def test_a_hidden_name_stays_hidden(tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        bindings.reserve("ark:12345/c9h")
        bindings.bind("ark:12345/c9h", "https://example.org/h")
        back_up(newer, old)
        undo_change(bindings, "ark:12345/c9h")
    assert ararat("recover", "--database", old, "--from", newer).exit_code == 0
    with open_bindings(old) as restored:
        assert resolve(restored, "ark:12345/c9h").status == 410


def test_changes_that_open_are_only_listed(tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
        bindings.relocate(NAME, "https://example.org/new")
        bindings.rules.set("12345/r1", "https://example.org/${value}")
        people(bindings).add("new", "curator", ["12345/x5"])
    done = ararat("recover", "--database", old, "--from", newer)
    assert done.exit_code == 1
    assert {line.split()[1] for line in done.stdout.splitlines() if line.startswith(("older", "lost"))} == {
        *(NAME, "ark:12345/r1", "new")
    }
    assert "3 still different." in done.stdout


def test_a_log_withdraws_and_hides(tmp_path: Path) -> None:
    newer, old, log, key = (tmp_path / each for each in ("newer.sqlite", "restored.sqlite", "log", "log.key"))
    with with_partners(newer) as bindings:
        bindings.bind("ark:12345/c9h", "https://example.org/h")
        back_up(newer, old)
        withdrawn(bindings)
    of_log = ("--dir", log, "--key", key)
    assert ararat("log", "init", "--database", newer, *of_log, "--origin", "example.org/log").exit_code == 0
    assert ararat("log", "publish", "--database", newer, *of_log).exit_code == 0
    done = ararat("recover", "--database", old, "--from", log)
    assert (done.exit_code, "does not know" in done.stdout) == (0, True), done.output
    with open_bindings(old) as restored:
        assert resolve(restored, NAME).status == 410
