"""Names that a restored database lacks are protected: from a newer store, an export, a history and a log."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.backups.backup import back_up
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import copy_store
from ararat.bindings.holding import hold
from ararat.bindings.log.redaction import redact
from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.prefixes.prefixes import PrefixRecords
from ararat.bindings.operations.undo import undo_change
from ararat.bindings.publication import publish_due
from ararat.cli.main import main
from ararat.middleware import mint as mint_names
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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a restored backup, and the newer database that it replaced."""
    folder = tmp_path_factory.mktemp("restored")
    newer, old = folder / "newer.sqlite", folder / "restored.sqlite"
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
    return folder


@pytest.fixture
def restored(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Copies of both databases for a test."""
    old, newer = (Path(shutil.copy(made / name, tmp_path)) for name in ("restored.sqlite", "newer.sqlite"))
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
    (tmp_path / "link.sqlite").symlink_to(old)
    for source, code in (
        (old, 2),
        (tmp_path / "link.sqlite", 2),
        (tmp_path / "none.sqlite", 69),
        (tmp_path, 66),
        ("https://example.org/log", 64),
    ):
        assert ararat("recover", "--database", old, "--from", source).exit_code == code, source


def test_a_backup_can_have_any_name_and_a_dump_is_restored_first(restored: tuple[Path, Path], tmp_path: Path) -> None:
    old, newer = restored
    backup, dump = tmp_path / "nightly 1", tmp_path / "ararat.dump"
    assert ararat("backup", "--database", newer, backup).exit_code == 0
    dump.write_bytes(b"PGDMP\x01\x0f")
    for command in (("verify", "--against"), ("recover", "--dry-run", "--from")):
        found = ararat(*command, backup, "--database", old)
        assert (found.exit_code, "x50001" in found.stdout) == (1, True), found.output
        refused = ararat(*command, dump, "--database", old)
        assert (refused.exit_code, "pg_restore" in refused.output) == (2, True)


def test_every_store_is_protected(database: str, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    store = open_store(database)
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:12345/a,https://example.org/a\n")
    assert ararat("recover", "--database", database, "--from", table).exit_code == 1
    found = store.lookup("ark:12345/a")
    assert found is not None
    assert found.is_hidden


UNTIL = datetime.now(UTC) + timedelta(days=30)
NAME, OTHER, RESERVED = "ark:12345/c9a", "ark:12345/c9b", "ark:12345/c9r"
LISTED, HELD = "ark:12345/c9l", "ark:12345/c9h"
UUID = "7f1f7f1e-0000-4000-8000-000000000001"
PROVIDER = "https://idp.example"


def people(bindings: Bindings) -> Accounts:
    return Accounts(bindings)


def withdrawn(bindings: Bindings, name: str = NAME) -> None:
    bindings.withdraw(name, reason="taken down: privacy", successor=OTHER)


def hidden(bindings: Bindings) -> None:
    undo_change(bindings, OTHER)


def not_listed(bindings: Bindings, name: str = LISTED) -> None:
    bindings.bind(name, "https://example.org/a", listed=False)


def on_hold(bindings: Bindings) -> None:
    hold(bindings, HELD, UNTIL, "court order 17")


def reserved_on_hold(bindings: Bindings) -> None:
    hold(bindings, RESERVED, UNTIL, "court order 19")


def withdrawn_on_hold_and_not_listed(bindings: Bindings) -> None:
    on_hold(bindings)
    not_listed(bindings, HELD)
    withdrawn(bindings, HELD)


def published_later(bindings: Bindings) -> None:
    bindings.reserve(RESERVED, embargo=UNTIL + timedelta(days=900))


def not_published(bindings: Bindings) -> None:
    bindings.reserve(RESERVED, embargo="")


def prefix_on_hold(bindings: Bindings) -> None:
    hold(bindings, "12345/c9", UNTIL, "court order 18", kind="prefix")


def delegated(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/m1", state="delegated", resolver="https://other.example")


def retired(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/f4", state="retired")


def delegated_without_a_record_before(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/n7", who="A new partner", state="delegated", about="https://other.example/names")


def reserved(bindings: Bindings) -> None:
    bindings.reserve("ark:12345/hope", "https://example.org/hope", resource="hope")


def counted(bindings: Bindings) -> None:
    mint_names(bindings, "12345/x5", digits=True, length=4, sequential=True)


def owned(bindings: Bindings) -> None:
    bindings.run_in_transaction(lambda transaction: transaction.set_setting(f"uuid {UUID}", "painting"))


def disabled(bindings: Bindings) -> None:
    people(bindings).disable("lee")


def revoked(bindings: Bindings) -> None:
    tokens = people(bindings).tokens
    tokens.revoke(tokens.list("jane")[0].number)


def fewer_grants(bindings: Bindings) -> None:
    people(bindings).revoke("jane", "12345/c9")


def lower_role(bindings: Bindings) -> None:
    people(bindings).set_role("joe", "reader")


def another_password(bindings: Bindings) -> None:
    people(bindings).set_password("kim", "correct horse battery staple")


def unlinked(bindings: Bindings) -> None:
    people(bindings).identities.unlink(PROVIDER, "max's subject", "max")


class Drill(NamedTuple):
    """A narrowing change, which sources know it, and what `recover` lists: what it carries over, or only a subject."""

    narrow: Callable[[Bindings], None]
    listed: Sequence[str]
    known: Sequence[str] = ("database", "copy", "csv", "jsonl", "history")


EVERY = ("database", "copy", "csv", "jsonl", "history", "log")
PEOPLE = ("database", "copy")
SOURCES = ("database", "copy", "csv", "jsonl", "history", "log")
TOGETHER = (
    Drill(withdrawn, [f"{NAME}: withdrawn"], EVERY),
    Drill(hidden, [f"{OTHER}: hidden"], EVERY),
    Drill(published_later, [f"{RESERVED}: published later"]),
    Drill(delegated, ["ark:12345/m1: delegated"]),
    Drill(retired, ["ark:12345/f4: retired"]),
    Drill(delegated_without_a_record_before, ["ark:12345/n7: delegated"]),
    Drill(reserved, ["ark:12345/hope"]),
    Drill(counted, ["ark:12345/x5", "ark:12345/x50000"]),
    Drill(owned, [f"urn:uuid:{UUID}"]),
    Drill(revoked, ["jane: token script: revoked"], PEOPLE),
    Drill(fewer_grants, ["jane: no grant of ark:12345/c9"], PEOPLE),
    Drill(lower_role, ["joe: reader only"], PEOPLE),
    Drill(another_password, ["kim: the newer password"], PEOPLE),
    Drill(unlinked, ["max: not linked to max's subject"], PEOPLE),
    Drill(disabled, ["lee: disabled"], PEOPLE),
    Drill(prefix_on_hold, [f"ark:12345/c9: on hold until {UNTIL:%Y-%m-%d}"]),
)
"""Changes that do not affect each other, the hold of all names last."""
# A log knows that these names changed, and not how.
LOGGED = (Drill(not_listed, [f"{LISTED}: not listed"]), Drill(on_hold, [f"{HELD}: on hold"]))
ALONE = (
    Drill(reserved_on_hold, [f"{RESERVED}: on hold"]),
    Drill(not_published, [f"{RESERVED}: published later"]),
    Drill(withdrawn_on_hold_and_not_listed, [f"{HELD}: {each}" for each in ("on hold", "not listed", "withdrawn")]),
)
UNKNOWN = {"log": "holds, prefixes, rules, accounts", "csv": "accounts, tokens", "jsonl": "accounts, tokens"}
UNKNOWN |= {"history": "accounts, tokens"}


def with_partners(place: str | Path) -> Bindings:
    bindings = open_bindings(place, create=True)
    for name in (NAME, LISTED, HELD, "ark:12345/f4a"):
        bindings.bind(name, "https://example.org/a")
    bindings.reserve(OTHER, "https://example.org/b")
    bindings.bind(OTHER, "https://example.org/b")
    bindings.reserve(RESERVED, "https://example.org/r", embargo=UNTIL + timedelta(days=1))
    bindings.prefixes.set("12345/m1", who="Map room")
    bindings.prefixes.set("12345/f4", who="Film archive")
    accounts = people(bindings)
    accounts.add("ada", "administrator", [])
    accounts.add("jane", "curator", ["12345/x5", "12345/c9"])
    for name in ("joe", "kim", "lee", "max"):
        accounts.add(name, "curator", ["12345/x5"])
    accounts.tokens.create("jane", "script")
    accounts.identities.link(PROVIDER, "max's subject", "max")
    return bindings


@pytest.fixture(scope="module")
def partners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the names and accounts of partners."""
    file = tmp_path_factory.mktemp("partners") / "partners.sqlite"
    with_partners(file).close()
    return file


@pytest.fixture
def stores(partners: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A restored backup, and the database that is changed after it."""
    return tuple(Path(shutil.copy(partners, tmp_path / f"{name}.sqlite")) for name in ("restored", "newer"))  # type: ignore[return-value]  # two


def answers(bindings: Bindings) -> list[object]:
    """Return what is closed: the answers of names, what is minted, and what the accounts can do."""
    names = (NAME, OTHER, LISTED, HELD)
    leads = [(each.status, each.target) for name in names for each in [resolve(bindings, name)]]
    found = [bindings.lookup(name) for name in (*names, RESERVED, "ark:12345/hope")]
    records = [each and (each.status, each.listed, each.embargo, each.hold_until, each.is_hidden) for each in found]
    minting = [
        PrefixRecords(bindings.prefixes.list()).is_minted_here(f"ark:12345/{each}z") for each in ("m1", "f4", "n7")
    ]
    with bindings.store.snapshot() as snapshot:
        settings = [*snapshot.settings()]
    known = people(bindings)
    rights = [(each.role, bool(each.disabled), sorted(each.prefixes)) for each in known.list()]
    owner = known.get("max")
    assert owner
    sign_in = [known.password_of("kim")[1], [*known.identities.list(owner)]]
    return [
        leads,
        records,
        minting,
        settings,
        rights,
        sign_in,
        [bool(each.revoked) for each in known.tokens.list("jane")],
    ]


def published_log(newer: str | Path, tmp_path: Path) -> Path:
    log, key = tmp_path / "log", tmp_path / "log.key"
    options = ("--database", newer, "--dir", log, "--key", key)
    assert ararat("log", "init", *options, "--origin", "example.org/log").exit_code == 0
    assert ararat("log", "publish", *options).exit_code == 0
    return log


def source_of(kind: str, newer: str, tmp_path: Path) -> str | Path:
    """Return the newer data as a source of the kind, such as a table of a database."""
    if kind == "database":
        return newer
    if kind == "log":
        return published_log(newer, tmp_path)
    if kind == "copy":
        file = tmp_path / "copy.sqlite"
        if newer.startswith("postgresql"):
            assert ararat("copy", newer, file).exit_code == 0
        else:
            back_up(newer, file)
        return file
    file = tmp_path / f"export.{'jsonl' if kind == 'history' else kind}"
    assert ararat("export", "--database", newer, *(["--history"] if kind == "history" else []), file).exit_code == 0
    return file


def differing(*arguments: str | Path) -> tuple[int, list[dict[str, str]]]:
    done = ararat(*arguments, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.exit_code, [row for row in rows if "code" in row]


def _drills() -> Iterator[Any]:
    """Changes together with each source, and, in a usual run with a database only, those of one name."""
    for source in SOURCES:
        logged, alone = ([], ALONE[:2]) if source == "log" else ([*LOGGED], ALONE)
        yield pytest.param(source, [*logged, *TOGETHER], id=f"{source}-together")
        for drill in (*TOGETHER, *logged, *alone):
            marks = [] if (source, drill) in [("database", each) for each in ALONE] else [pytest.mark.long]
            yield pytest.param(source, [drill], id=f"{source}-{drill.narrow.__name__}", marks=marks)


@pytest.mark.parametrize(("source", "drills"), [*_drills()])
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_narrowing_change_outlives_a_restore(
    source: str,
    drills: list[Drill],
    database: str,
    tmp_path: Path,
    stores: tuple[Path, Path],
    open_store: Callable[..., Bindings],
    request: pytest.FixtureRequest,
) -> None:
    if database.startswith("postgresql"):
        old = request.getfixturevalue("cluster").new_schema()
        with with_partners(database) as bindings:
            copy_store(bindings, open_store(old))
    else:
        old, database = map(str, stores)
    known = [drill for drill in drills if source in drill.known]
    with open_bindings(database) as bindings:
        before = answers(bindings)
        for drill in known:
            drill.narrow(bindings)
        after = answers(bindings)
        for drill in drills:
            if drill not in known:
                drill.narrow(bindings)
        assert before != answers(bindings)
    newer, of_old = source_of(source, database, tmp_path), ("--database", old)
    listed = [each for drill in known for each in drill.listed]
    code, planned = differing("verify", *of_old, "--against", newer)
    assert code == (1 if known else 0)
    assert {row["identifier"] for row in planned} == {each.partition(": ")[0] for each in listed}
    assert differing("recover", *of_old, "--from", newer, "--dry-run") == (code, planned)
    with open_bindings(old) as restored:
        assert answers(restored) == before
    done = ararat("recover", *of_old, "--from", newer, "--actor", "operator")
    assert (done.exit_code, "Nothing that the source knows differs." in done.stdout) == (0, True), done.output
    carried = [line.removeprefix("carried over ") for line in done.stdout.splitlines() if "carried over" in line]
    assert sorted(carried) == sorted(each for each in listed if ": " in each)
    said = [line for line in unwrapped(done.stdout).split(". ") if "The source does not know" in line]
    assert UNKNOWN.get(source, "") in "".join(said) if source in UNKNOWN else not said
    with open_bindings(old) as restored:
        assert answers(restored) == after
        assert [*verify(restored)] == []
    again = ararat("recover", *of_old, "--from", newer)
    assert (again.exit_code, "carried over" in again.stdout) == (0, False)
    assert differing("verify", *of_old, "--against", newer) == (0, [])


def test_a_person_makes_a_change_again_that_a_log_knows_only_by_its_name(
    stores: tuple[Path, Path], tmp_path: Path
) -> None:
    old, newer = stores
    with open_bindings(newer) as bindings:
        for drill in LOGGED:
            drill.narrow(bindings)
    log = published_log(newer, tmp_path)
    code, listed = differing("recover", "--database", old, "--from", log)
    assert (code, {row["identifier"] for row in listed}) == (1, {LISTED, HELD})
    with open_bindings(old) as restored:
        for drill in LOGGED:
            drill.narrow(restored)
    assert differing("recover", "--database", old, "--from", log) == (0, [])


def moved(bindings: Bindings) -> None:
    bindings.relocate(NAME, "https://example.org/new")


def ruled(bindings: Bindings) -> None:
    bindings.rules.set("12345/r1", "https://example.org/${value}")


def described(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/m1", who="Map room and archive")


def added(bindings: Bindings) -> None:
    people(bindings).add("new", "curator", ["12345/x5"])


def granted(bindings: Bindings) -> None:
    people(bindings).grant("joe", "12345/c9")


def promoted(bindings: Bindings) -> None:
    people(bindings).set_role("kim", "administrator")


def new_token(bindings: Bindings) -> None:
    people(bindings).tokens.create("lee", "script")


def linked(bindings: Bindings) -> None:
    people(bindings).identities.link(PROVIDER, "ada's subject", "ada")


def branded(bindings: Bindings) -> None:
    bindings.branding.set(Branding(institution="Library"), actor="ada")


def redacted(bindings: Bindings) -> None:
    redact(bindings, OTHER)


OTHER_CHANGES = {
    moved: NAME,
    redacted: OTHER,
    ruled: "ark:12345/r1",
    described: "ark:12345/m1",
    added: "new",
    granted: "joe",
    promoted: "kim",
    new_token: "lee",
    linked: "ada",
    branded: "",
}


def test_other_changes_are_listed_until_a_person_makes_them_again(stores: tuple[Path, Path]) -> None:
    old, newer = stores
    with open_bindings(newer) as bindings:
        for change in OTHER_CHANGES:
            change(bindings)
    code, listed = differing("recover", "--database", old, "--from", newer)
    assert (code, sorted(row["identifier"] for row in listed)) == (1, sorted(OTHER_CHANGES.values()))
    assert differing("verify", "--database", old, "--against", newer) == (1, listed)
    with open_bindings(old) as restored:
        for change in OTHER_CHANGES:
            change(restored)
    assert differing("recover", "--database", old, "--from", newer) == (0, [])


@pytest.mark.parametrize("source", [each for each in SOURCES if each not in ("csv", "jsonl")])
def test_a_redaction_is_listed_by_each_source_that_knows_it(
    source: str, stores: tuple[Path, Path], tmp_path: Path
) -> None:
    old, newer = stores
    with open_bindings(newer) as bindings:
        bindings.withdraw(OTHER, reason="the name of a person")
        redact(bindings, OTHER)
    of_old, place = ("--database", old), source_of(source, str(newer), tmp_path)
    for _ in range(2):
        code, listed = differing("recover", *of_old, "--from", place)
        assert (code, [row["identifier"] for row in listed]) == (1, [OTHER])
        assert "ararat redact" in listed[0]["message"]
    assert ararat("redact", *of_old, OTHER).exit_code == 0
    assert differing("recover", *of_old, "--from", place) == (0, [])


def test_a_name_whose_embargo_has_passed_is_equal_with_and_without_its_event(tmp_path: Path) -> None:
    newer, old, past = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite", datetime.now(UTC) - timedelta(days=2)
    with open_bindings(newer, create=True, clock=lambda: past) as bindings:
        bindings.reserve(NAME, "https://example.org/a", embargo=past + timedelta(days=1))
    back_up(newer, old)
    with open_bindings(newer) as bindings:
        assert publish_due(bindings.store) == [NAME]
    for of, source in ((old, newer), (newer, old)):
        assert differing("recover", "--database", of, "--from", source) == (0, [])


def test_an_embargo_that_was_changed_after_the_backup_closes_the_name_again(tmp_path: Path) -> None:
    newer, old, past = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite", datetime.now(UTC) - timedelta(days=2)
    with open_bindings(newer, create=True, clock=lambda: past) as bindings:
        bindings.reserve(NAME, "https://example.org/a", embargo=past + timedelta(days=1))
        back_up(newer, old)
        bindings.reserve(NAME, embargo=UNTIL)
    of_old = ("--database", old)
    with open_bindings(old) as restored:
        assert resolve(restored, NAME).status == 302
    assert differing("recover", *of_old, "--from", newer)[0] == 1
    with open_bindings(old) as restored:
        assert resolve(restored, NAME).status == 410
        restored.reserve(NAME, embargo=UNTIL)
    assert differing("recover", *of_old, "--from", newer) == (0, [])


def test_the_clock_does_not_publish_a_name_that_was_withdrawn_after_the_backup(tmp_path: Path) -> None:
    newer, old, past = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite", datetime.now(UTC) - timedelta(days=2)
    with open_bindings(newer, create=True, clock=lambda: past) as bindings:
        bindings.reserve(NAME, "https://example.org/a", embargo=UNTIL)
        back_up(newer, old)
        bindings.bind(NAME, "https://example.org/a")
        withdrawn(bindings)
    assert differing("recover", "--database", old, "--from", newer)[0] == 1
    with open_bindings(old, clock=lambda: UNTIL + timedelta(days=1)) as restored:
        assert resolve(restored, NAME).status == 410


def test_sessions_that_ended_after_the_backup_stay_ended(stores: tuple[Path, Path]) -> None:
    newer, old = stores[1], stores[1].with_name("backup.sqlite")
    with open_bindings(newer) as bindings:
        known = people(bindings)
        jane = known.get("jane")
        assert jane
        ended, kept = (known.sessions.start(jane) for _ in range(2))
        back_up(newer, old)
        known.sessions.end(ended)
        known.set_role("joe", "reader")
    assert ararat("recover", "--database", old, "--from", newer).exit_code == 0
    with open_bindings(old) as restored:
        known = people(restored)
        later = known.sessions.start(jane)
        assert [known.sessions.caller(each) is not None for each in (ended, kept, later)] == [False, True, True]
    assert ararat("recover", "--database", old, "--from", newer).exit_code == 0
    with open_bindings(old) as restored:
        assert people(restored).sessions.caller(later) is not None


def test_a_password_that_was_set_after_the_restore_stays(stores: tuple[Path, Path]) -> None:
    old, newer = stores
    with open_bindings(newer) as bindings:
        another_password(bindings)
    assert ararat("recover", "--database", old, "--from", newer).exit_code == 0
    with open_bindings(old) as restored:
        people(restored).set_password("kim", "a third correct horse")
        known = people(restored).password_of("kim")[1]
    assert differing("recover", "--database", old, "--from", newer) == (0, [])
    with open_bindings(old) as restored:
        assert people(restored).password_of("kim")[1] == known


def test_the_owner_of_a_uuid_is_never_replaced(stores: tuple[Path, Path]) -> None:
    old, newer = stores
    with open_bindings(newer) as bindings:
        owned(bindings)
    with open_bindings(old) as restored:
        restored.run_in_transaction(lambda transaction: transaction.set_setting(f"uuid {UUID}", "sculpture"))
    code, listed = differing("recover", "--database", old, "--from", newer)
    assert (code, [row["code"] for row in listed]) == (1, ["diverged"])


def test_a_table_without_times_is_compared_by_its_targets(stores: tuple[Path, Path], tmp_path: Path) -> None:
    old, table = stores[0], tmp_path / "mine.csv"
    table.write_text(f"identifier,target\n{NAME},https://example.org/a\n")
    assert ararat("recover", "--database", old, "--from", table).exit_code == 0
    table.write_text(f"identifier,target\n{NAME},https://example.org/other\n")
    code, listed = differing("recover", "--database", old, "--from", table)
    assert (code, [(row["identifier"], row["code"]) for row in listed]) == (1, [(NAME, "older")])
