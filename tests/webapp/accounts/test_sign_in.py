"""Test sign-in with a password: limits, equal answers for all failures, and renewed hashes."""

from __future__ import annotations

import threading
from statistics import median
from time import perf_counter
from types import SimpleNamespace

import argon2
import pytest
from sqlalchemy import select

from ararat.bindings.storage.tables.account_tables import accounts as accounts_table
from ararat.bindings.storage.tables.account_tables import sign_ins
from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.records import attempts
from ararat.webapp.accounts.records.attempts import TooManyAttempts
from ararat.webapp.accounts.sign_in import WrongPassword, sign_in

from .conftest import PASSWORD

HOME = "192.0.2.7"


@pytest.fixture
def jane(accounts):
    return accounts.add("jane", "curator", password=PASSWORD)


def fail(accounts, name="jane", address=HOME, *, password="wrong horse battery"):  # noqa: S107
    with pytest.raises(WrongPassword):
        sign_in(accounts, name, password, address)


def counted(accounts):
    return accounts.write(lambda each: [tuple(row) for row in each.execute(select(sign_ins))])


def test_the_right_password_identifies_the_account(accounts, jane):
    assert sign_in(accounts, "Jane", PASSWORD, HOME) == jane


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
    assert counted(accounts) == []


def test_one_address_has_a_limit_for_all_names(accounts, jane):
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.8")


def test_all_addresses_of_an_ipv6_network_are_one(accounts, jane):
    for number in range(attempts.OF_ADDRESS):
        fail(accounts, f"name{number}", f"2001:db8:1:200::{number:x}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "2001:db8:1:2ff::1")


def test_a_name_has_a_limit_for_all_addresses(accounts, jane):
    for number in range(attempts.OF_NAME):
        fail(accounts, address=f"198.51.100.{number}")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, HOME)


def test_attempts_at_the_same_moment_cannot_pass_the_limit(accounts, jane, monkeypatch):
    checked: list[str] = []
    verify = passwords.verify
    monkeypatch.setattr(passwords, "verify", lambda stored, text: checked.append(text) or verify(stored, text))

    def attempt() -> None:
        with pytest.raises((WrongPassword, TooManyAttempts)):
            sign_in(accounts, "jane", "wrong horse battery", HOME)

    workers = [threading.Thread(target=attempt) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(checked) == attempts.OF_BOTH


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
    accounts.write(lambda each: each.execute(accounts_table.update().values(password=old)))
    assert sign_in(accounts, "jane", PASSWORD, HOME)
    _, new = accounts.password_of("jane")
    assert new != old
    assert not passwords.needs_rehash(new)
    assert sign_in(accounts, "jane", PASSWORD, HOME)


@pytest.mark.parametrize("is_remembered", [False, True], ids=["of another process", "of this process"])
def test_two_sign_ins_at_once_renew_a_hash_once(accounts, jane, monkeypatch, is_remembered):
    old = argon2.PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    accounts.write(lambda each: each.execute(accounts_table.update().values(password=old)))
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
    assert all(map(accounts.start_session, sessions))


def test_a_hash_that_another_program_wrote_is_a_wrong_password(accounts, jane):
    accounts.write(lambda each: each.execute(accounts_table.update().values(password="$2b$12$abc")))
    fail(accounts, password=PASSWORD)


def test_a_busy_server_does_not_count_the_attempt(accounts, jane, monkeypatch):
    monkeypatch.setattr(passwords, "WAIT_SECONDS", 0.01)
    passwords._decoy()
    slots = passwords._state.slots
    for _ in range(passwords.MAX_HASHES):
        slots.acquire()
    with pytest.raises(passwords.Busy):
        sign_in(accounts, "jane", PASSWORD, HOME)
    assert [row[2] for row in counted(accounts)] == [0]


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
