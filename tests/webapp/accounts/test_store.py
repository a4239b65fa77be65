"""Test accounts, grants, tokens, sessions and identities in both kinds of databases."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy import select

from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.open import open_file
from ararat.bindings.storage.tables import account_tables
from ararat.middleware import ReadOnlyBindings
from ararat.webapp.accounts.model import AccountError, Caller, SignInOutdated
from ararat.webapp.accounts.store import Accounts

from .conftest import PASSWORD

IDENTITY = "https://idp.example", "17"


def test_accounts_exist_after_the_first_one_is_added(accounts):
    assert not accounts.exist()
    accounts.add("jane", "curator")
    assert accounts.exist()


def test_another_process_sees_the_first_account_after_a_second(accounts, monkeypatch):
    other = Accounts(accounts.bindings)
    assert not other.exist()
    accounts.add("jane", "curator")
    monkeypatch.setattr("ararat.webapp.accounts.store.time.monotonic", lambda: float("inf"))
    assert other.exist()


def test_pages_ask_a_database_that_does_not_answer_once_in_ten_seconds(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add("jane", "curator")
    now, asked = [time.monotonic() + 2], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert accounts.last_known_existence()

    def silent(*_: object, **__: object) -> None:
        asked.append(now[0])
        raise BindingsUnavailable("the server does not answer")

    monkeypatch.setattr(accounts, "read", silent)
    for _ in range(24):
        now[0] += 1
        assert accounts.last_known_existence()
    assert len(asked) == 3


@pytest.mark.both_stores
def test_an_account_is_recorded_with_its_grants(accounts, clock):
    added = accounts.add("Jane", "curator", ["12345/x-5", "ark:/12345/x5", "urn:nbn:de:"], PASSWORD)
    assert added == accounts.get("JANE") == accounts.list()[0]
    assert (added.name, added.role, added.prefixes) == ("jane", "curator", ("ark:12345/x5", "urn:nbn:de:"))
    assert (added.created, added.disabled, added.has_password) == (clock.now, None, True)
    assert accounts.get("joan") is None


@pytest.mark.both_stores
def test_an_account_cannot_be_added_twice(accounts):
    accounts.add("jane", "curator")
    with pytest.raises(AccountError, match="account-exists"):
        accounts.add("JANE", "reader")
    accounts.disable("jane")
    with pytest.raises(AccountError, match="account-exists"):
        accounts.add("jane", "reader")


@pytest.mark.both_stores
@pytest.mark.one_setup
@pytest.mark.parametrize("threads", [8])
def test_one_of_several_writers_adds_an_account(accounts, threads):
    outcomes: list[str] = []

    def add() -> None:
        try:
            outcomes.append(accounts.add("jane", "curator", ["12345/x5"]).name)
        except AccountError as error:
            outcomes.append(error.code)

    workers = [threading.Thread(target=add) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(outcomes) == ["account-exists"] * (threads - 1) + ["jane"]
    assert len(accounts.list()) == 1


def test_nothing_is_written_for_wrong_arguments(accounts):
    for arguments in (
        ("jane", "boss"),
        ("ja ne", "reader"),
        ("jane", "curator", ["https://x"]),
        ("jane", "reader", (), "short"),
    ):
        with pytest.raises(ValueError, match=r"account-|password-|rule-prefix"):
            accounts.add(*arguments)
    assert accounts.list() == []


@pytest.mark.both_stores
def test_grants_are_added_and_removed(accounts):
    accounts.add("jane", "curator")
    assert accounts.grant("jane", "12345/x5").prefixes == ("ark:12345/x5",)
    assert accounts.grant("jane", "ark:/12345/x-5").prefixes == ("ark:12345/x5",)
    assert accounts.grant("jane", "12345").prefixes == ("ark:12345/", "ark:12345/x5")
    assert accounts.revoke("jane", "12345").prefixes == ("ark:12345/x5",)
    with pytest.raises(AccountError, match="grant-unknown"):
        accounts.revoke("jane", "12345")


def test_changes_of_an_unknown_account_are_refused(accounts):
    for change in (
        lambda: accounts.grant("jane", "12345"),
        lambda: accounts.revoke("jane", "12345"),
        lambda: accounts.disable("jane"),
        lambda: accounts.enable("jane"),
        lambda: accounts.set_role("jane", "reader"),
        lambda: accounts.set_password("jane", PASSWORD),
        lambda: accounts.tokens.create("jane", "label"),
        lambda: accounts.tokens.list("jane"),
        lambda: accounts.identities.link("https://idp.example", "1", "jane"),
    ):
        with pytest.raises(AccountError, match="account-unknown"):
            change()


# Tokens ---------------------------------------------------------------------------------------------------------------


@pytest.mark.both_stores
def test_a_token_identifies_its_account_until_it_is_revoked(accounts):
    jane = accounts.add("jane", "curator", ["12345/x5"])
    token, secret = accounts.tokens.create("jane", " repository ", prefixes=["12345/x5"])
    assert accounts.tokens.caller(secret) == Caller(account=jane, token=token)
    assert (token.label, token.prefixes, token.expires) == ("repository", ("ark:12345/x5",), None)
    accounts.tokens.revoke(token.number)
    accounts.tokens.revoke(token.number)
    assert accounts.tokens.caller(secret) is None
    assert accounts.tokens.list("jane")[0].revoked is not None
    with pytest.raises(AccountError, match="token-unknown"):
        accounts.tokens.revoke(token.number + 1)


def test_grants_of_a_token_follow_those_of_its_account(accounts):
    accounts.add("jane", "curator", ["12345/x5"])
    _, secret = accounts.tokens.create("jane", "repository")
    assert accounts.tokens.caller(secret).may_change("ark:12345/x5a")
    accounts.revoke("jane", "12345/x5")
    assert not accounts.tokens.caller(secret).may_change("ark:12345/x5a")


def test_an_expired_token_is_refused(accounts, clock):
    accounts.add("jane", "curator")
    _, secret = accounts.tokens.create("jane", "repository", clock.now + timedelta(days=90))
    clock.move(days=90, microseconds=-1)
    assert accounts.tokens.caller(secret)
    clock.move(microseconds=1)
    assert accounts.tokens.caller(secret) is None
    with pytest.raises(AccountError, match="token-expires"):
        accounts.tokens.create("jane", "repository", clock.now)


def test_a_clock_that_is_set_back_does_not_revive_a_token_or_session(accounts, clock):
    jane = accounts.add("jane", "curator")
    _, secret = accounts.tokens.create("jane", "repository", clock.now + timedelta(days=1))
    session = accounts.sessions.start(jane)
    clock.move(minutes=-4)
    assert accounts.tokens.caller(secret)
    assert accounts.sessions.caller(session)
    clock.move(days=-365)
    assert accounts.tokens.caller(secret) is None
    assert accounts.sessions.caller(session) is None


def test_a_session_of_a_token_has_its_prefixes_and_ends_with_it(accounts, clock):
    jane = accounts.add("jane", "curator", ["12345/x5"])
    token, _ = accounts.tokens.create("jane", "one", clock.now + timedelta(hours=1), ["12345/x5a"])
    session = accounts.sessions.start(jane, token=token)
    found = accounts.sessions.caller(session)
    assert (found.actor, found.token.number, found.may_change("ark:12345/x5b")) == ("jane", token.number, False)
    # The number is part of the secret.
    secret, _, number = session.partition(".")
    assert [accounts.sessions.caller(other) for other in (secret, f"{secret}.", f"{session}0", number)] == [None] * 4
    assert accounts.tokens.caller_of_number(token.number) == found
    assert accounts.tokens.caller_of_number(token.number + 1) is None
    clock.move(hours=1)
    assert accounts.sessions.caller(session) is None
    assert accounts.tokens.caller_of_number(token.number) is None
    other, _ = accounts.tokens.create("jane", "two")
    session = accounts.sessions.start(jane, token=other)
    accounts.tokens.revoke(other.number)
    assert accounts.sessions.caller(session) is None


def test_a_disabled_account_has_no_valid_token_or_session(accounts):
    jane = accounts.add("jane", "curator", password=PASSWORD)
    _, secret = accounts.tokens.create("jane", "repository")
    session = accounts.sessions.start(jane)
    assert accounts.disable("jane").disabled
    assert accounts.tokens.caller(secret) is None
    assert accounts.sessions.caller(session) is None
    assert accounts.password_of("jane") == (None, None)
    assert accounts.enable("jane").disabled is None
    assert accounts.tokens.caller(secret)
    assert accounts.sessions.caller(session) is None


@pytest.mark.parametrize("secret", ["", "ararat_", "\0", "\ud800", "ararat_" + "x" * 100, "%"])
def test_other_texts_are_not_tokens(accounts, secret):
    accounts.add("jane", "curator")
    accounts.tokens.create("jane", "repository")
    assert accounts.tokens.caller(secret) is None
    assert accounts.sessions.caller(secret) is None


def test_the_use_of_a_token_is_recorded_once_a_minute(accounts, clock, monkeypatch):
    accounts.add("jane", "curator")
    token, secret = accounts.tokens.create("jane", "repository")
    assert token.last_used is None
    seconds = [1000.0]
    monkeypatch.setattr("ararat.webapp.accounts.records.tokens.time.monotonic", lambda: seconds[0])
    accounts.tokens.caller(secret)
    first = clock.now
    clock.move(seconds=30)
    seconds[0] += 30
    accounts.tokens.caller(secret)
    assert accounts.tokens.list("jane")[0].last_used == first
    clock.move(seconds=31)
    seconds[0] += 31
    accounts.tokens.caller(secret)
    assert accounts.tokens.list("jane")[0].last_used == clock.now


@pytest.mark.parametrize("label", ["", "  ", "x" * 101, "a\nb", "a\x1b[2J", "\u202e"])
def test_a_label_is_one_line_of_text(accounts, label):
    accounts.add("jane", "curator")
    with pytest.raises(AccountError, match="token-label"):
        accounts.tokens.create("jane", label)


def test_the_database_has_only_hashes_of_secrets(accounts):
    jane = accounts.add("jane", "curator", password=PASSWORD)
    _, secret = accounts.tokens.create("jane", "repository")
    session = accounts.sessions.start(jane)
    accounts.tokens.caller(secret)
    for table in account_tables.TABLES:
        rows = accounts.run_in_transaction(lambda each, table=table: each.execute(select(table)).all())
        assert not any(text in str(row) for row in rows for text in (secret, session, PASSWORD))


# Sessions -------------------------------------------------------------------------------------------------------------


def test_a_session_ends_at_sign_out_and_after_twelve_hours(accounts, clock):
    jane = accounts.add("jane", "curator")
    session, other = accounts.sessions.start(jane), accounts.sessions.start(jane)
    assert accounts.sessions.caller(session) == Caller(account=jane)
    accounts.sessions.end(session)
    accounts.sessions.end(session)
    assert accounts.sessions.caller(session) is None
    clock.move(hours=12, microseconds=-1)
    assert accounts.sessions.caller(other)
    clock.move(microseconds=1)
    assert accounts.sessions.caller(other) is None


def test_a_new_password_ends_the_sessions_of_this_account_only(accounts):
    jane, joan = accounts.add("jane", "curator"), accounts.add("joan", "curator")
    session, other = accounts.sessions.start(jane), accounts.sessions.start(joan)
    assert accounts.set_password("jane", PASSWORD).has_password
    assert accounts.sessions.caller(session) is None
    assert accounts.sessions.caller(other)
    assert not accounts.set_password("jane", None).has_password


def test_all_sessions_of_an_account_are_ended(accounts, clock, audit_of):
    jane, joan = accounts.add("jane", "curator"), accounts.add("joan", "curator")
    accounts.sessions.start(jane)
    clock.move(hours=11)
    sessions, other = [accounts.sessions.start(jane), accounts.sessions.start(jane)], accounts.sessions.start(joan)
    clock.move(hours=1)
    assert accounts.sessions.count(jane) == 2
    accounts.sessions.end(sessions[0])
    assert accounts.sessions.count(jane) == 1
    accounts.sessions.end_all("Jane", by=Caller(account=joan))
    assert accounts.sessions.caller(sessions[1]) is None
    assert (accounts.sessions.count(jane), accounts.sessions.count(joan)) == (0, 1)
    assert accounts.sessions.caller(other)
    row = audit_of(accounts)[-1]
    assert (row["account"], row["operation"], row["name"]) == (joan.number, "account.end-sessions", "jane")


def test_a_session_that_is_not_used_ends(accounts, clock, monkeypatch):
    monkeypatch.setattr("ararat.webapp.accounts.records.tokens.USE_SECONDS", 0)
    idle = timedelta(minutes=30)
    jane = accounts.add("jane", "curator")
    used, unused, other = (accounts.sessions.start(jane, idle=each) for each in (idle, idle, None))
    for _ in range(23):
        clock.move(minutes=29)
        assert accounts.sessions.caller(used, idle=idle)
        assert accounts.sessions.caller(other, idle=idle)
    assert accounts.sessions.caller(unused, idle=idle) is None
    clock.move(minutes=53)
    assert [accounts.sessions.caller(each, idle=idle) for each in (used, other)] == [None, None]


def test_a_session_ends_after_twelve_hours_also_if_it_is_used(accounts, clock, monkeypatch):
    monkeypatch.setattr("ararat.webapp.accounts.records.tokens.USE_SECONDS", 0)
    session = accounts.sessions.start(accounts.add("jane", "curator"), idle=timedelta(hours=1))
    for minutes in [59] * 12 + [11]:
        clock.move(minutes=minutes)
        assert accounts.sessions.caller(session, idle=timedelta(hours=1))
    clock.move(minutes=1)
    assert accounts.sessions.caller(session, idle=timedelta(hours=1)) is None


def test_the_use_of_a_session_is_recorded_once_a_minute_and_never_fails_a_request(accounts, clock, monkeypatch):
    session = accounts.sessions.start(accounts.add("jane", "curator"), idle=timedelta(hours=1))
    written: list[object] = []
    writes = accounts.run_in_transaction
    monkeypatch.setattr(accounts, "run_in_transaction", lambda change: (written.append(change), writes(change)))
    for seconds in (0, 50, 20, 20, 20):
        clock.move(seconds=seconds)
        assert accounts.sessions.caller(session, idle=timedelta(hours=1))
    assert len(written) == 1

    def fail(change: object) -> None:
        raise BindingsUnavailable("locked")

    accounts.tokens._uses.clear()
    clock.move(minutes=10)
    monkeypatch.setattr(accounts, "run_in_transaction", fail)
    assert accounts.sessions.caller(session, idle=timedelta(hours=1))


@pytest.mark.both_stores
def test_expired_sessions_are_deleted(accounts, clock):
    jane = accounts.add("jane", "curator")
    accounts.sessions.start(jane)
    clock.move(hours=13)
    accounts.sessions.start(jane)
    assert len(accounts.run_in_transaction(lambda each: each.execute(select(account_tables.sessions)).all())) == 1


@pytest.mark.both_stores
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda accounts: accounts.disable("jane"), id="disabled"),
        pytest.param(lambda accounts: accounts.set_password("jane", PASSWORD), id="password"),
        pytest.param(lambda accounts: accounts.identities.unlink(*IDENTITY, "jane"), id="unlinked"),
        pytest.param(
            lambda accounts: (
                accounts.identities.unlink(*IDENTITY, "jane"),
                accounts.identities.link(*IDENTITY, "joan"),
            ),
            id="linked-to-another",
        ),
    ],
)
def test_no_session_starts_if_the_account_is_changed_during_the_sign_in(accounts, change):
    accounts.add("jane", "curator")
    accounts.add("joan", "curator")
    accounts.identities.link(*IDENTITY, "jane")
    jane = accounts.identities.account(*IDENTITY)
    change(accounts)
    with pytest.raises(SignInOutdated):
        accounts.sessions.start(jane, identity=IDENTITY)
    assert accounts.sessions.count(jane) == 0


# Identities -----------------------------------------------------------------------------------------------------------


def test_a_program_has_a_token_for_each_linked_identity(accounts):
    accounts.add("adam", "administrator")
    robot = accounts.add("robot", "curator", ["12345/x5"], is_program=True)
    accounts.identities.link("https://idp.example", "17", "robot")
    caller = accounts.identities.program("https://idp.example", "17")
    assert (caller.account.name, caller.token.label) == ("robot", "17 https://idp.example")
    assert accounts.is_current(caller)
    assert accounts.current("robot", caller.token.number) is not None
    assert accounts.identities.account("https://idp.example", "17") is None
    assert accounts.identities.list(robot) == [("https://idp.example", "17")]
    for end in (
        lambda: accounts.tokens.revoke(accounts.tokens.list("robot")[-1].number),
        lambda: accounts.disable("robot"),
        lambda: accounts.set_program("robot", False),
        lambda: accounts.identities.unlink("https://idp.example", "17", "robot"),
    ):
        end()
        assert accounts.identities.program("https://idp.example", "17") is None
        assert not accounts.is_current(caller)
        accounts.enable("robot")
        accounts.set_program("robot", True)
        if accounts.identities.list(robot):
            accounts.identities.unlink("https://idp.example", "17", "robot")
        accounts.identities.link("https://idp.example", "17", "robot")
        caller = accounts.identities.program("https://idp.example", "17")
        assert caller is not None


def test_no_person_signs_in_to_the_account_of_a_program(accounts, audit_of):
    accounts.add("adam", "administrator")
    accounts.add("jane", "curator", password=PASSWORD)
    secret = accounts.make_link("jane")
    session = accounts.sessions.start(accounts.get("jane"))
    assert accounts.set_program("jane", True).is_program
    assert audit_of(accounts)[-1]["outcome"] == "program"
    assert (accounts.get("jane").has_password, accounts.of_link(secret)) == (False, None)
    assert accounts.sessions.caller(session) is None
    for refused in (
        lambda: accounts.set_password("jane", PASSWORD),
        lambda: accounts.make_link("jane"),
        lambda: accounts.add("robot", "reader", password=PASSWORD, is_program=True),
    ):
        with pytest.raises(AccountError, match="account-program"):
            refused()
    with pytest.raises(AccountError, match="account-last"):
        accounts.set_program("adam", True)
    # A program that is an administrator cannot help the last person.
    accounts.set_role("jane", "administrator")
    with pytest.raises(AccountError, match="account-last"):
        accounts.disable("adam")


def test_an_identity_is_linked_to_one_account(accounts):
    jane = accounts.add("jane", "curator")
    accounts.add("joan", "curator")
    accounts.identities.link("https://idp.example", "17", "jane")
    accounts.identities.link("https://idp.example", "17", "jane")
    assert accounts.identities.account("https://idp.example", "17") == jane
    assert accounts.identities.account("https://other.example", "17") is None
    assert accounts.identities.account("https://idp.example", "\0") is None
    assert accounts.identities.account("https://idp.example", " 17") is None
    assert accounts.identities.list(jane) == [("https://idp.example", "17")]
    with pytest.raises(AccountError, match="identity-taken"):
        accounts.identities.link("https://idp.example", "17", "joan")
    with pytest.raises(AccountError, match="identity-unknown"):
        accounts.identities.unlink("https://idp.example", "17", "joan")
    accounts.disable("jane")
    assert accounts.identities.account("https://idp.example", "17") is None
    accounts.identities.unlink("https://idp.example", "17", "jane")
    assert accounts.identities.list(jane) == []


# Administrators -------------------------------------------------------------------------------------------------------


def test_the_last_administrator_stays_unless_forced(accounts):
    accounts.add("jane", "administrator")
    accounts.add("joan", "curator")
    for change in (lambda: accounts.disable("jane"), lambda: accounts.set_role("jane", "curator")):
        with pytest.raises(AccountError, match="account-last"):
            change()
    accounts.set_role("joan", "administrator")
    assert accounts.disable("jane").disabled
    with pytest.raises(AccountError, match="account-last"):
        accounts.disable("joan")
    accounts.disable("jane")
    assert accounts.disable("joan", force=True).disabled


@pytest.mark.both_stores
def test_two_administrators_cannot_disable_each_other_at_once(accounts):
    accounts.add("jane", "administrator")
    accounts.add("joan", "administrator")
    outcomes: list[str] = []

    def disable(name: str) -> None:
        try:
            outcomes.append(accounts.disable(name).name)
        except AccountError as error:
            outcomes.append(error.code)

    workers = [threading.Thread(target=disable, args=(name,)) for name in ("jane", "joan")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert "account-last" in outcomes
    assert len([each for each in accounts.list() if each.disabled is None]) == 1


# The audit and other stores -------------------------------------------------------------------------------------------


@pytest.mark.both_stores
def test_each_change_is_in_the_audit(accounts, audit_of):
    admin = Caller(account=accounts.add("admin", "administrator"), address="192.0.2.7")
    accounts.add("jane", "curator", ["12345/x5"], PASSWORD, by=admin)
    token, _ = accounts.tokens.create("jane", "repository", by=admin)
    accounts.tokens.revoke(token.number, by=admin)
    accounts.disable("jane", by=admin)
    found = [(row["account"], row["operation"], row["name"], row["outcome"]) for row in audit_of(accounts)]
    number = admin.account.number
    assert found == [
        (None, "account.add", "admin", "administrator"),
        (number, "account.add", "jane", "curator ark:12345/x5"),
        (number, "account.token", "jane", f"token {token.number}"),
        (number, "account.revoke-token", None, f"token {token.number}"),
        (number, "account.disable", "jane", "disabled"),
    ]
    assert audit_of(accounts)[1]["address"] == "192.0.2.7"


def test_a_refused_change_writes_nothing(accounts, audit_of):
    accounts.add("jane", "administrator")
    before = audit_of(accounts)
    with pytest.raises(AccountError):
        accounts.disable("jane")
    assert audit_of(accounts) == before
    assert accounts.get("jane").disabled is None


def test_a_file_of_text_has_no_accounts(tmp_path):
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x1,https://example.org/1\n")
    with open_file(tmp_path / "names.csv") as bindings:
        accounts = Accounts(bindings)
        assert (accounts.exist(), accounts.list(), accounts.get("jane")) == (False, [], None)
        assert accounts.tokens.caller("ararat_x") is None
        with pytest.raises(ReadOnlyBindings, match="has no accounts"):
            accounts.add("jane", "reader")


def test_a_missing_database_is_reported(accounts):
    accounts.bindings.close()
    with pytest.raises(BindingsUnavailable):
        accounts.exist()
    with pytest.raises(BindingsUnavailable):
        accounts.tokens.caller("ararat_x")
