"""Test sign-in with a password: limits, equal answers for all failures, and renewed hashes."""

from __future__ import annotations

import os
import sqlite3
import threading
from functools import partial
from statistics import median
from time import monotonic, perf_counter, sleep
from types import SimpleNamespace

import argon2
import pytest
from sqlalchemy import select

from ararat.bindings.storage.tables.account_tables import accounts as accounts_table
from ararat.bindings.storage.tables.account_tables import sign_ins
from ararat.bindings.system.thread_slots import slots
from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.records import attempts
from ararat.webapp.accounts.records.attempts import TooManyAttempts
from ararat.webapp.accounts.sign_in import WrongPassword, sign_in
from tests.forking import exit_code

from .conftest import PASSWORD

HOME = "192.0.2.7"


@pytest.fixture
def low_limits(monkeypatch):
    """Lower the limits of an address and of a name: each attempt writes a row."""
    assert (attempts.OF_BOTH, attempts.OF_ADDRESS, attempts.OF_NAME) == (5, 20, 50)
    monkeypatch.setattr(attempts, "OF_ADDRESS", 8)
    monkeypatch.setattr(attempts, "OF_NAME", 12)


@pytest.fixture
def jane(accounts):
    return accounts.add("jane", "curator", password=PASSWORD)


def fail(accounts, name="jane", address=HOME, *, password="wrong horse battery"):  # noqa: S107
    with pytest.raises(WrongPassword):
        sign_in(accounts, name, password, address)


def counted(accounts):
    return accounts.run_in_transaction(lambda each: [tuple(row) for row in each.execute(select(sign_ins))])


def test_the_right_password_identifies_the_account(accounts, jane):
    assert sign_in(accounts, "Jane", PASSWORD, HOME) == jane


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["joan", "", "\0", "\ud800", "x" * 10_000, "jane\n", "jane "])
def test_a_name_without_an_account_is_a_wrong_password(accounts, jane, name):
    fail(accounts, name, password=PASSWORD)


@pytest.mark.parametrize("password", ["", "\0", "\ud800", "x" * 100_000, PASSWORD + " ", PASSWORD.upper()])
def test_another_password_is_wrong(accounts, jane, password):
    fail(accounts, password=password)


def test_disabled_accounts_and_accounts_without_password_are_wrong_passwords(accounts, jane):
    accounts.add("joan", "curator")
    fail(accounts, "joan", password=PASSWORD)
    accounts.disable("jane")
    fail(accounts, password=PASSWORD)


def test_composed_and_decomposed_letters_are_one_password(accounts):
    accounts.add("jane", "curator", password="r\u00e9sum\u00e9 of a curator")
    assert sign_in(accounts, "jane", "re\u0301sume\u0301\u00a0of a curator", HOME)


def test_the_sixth_attempt_from_one_address_has_to_wait(accounts, jane, clock):
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    clock.move(minutes=5)
    for password in ("wrong horse battery", PASSWORD):
        with pytest.raises(TooManyAttempts) as caught:
            sign_in(accounts, "jane", password, HOME)
        assert caught.value.seconds == 600
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.8") == jane
    clock.move(minutes=10)
    assert sign_in(accounts, "jane", PASSWORD, HOME) == jane


def test_a_refused_attempt_does_not_extend_the_wait(accounts, jane, clock):
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    before = counted(accounts)
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", "wrong horse battery", HOME)
    assert counted(accounts) == before


def test_unknown_names_have_the_same_limit(accounts, jane):
    for _ in range(attempts.OF_BOTH):
        fail(accounts, "nobody@example.org")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "nobody@example.org", PASSWORD, HOME)


def test_a_success_forgets_the_failures_of_this_name_and_address(accounts, jane):
    for _ in range(3):
        for _ in range(attempts.OF_BOTH - 1):
            fail(accounts)
        assert sign_in(accounts, "jane", PASSWORD, HOME)
        passwords._state.kept.clear()
    assert [row[2] for row in counted(accounts)] == [0]


@pytest.mark.usefixtures("low_limits")
def test_one_address_has_a_limit_for_all_names(accounts, jane):
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.8")


@pytest.mark.usefixtures("low_limits")
def test_all_addresses_of_an_ipv6_network_are_one(accounts, jane):
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}", f"2001:db8:1:200::{number:x}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "2001:db8:1:2ff::1")


@pytest.mark.usefixtures("low_limits")
def test_a_name_has_a_limit_for_all_addresses(accounts, jane):
    for number in range(attempts.OF_NAME):
        fail(accounts, address=f"198.51.100.{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)


def test_attempts_at_the_same_moment_cannot_pass_the_limit(accounts, jane, monkeypatch):
    checked: list[str] = []
    verify = passwords.verify
    monkeypatch.setattr(passwords, "verify", lambda stored, text: checked.append(text) or verify(stored, text))

    def attempt(number: int) -> None:
        with pytest.raises((WrongPassword, TooManyAttempts, passwords.PasswordsBusy)):
            sign_in(accounts, "jane", f"wrong horse battery {number}", HOME)

    together(*(partial(attempt, number) for number in range(12)))
    assert 1 <= len(checked) <= attempts.OF_BOTH
    assert sum(row[2] for row in written(accounts)) == attempts.OF_BOTH


def together(*functions):
    """Call functions in threads at the same time."""
    workers = [threading.Thread(target=each) for each in functions]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def written(accounts):
    """Return the rows of attempts when nothing is only in memory."""
    deadline = monotonic() + 20
    while accounts.unwritten._thread is not None:
        assert monotonic() < deadline
        sleep(0.01)
    return counted(accounts)


class SlowCheck:
    """A check of passwords that lasts until the test ends it."""

    def __init__(self, monkeypatch):
        self.verify, self.checked = passwords.verify, []
        self.began, self.may_end = threading.Event(), threading.Event()
        monkeypatch.setattr(passwords, "verify", self)

    def __call__(self, stored, text):
        self.checked.append(text)
        self.began.set()
        assert self.may_end.wait(20)
        return self.verify(stored, text)


def outcome(accounts, name, password, address, found):
    try:
        found.append(sign_in(accounts, name, password, address).name)
    except (WrongPassword, TooManyAttempts, passwords.PasswordsBusy) as error:
        found.append(type(error).__name__)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_address_has_one_check_at_a_time_and_the_other_attempt_stays_counted(accounts, jane, monkeypatch):
    slow, found = SlowCheck(monkeypatch), []
    first = threading.Thread(target=outcome, args=(accounts, "jane", "wrong horse 1", "2001:db8:1:200::1", found))
    first.start()
    assert slow.began.wait(20)
    outcome(accounts, "joan", "wrong horse 2", "2001:db8:1:2ff::2", found)
    assert found == ["PasswordsBusy"]
    slow.may_end.set()
    first.join()
    assert found == ["PasswordsBusy", "WrongPassword"]
    assert sorted(row[2] for row in written(accounts)) == [1, 1]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("threads", "limit"), [(1, 1), (8, 2), (96, 8)])
def test_a_quarter_of_the_threads_checks_passwords_and_others_are_refused_at_once(
    accounts, jane, monkeypatch, threads, limit
):
    slots.use(threads)
    slow, found = SlowCheck(monkeypatch), []
    workers = []
    for number in range(limit):
        arguments = (accounts, f"name{number}", "wrong horse", f"192.0.2.{number}", found)
        workers.append(threading.Thread(target=outcome, args=arguments))
        workers[-1].start()
    deadline = monotonic() + 20
    while len(slow.checked) < limit:
        assert monotonic() < deadline
        sleep(0.01)
    for number in range(20):
        outcome(accounts, "jane", PASSWORD, f"198.51.100.{number}", found)
    assert found == ["PasswordsBusy"] * 20
    slow.may_end.set()
    for worker in workers:
        worker.join()
    assert found[20:] == ["WrongPassword"] * limit


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("password", [PASSWORD, "wrong horse battery"], ids=["right", "wrong"])
def test_requests_with_the_same_credential_share_one_check(accounts, jane, monkeypatch, password):
    slow, found = SlowCheck(monkeypatch), []
    workers = [threading.Thread(target=outcome, args=(accounts, "jane", password, HOME, found)) for _ in range(4)]
    workers[0].start()
    assert slow.began.wait(20)
    for worker in workers[1:]:
        worker.start()
    deadline = monotonic() + 20
    while slots.in_use("sign-ins") < len(workers):
        assert monotonic() < deadline
        sleep(0.01)
    slow.may_end.set()
    for worker in workers:
        worker.join()
    assert slow.checked == [password]
    assert found == (["jane"] * 4 if password == PASSWORD else ["WrongPassword"] * 4)
    assert [row[2] for row in written(accounts)] == ([0] if password == PASSWORD else [1])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("low_limits")
def test_a_shared_check_has_the_limits_of_a_check_of_its_own(accounts, jane, monkeypatch):
    """An address that has signed in before starts the check, which others must not join to guess without a limit."""
    assert sign_in(accounts, "jane", PASSWORD, HOME) == jane
    for number in range(attempts.OF_NAME):
        fail(accounts, address=f"198.51.100.{number}")
    passwords._state.kept.clear()
    slow, found = SlowCheck(monkeypatch), []
    first = threading.Thread(target=outcome, args=(accounts, "jane", PASSWORD, HOME, found))
    first.start()
    assert slow.began.wait(20)
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "203.0.113.7")
    slow.may_end.set()
    first.join()
    assert found == ["jane"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_attempts_are_counted_while_the_database_is_locked_and_written_when_it_is_free(accounts, jane, monkeypatch):
    monkeypatch.setattr(attempts, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.05)
    lock = sqlite3.connect(accounts.bindings.location.removeprefix("sqlite:///"), isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    began = monotonic()
    for number in range(attempts.OF_BOTH):
        fail(accounts, password=f"wrong horse {number}")
    for _ in range(10):
        with pytest.raises(TooManyAttempts):
            sign_in(accounts, "jane", PASSWORD, HOME)
    assert monotonic() - began < 20  # the database would wait for 30 seconds each time
    assert counted_by(lock) == 0
    lock.execute("ROLLBACK")
    assert [row[2] for row in written(accounts)] == [attempts.OF_BOTH]
    assert counted_by(lock, "audit WHERE outcome = 'wrong-password'") == attempts.OF_BOTH
    lock.close()


def counted_by(connection, what="sign_ins"):
    return connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0]  # noqa: S608


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("low_limits")
def test_a_remembered_password_is_not_locked_by_the_failures_of_others(accounts, jane):
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.8")
    for number in range(attempts.OF_NAME):
        fail(accounts, address=f"198.51.100.{number}", password=f"wrong horse {number}")
    for address in ("192.0.2.8", "203.0.113.7"):
        assert sign_in(accounts, "jane", PASSWORD, address) == jane
    # A client cannot guess it without a limit in the meantime.
    for _ in range(attempts.OF_BOTH):
        with pytest.raises(TooManyAttempts):
            sign_in(accounts, "jane", "wrong horse", "203.0.113.9")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "203.0.113.9")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_attempt_that_is_just_written_is_counted_once(accounts, jane, monkeypatch):
    committed, may_end = threading.Event(), threading.Event()
    write = accounts.run_in_transaction

    def slow(change):
        write(change)
        committed.set()
        may_end.wait(20)

    limited = attempts.Attempts(accounts, "jane", HOME)
    for _ in range(attempts.OF_BOTH - 2):
        limited.count()
    monkeypatch.setattr(accounts, "run_in_transaction", slow)
    limited.write_later()
    assert committed.wait(20)
    # The attempts are in the database and in the memory.
    threading.Timer(0.05, may_end.set).start()
    limited.require_allowed()
    limited.count()
    limited.count()
    with pytest.raises(TooManyAttempts):
        limited.require_allowed()


@pytest.mark.usefixtures("low_limits")
def test_an_address_that_signed_in_before_is_not_locked_by_the_failures_of_others(accounts, jane, clock):
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    passwords._state.kept.clear()
    clock.move(days=29)
    # Colleagues share the address, and an attacker has many.
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}")
    for number in range(attempts.OF_NAME - 1):
        fail(accounts, address=f"198.51.100.{number}")
    assert sign_in(accounts, "jane", PASSWORD, HOME) == jane
    passwords._state.kept.clear()
    fail(accounts, address="198.51.100.99")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "203.0.113.7")
    # Own failures still count.
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("low_limits")
def test_an_address_is_known_for_thirty_days_and_for_one_account(accounts, jane, clock):
    accounts.add("joan", "curator", password=PASSWORD)
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    passwords._state.kept.clear()
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "joan", PASSWORD, HOME)
    clock.move(days=31)
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda accounts: accounts.set_password("jane", PASSWORD), id="a new password"),
        pytest.param(lambda accounts: accounts.unlock("jane"), id="unlock"),
    ],
)
def test_the_attempts_of_an_account_are_forgotten(accounts, jane, change):
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    fail(accounts, "joan")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)
    change(accounts)
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    assert sum(row[2] for row in written(accounts)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_forked_process_counts_and_writes_its_own_attempts(accounts, jane):
    fail(accounts)

    def in_child():
        fail(accounts)
        assert [row[2] for row in counted(accounts)] == [2]

    assert exit_code(in_child) == 0


def test_a_remembered_password_does_not_pass_the_limit(accounts, jane):
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.8")
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)


def test_a_remembered_password_is_wrong_after_a_change(accounts, jane):
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    accounts.set_password("jane", "another horse battery")
    fail(accounts, password=PASSWORD)
    accounts.set_password("jane", PASSWORD)
    accounts.disable("jane")
    fail(accounts, password=PASSWORD)


def test_a_remembered_password_needs_no_hash(accounts, jane, monkeypatch):
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    monkeypatch.setattr(passwords, "verify", None)
    assert sign_in(accounts, "jane", PASSWORD, HOME) == jane
    monkeypatch.setattr(passwords, "time", SimpleNamespace(monotonic=lambda: float("inf")))
    with pytest.raises(TypeError):
        sign_in(accounts, "jane", PASSWORD, HOME)


def test_a_clock_that_is_set_back_does_not_extend_the_wait(accounts, jane, clock):
    clock.move(days=365)
    for _ in range(attempts.OF_BOTH):
        fail(accounts)
    clock.move(days=-365)
    with pytest.raises(TooManyAttempts) as caught:
        sign_in(accounts, "jane", PASSWORD, HOME)
    assert caught.value.seconds == 900


def test_old_attempts_are_deleted(accounts, jane, clock):
    for number in range(10):
        fail(accounts, f"name{number}")
    clock.move(minutes=15)
    fail(accounts)
    assert len(counted(accounts)) == 1


def test_a_typed_name_is_not_stored_in_clear(accounts, jane, audit_of):
    fail(accounts, "my secret password")
    assert "secret" not in str(counted(accounts))
    assert "secret" not in str(audit_of(accounts))


def test_failures_are_in_the_audit(accounts, jane, audit_of):
    fail(accounts)
    fail(accounts, "joan")
    found = [(row["account"], row["operation"], row["outcome"], row["address"]) for row in audit_of(accounts)[1:]]
    number = jane.number
    assert found == [(number, "sign-in", "wrong-password", HOME), (None, "sign-in", "wrong-password", HOME)]


def test_a_hash_with_other_parameters_is_renewed(accounts, jane):
    old = argon2.PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    accounts.run_in_transaction(lambda each: each.execute(accounts_table.update().values(password=old)))
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    _, new = accounts.password_of("jane")
    assert new != old
    assert not passwords.needs_rehash(new)
    assert sign_in(accounts, "jane", PASSWORD, HOME)


@pytest.mark.parametrize("is_remembered", [False, True], ids=["of another process", "of this process"])
def test_two_sign_ins_at_once_renew_a_hash_once(accounts, jane, monkeypatch, is_remembered):
    old = argon2.PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    accounts.run_in_transaction(lambda each: each.execute(accounts_table.update().values(password=old)))
    hash_password, sessions = passwords.hash_password, []

    def renew(password):
        monkeypatch.setattr(passwords, "hash_password", hash_password)
        if not is_remembered:
            monkeypatch.setattr(passwords, "_state", passwords._State())
        other = sign_in(accounts, "jane", PASSWORD, HOME)
        hashed = hash_password(password)
        sessions.append(other)
        return hashed

    monkeypatch.setattr(passwords, "hash_password", renew)
    sessions.append(sign_in(accounts, "jane", PASSWORD, HOME))
    assert all(map(accounts.sessions.start, sessions))


def test_a_hash_that_another_program_wrote_is_a_wrong_password(accounts, jane):
    accounts.run_in_transaction(lambda each: each.execute(accounts_table.update().values(password="$2b$12$abc")))
    fail(accounts, password=PASSWORD)


def test_an_attempt_that_finds_the_check_busy_stays_counted(accounts, jane, monkeypatch):
    monkeypatch.setattr(passwords, "WAIT_SECONDS", 0.01)
    passwords._decoy()
    places = passwords._state.slots
    for _ in range(passwords.MAX_HASHES):
        places.acquire()
    with pytest.raises(passwords.PasswordsBusy):
        sign_in(accounts, "jane", PASSWORD, HOME)
    assert [row[2] for row in written(accounts)] == [1]


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_unknown_account_takes_the_time_of_a_known_one(accounts, jane, clock, monkeypatch):
    # With the real hash, which takes most of the time.
    real = argon2.PasswordHasher.from_parameters(argon2.profiles.RFC_9106_LOW_MEMORY)
    monkeypatch.setattr(passwords, "_HASHER", real)
    accounts.set_password("jane", PASSWORD)
    accounts.add("joan", "curator")
    times: dict[str, list[float]] = {"jane": [], "joan": [], "unknown": [], "\0": []}
    fail(accounts, "warm-up")
    for _ in range(7):
        for name, found in times.items():
            clock.move(minutes=16)
            began = perf_counter()
            fail(accounts, name)
            found.append(perf_counter() - began)
    known = median(times["jane"])
    for found in times.values():
        assert known / 1.5 < median(found) < known * 1.5
