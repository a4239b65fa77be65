"""Test the form of passwords, and the limit on hashes at the same time."""

from __future__ import annotations

import os
import threading
import time

import pytest

from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.model import AccountError
from tests.forking import exit_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("x1-y2-z3", "password-short", id="short"),
        pytest.param("x" * 1025, "password-long", id="long"),
        pytest.param("aaaaaaaaaaaaaaaa", "password-text", id="one character"),
        pytest.param("abcabcabcabcabc", "password-text", id="three characters"),
        pytest.param("correct horse\nbattery", "password-text", id="line break"),
        pytest.param("correct horse\x00battery", "password-text", id="NUL"),
        pytest.param("correct horse \u202ebattery", "password-text", id="hidden character"),
        pytest.param("correct horse \ud800", "password-text", id="surrogate"),
        pytest.param("ararat_correct-horse", "password-text", id="token"),
        pytest.param("Password1234!", "password-common", id="a common word and signs"),
        pytest.param("p@ssw0rd-1999", "password-common", id="signs instead of letters"),
        pytest.param("1q2w3e4r5t6y", "password-common", id="keys in a pattern"),
        pytest.param("abcd" * 256, "password-common", id="a long repetition"),
        pytest.param("jane-jane-1234", "password-common", id="the name of the account"),
        pytest.param("e\u0301" * 11, "password-short", id="short after normalization"),
    ],
)
def test_a_refused_password_is_not_in_the_message(text, code):
    with pytest.raises(AccountError) as caught:
        passwords.read_password(text, "jane")
    assert caught.value.code == code
    assert text not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["correct horse", "пароль на дванайсет", "correct horse battery staple " * 35, "     a  b  c    "]
)
def test_long_passwords_of_all_letters_are_accepted(text):
    assert passwords.verify(passwords.hash_password(passwords.read_password(text)), text)


def test_a_longer_text_is_not_cut_to_a_password():
    text = ("correct horse battery staple " * 36)[:1024]
    stored = passwords.hash_password(passwords.read_password(text))
    assert passwords.verify(stored, text)
    assert not passwords.verify(stored, text + "x")


def test_hashes_at_the_same_time_are_limited(monkeypatch):
    running, most = [0], [0]
    lock, full = threading.Lock(), threading.Event()

    class Slow:
        def hash(self, password):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
                if most[0] == passwords.MAX_HASHES:
                    full.set()
            assert full.wait(20)
            time.sleep(0.02)  # so that another thread can begin, too
            with lock:
                running[0] -= 1
            return ""

    monkeypatch.setattr(passwords, "_HASHER", Slow())
    workers = [threading.Thread(target=passwords.hash_password, args=("x",)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert most[0] == passwords.MAX_HASHES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_all_places():
    def acquire_all():
        assert all(passwords._state.slots.acquire(blocking=False) for _ in range(passwords.MAX_HASHES))

    with passwords._state.slots:
        assert exit_code(acquire_all) == 0
