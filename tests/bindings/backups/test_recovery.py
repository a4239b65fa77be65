"""Names that a restored database lacks are protected: from a newer store, an export, a history and a log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

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
UUID = "7f1f7f1e-0000-4000-8000-000000000001"
PROVIDER = "https://idp.example"


def people(bindings: Bindings) -> Accounts:
    return Accounts(bindings)


def withdrawn(bindings: Bindings) -> None:
    bindings.withdraw(NAME, reason="taken down: privacy", successor=OTHER)


def hidden(bindings: Bindings) -> None:
    undo_change(bindings, OTHER)


def not_listed(bindings: Bindings) -> None:
    bindings.bind(NAME, "https://example.org/a", listed=False)


def on_hold(bindings: Bindings) -> None:
    hold(bindings, NAME, UNTIL, "court order 17")


def reserved_on_hold(bindings: Bindings) -> None:
    hold(bindings, RESERVED, UNTIL, "court order 19")


def withdrawn_on_hold_and_not_listed(bindings: Bindings) -> None:
    on_hold(bindings)
    not_listed(bindings)
    withdrawn(bindings)


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
    people(bindings).disable("jane")


def revoked(bindings: Bindings) -> None:
    tokens = people(bindings).tokens
    tokens.revoke(tokens.list("jane")[0].number)


def fewer_grants(bindings: Bindings) -> None:
    people(bindings).revoke("jane", "12345/c9")


def lower_role(bindings: Bindings) -> None:
    people(bindings).set_role("joe", "reader")


def another_password(bindings: Bindings) -> None:
    people(bindings).set_password("jane", "correct horse battery staple")


def unlinked(bindings: Bindings) -> None:
    people(bindings).identities.unlink(PROVIDER, "jane's subject", "jane")


class Drill(NamedTuple):
    """A narrowing change: which sources know it, and whether it is a restriction of something that the backup has."""

    narrow: Callable[[Bindings], None]
    known: Sequence[str] = ("database", "copy", "csv", "jsonl", "history")
    is_restriction: bool = True


EVERY = ("database", "copy", "csv", "jsonl", "history", "log")
PEOPLE = ("database", "copy")
SOURCES = ("database", "copy", "csv", "jsonl", "history", "log")
DRILLS = [
    *(Drill(each, EVERY) for each in (withdrawn, hidden)),
    *(Drill(each) for each in (not_listed, on_hold, reserved_on_hold, withdrawn_on_hold_and_not_listed)),
    *(Drill(each) for each in (published_later, not_published, prefix_on_hold, delegated, retired)),
    Drill(delegated_without_a_record_before),
    *(Drill(each, is_restriction=False) for each in (reserved, counted, owned)),
    *(Drill(each, PEOPLE) for each in (disabled, revoked, fewer_grants, lower_role, another_password, unlinked)),
]
LOGGED = (not_listed, on_hold)
UNKNOWN = {"log": "holds, prefixes, rules, accounts", "csv": "accounts, tokens", "jsonl": "accounts, tokens"}
UNKNOWN |= {"history": "accounts, tokens"}


def with_partners(place: str | Path) -> Bindings:
    bindings = open_bindings(place, create=True)
    for name in (NAME, "ark:12345/f4a"):
        bindings.bind(name, "https://example.org/a")
    bindings.reserve(OTHER, "https://example.org/b")
    bindings.bind(OTHER, "https://example.org/b")
    bindings.reserve(RESERVED, "https://example.org/r", embargo=UNTIL + timedelta(days=1))
    bindings.prefixes.set("12345/m1", who="Map room")
    bindings.prefixes.set("12345/f4", who="Film archive")
    accounts = people(bindings)
    accounts.add("ada", "administrator", [])
    accounts.add("jane", "curator", ["12345/x5", "12345/c9"])
    accounts.add("joe", "curator", ["12345/x5"])
    accounts.tokens.create("jane", "script")
    accounts.identities.link(PROVIDER, "jane's subject", "jane")
    return bindings


def answers(bindings: Bindings) -> list[object]:
    """Return what is closed: the answers of names, what is minted, and what the accounts can do."""
    leads = [(each.status, each.target) for name in (NAME, OTHER) for each in [resolve(bindings, name)]]
    found = [bindings.lookup(name) for name in (NAME, OTHER, RESERVED, "ark:12345/hope")]
    records = [each and (each.status, each.listed, each.embargo, each.hold_until, each.is_hidden) for each in found]
    minting = [
        PrefixRecords(bindings.prefixes.list()).is_minted_here(f"ark:12345/{each}z") for each in ("m1", "f4", "n7")
    ]
    with bindings.store.snapshot() as snapshot:
        settings = [*snapshot.settings()]
    known = people(bindings)
    rights = [(each.role, bool(each.disabled), sorted(each.prefixes)) for each in known.list()]
    jane = known.get("jane")
    assert jane
    sign_in = [known.password_of("jane")[1], [*known.identities.list(jane)]]
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


def _marks(source: str, drill: Drill) -> list[pytest.MarkDecorator]:
    """Each change with a database, and each source with a withdrawal and a hold, are in a usual run."""
    usual = source == "database" or drill.narrow in (withdrawn, on_hold)
    return [] if usual else [pytest.mark.long]


@pytest.mark.parametrize(
    ("source", "drill"),
    [
        pytest.param(source, drill, id=f"{source}-{drill.narrow.__name__}", marks=_marks(source, drill))
        for drill in DRILLS
        for source in SOURCES
        if (source, drill.narrow) != ("log", withdrawn_on_hold_and_not_listed)
    ],
)
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_narrowing_change_outlives_a_restore(
    source: str,
    drill: Drill,
    database: str,
    tmp_path: Path,
    open_store: Callable[..., Bindings],
    request: pytest.FixtureRequest,
) -> None:
    if database.startswith("postgresql"):
        old = request.getfixturevalue("cluster").new_schema()
    else:
        old = str(tmp_path / "restored.sqlite")
    with with_partners(database) as bindings:
        before = answers(bindings)
        copy_store(bindings, open_store(old))
        drill.narrow(bindings)
        after = answers(bindings)
    assert before != after
    newer, of_old = source_of(source, database, tmp_path), ("--database", old)
    if source == "log" and drill.narrow in LOGGED:
        # The log knows that the name changed, and not how. A person makes the change again.
        assert ararat("recover", *of_old, "--from", newer).exit_code == 1
        with open_bindings(old) as restored:
            drill.narrow(restored)
        assert differing("recover", *of_old, "--from", newer) == (0, [])
        return
    is_known = source in drill.known
    code, planned = differing("verify", *of_old, "--against", newer)
    assert (code, bool(planned)) == ((1, True) if is_known else (0, False)), planned
    assert differing("recover", *of_old, "--from", newer, "--dry-run") == (code, planned)
    with open_bindings(old) as restored:
        assert answers(restored) == before
    done = ararat("recover", *of_old, "--from", newer, "--actor", "operator")
    assert (done.exit_code, "Nothing that the source knows differs." in done.stdout) == (0, True), done.output
    assert ("carried over" in done.stdout) == (is_known and drill.is_restriction)
    said = [line for line in unwrapped(done.stdout).split(". ") if "The source does not know" in line]
    assert UNKNOWN.get(source, "") in "".join(said) if source in UNKNOWN else not said
    with open_bindings(old) as restored:
        assert answers(restored) == (after if is_known else before)
        assert [*verify(restored)] == []
    again = ararat("recover", *of_old, "--from", newer)
    assert (again.exit_code, "carried over" in again.stdout) == (0, False)
    assert differing("verify", *of_old, "--against", newer) == (0, [])


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
    people(bindings).set_role("joe", "administrator")


def new_token(bindings: Bindings) -> None:
    people(bindings).tokens.create("joe", "script")


def linked(bindings: Bindings) -> None:
    people(bindings).identities.link(PROVIDER, "joe's subject", "joe")


def branded(bindings: Bindings) -> None:
    bindings.branding.set(Branding(institution="Library"), actor="ada")


def redacted(bindings: Bindings) -> None:
    redact(bindings, OTHER)


@pytest.mark.parametrize(
    ("change", "of"),
    [
        *((moved, NAME), (redacted, OTHER), (ruled, "ark:12345/r1"), (described, "ark:12345/m1")),
        *((added, "new"), (granted, "joe"), (promoted, "joe"), (new_token, "joe"), (linked, "joe"), (branded, "")),
    ],
)
def test_another_change_is_listed_until_a_person_makes_it_again(
    change: Callable[[Bindings], None], of: str, tmp_path: Path
) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
        change(bindings)
    code, listed = differing("recover", "--database", old, "--from", newer)
    assert (code, [row["identifier"] for row in listed]) == (1, [of])
    assert differing("verify", "--database", old, "--against", newer) == (1, listed)
    with open_bindings(old) as restored:
        change(restored)
    assert differing("recover", "--database", old, "--from", newer) == (0, [])


@pytest.mark.parametrize("source", [each for each in SOURCES if each not in ("csv", "jsonl")])
def test_a_redaction_is_listed_by_each_source_that_knows_it(source: str, tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
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


def test_sessions_that_ended_after_the_backup_stay_ended(tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
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


def test_a_password_that_was_set_after_the_restore_stays(tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
        another_password(bindings)
    assert ararat("recover", "--database", old, "--from", newer).exit_code == 0
    with open_bindings(old) as restored:
        people(restored).set_password("jane", "a third correct horse")
        known = people(restored).password_of("jane")[1]
    assert differing("recover", "--database", old, "--from", newer) == (0, [])
    with open_bindings(old) as restored:
        assert people(restored).password_of("jane")[1] == known


def test_the_owner_of_a_uuid_is_never_replaced(tmp_path: Path) -> None:
    newer, old = tmp_path / "newer.sqlite", tmp_path / "restored.sqlite"
    with with_partners(newer) as bindings:
        back_up(newer, old)
        owned(bindings)
    with open_bindings(old) as restored:
        restored.run_in_transaction(lambda transaction: transaction.set_setting(f"uuid {UUID}", "sculpture"))
    code, listed = differing("recover", "--database", old, "--from", newer)
    assert (code, [row["code"] for row in listed]) == (1, ["diverged"])


def test_a_table_without_times_is_compared_by_its_targets(tmp_path: Path) -> None:
    old, table = tmp_path / "restored.sqlite", tmp_path / "mine.csv"
    with_partners(old).close()
    table.write_text(f"identifier,target\n{NAME},https://example.org/a\n")
    assert ararat("recover", "--database", old, "--from", table).exit_code == 0
    table.write_text(f"identifier,target\n{NAME},https://example.org/other\n")
    code, listed = differing("recover", "--database", old, "--from", table)
    assert (code, [(row["identifier"], row["code"]) for row in listed]) == (1, [(NAME, "older")])
