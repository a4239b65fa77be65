"""`ararat account`: its effects, its output, and the passwords that it reads."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import termios
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ararat.middleware import open_bindings
from ararat.webapp.accounts.records.attempts import TooManyAttempts
from ararat.webapp.accounts.sign_in import WrongPassword, sign_in
from ararat.webapp.accounts.store import Accounts
from tests.preloaded import ARARAT
from tests.wrapping import unwrapped

PASSWORD = "correct horse battery"
COMMAND = [str(ARARAT), "account", "add", "jane", "--role", "reader", "--password-stdin", "--database"]


@pytest.fixture
def run(ararat):
    assert ararat("init").exit_code == 0
    return lambda *arguments, **given: ararat("account", *arguments, **given)


@pytest.fixture
def accounts(database):
    with open_bindings(database) as bindings:
        yield Accounts(bindings)


def test_an_account_is_added_with_role_prefixes_and_password(run, accounts):
    added = run("add", "Jane", "--role", "curator", "--prefix", "12345/x-5", "--password-stdin", given=f"{PASSWORD}\n")
    assert (added.exit_code, added.stdout) == (0, "added jane  curator ark:12345/x5\n")
    assert sign_in(accounts, "jane", PASSWORD, None).prefixes == ("ark:12345/x5",)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "command", [("unlock", "jane"), ("password", "jane", "--password-stdin")], ids=lambda each: each[0]
)
def test_failed_attempts_to_sign_in_are_forgotten(run, accounts, command):
    run("add", "jane", "--role", "curator", "--password-stdin", given=PASSWORD)
    for _ in range(5):
        with pytest.raises(WrongPassword):
            sign_in(accounts, "jane", "wrong horse", "192.0.2.7")
    with pytest.raises(TooManyAttempts):
        sign_in(accounts, "jane", PASSWORD, "192.0.2.7")
    done = run(*command, given=PASSWORD)
    assert done.exit_code == 0
    assert done.stdout in ("unlocked jane  curator\n", "set the password of jane  curator\n")
    assert sign_in(accounts, "jane", PASSWORD, "192.0.2.7")
    assert run("unlock", "joan").exit_code == 1


@pytest.mark.parametrize("given", [PASSWORD, f"{PASSWORD}\n", f"{PASSWORD}\r\n"])
def test_a_line_end_is_not_part_of_the_password(run, accounts, given):
    assert run("add", "jane", "--role", "reader", "--password-stdin", given=given).exit_code == 0
    assert sign_in(accounts, "jane", PASSWORD, None)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        pytest.param("", 66, "does not contain one password", id="empty"),
        pytest.param("\n", 66, "does not contain one password", id="empty line"),
        pytest.param(f"{PASSWORD}\nmore\n", 66, "does not contain one password", id="two lines"),
        pytest.param("x" * 9000, 66, "at most 8,192 bytes", id="endless"),
        pytest.param(b"correct horse \xff battery", 66, "byte 14 of standard input is not UTF-8", id="not UTF-8"),
        pytest.param("short", 2, "use at least 12 characters", id="short"),
        pytest.param("x" * 1025, 2, "use at most 1,024 characters", id="long"),
        pytest.param("correct horse\x00battery", 2, "control character", id="control character"),
    ],
)
def test_a_wrong_password_is_refused_with_a_reason(run, accounts, given, code, words):
    refused = run("add", "jane", "--role", "reader", "--password-stdin", given=given)
    assert refused.exit_code == code
    assert words in unwrapped(refused.stderr)
    assert accounts.list() == []


def typed(fork_server, database, *answers):
    """Add an account on a terminal with the typed answers to its prompts. Return the exit code and what is shown."""
    leader, follower = pty.openpty()
    process = fork_server.start([*COMMAND, str(database)], (follower, follower, follower), Path.cwd(), os.environ)
    os.close(follower)
    shown = b""
    for prompt, answer in zip((b"Password: ", b"Repeat for confirmation: "), answers, strict=False):
        while prompt not in shown:
            shown += os.read(leader, 1000)
        os.write(leader, answer + b"\n")
    try:
        while more := os.read(leader, 1000):
            shown += more
    except OSError:
        pass  # the process has ended
    code = process.wait(30)
    os.close(leader)
    return code, shown


def test_a_password_on_a_terminal_is_not_shown(run, fork_server, database):
    code, shown = typed(fork_server, database, PASSWORD.encode(), PASSWORD.encode())
    assert code == 0
    assert PASSWORD.encode() not in shown
    assert b"added jane" in shown


def test_a_password_on_a_terminal_with_another_encoding_is_refused(run, fork_server, accounts, database):
    code, shown = typed(fork_server, database, b"correct h\xf6rse battery")
    assert code == 66
    assert b"is not UTF-8" in shown
    assert accounts.list() == []


def test_a_stop_at_the_prompt_restores_the_echo_of_the_terminal(fork_server, database, run):
    leader, follower = pty.openpty()
    process = fork_server.start([*COMMAND, str(database)], (follower, follower, follower), Path.cwd(), os.environ)
    shown = b""
    while b"Password: " not in shown:
        assert select.select([leader], [], [], 30)[0]
        shown += os.read(leader, 1000)
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM
    assert termios.tcgetattr(follower)[3] & termios.ECHO
    os.close(follower)
    os.close(leader)


def test_a_password_is_not_an_option(run):
    refused = run("add", "jane", "--role", "reader", "--password", PASSWORD)
    assert refused.exit_code == 64


def test_accounts_are_listed_as_text_and_json(run):
    run("add", "jane", "--role", "curator", "--prefix", "12345")
    run("add", "adam", "--role", "administrator", "--password-stdin", given=PASSWORD)
    run("add", "joan", "--role", "reader")
    run("disable", "joan")
    run("link", "jane", "--issuer", "https://idp.example", "--subject", "17")
    assert run("list").stdout.splitlines() == [
        "adam  administrator",
        "jane  curator ark:12345/, no password",
        "  https://idp.example 17",
        "joan  reader, disabled, no password",
    ]
    found = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [each["name"] for each in found] == ["adam", "jane", "joan"]
    assert found[1]["identities"] == [{"issuer": "https://idp.example", "subject": "17"}]
    assert (found[0]["has_password"], found[2]["disabled"] is None) == (True, False)


def test_grants_role_and_password_are_changed(run, accounts):
    run("add", "jane", "--role", "reader")
    assert run("grant", "jane", "12345/x5").stdout == "granted jane  reader ark:12345/x5\n"
    assert run("role", "jane", "curator").stdout == "changed jane  curator ark:12345/x5\n"
    assert run("revoke", "jane", "12345/x5").stdout == "revoked jane  curator\n"
    assert run("password", "jane", "--password-stdin", given=PASSWORD).stdout == "set the password of jane  curator\n"
    assert sign_in(accounts, "jane", PASSWORD, None)
    assert run("password", "jane", "--remove").stdout == "removed the password of jane  curator\n"
    assert not accounts.get("jane").has_password
    assert run("password", "jane").exit_code == run("password", "jane", "--remove", "--password-stdin").exit_code == 64
    assert run("disable", "jane").stdout == "disabled jane  curator\n"
    assert run("enable", "jane").stdout == "enabled jane  curator\n"


def test_an_identity_is_linked_and_unlinked(run, accounts):
    run("add", "jane", "--role", "reader")
    identity = ("--issuer", "https://idp.example", "--subject", "17")
    assert run("link", "jane", *identity).stdout == "linked jane  reader\n"
    assert accounts.identities.account("https://idp.example", "17").name == "jane"
    assert run("link", "jane", *identity, "--remove").stdout == "unlinked jane  reader\n"
    assert run("link", "jane", *identity, "--remove").exit_code == 1
    claim = ("--issuer", "https://idp.example", "--claim", "email", "--subject", "Jane@Uni.Example")
    assert run("link", "jane", *claim).exit_code == 0
    assert "https://idp.example#email jane@uni.example" in run("list").stdout
    assert run("link", "jane", *claim, "--remove").exit_code == 0


def test_an_account_is_marked_as_a_program(run, accounts):
    run("add", "joan", "--role", "curator", "--password-stdin", given=PASSWORD)
    assert run("program", "joan").stdout == "marked as a program: joan  curator\n"
    assert run("list").stdout == "joan  curator, program\n"
    assert json.loads(run("list", "--json").stdout)["program"] is True
    refused = run("password", "joan", "--password-stdin", given=PASSWORD)
    assert (refused.exit_code, "account-program" in refused.stderr) == (2, True)
    run("link", "joan", "--issuer", "https://idp.example", "--subject", "17")
    assert run("tokens", "joan").stdout == "1  17 https://idp.example, not used\n"
    assert run("program", "joan", "--remove").stdout == "removed the mark of joan  curator\n"
    assert "revoked" in run("tokens", "joan").stdout
    assert run("add", "bot", "--role", "reader", "--program").exit_code == 0
    assert accounts.get("bot").is_program
    assert run("add", "x", "--role", "reader", "--program", "--password-stdin", given=PASSWORD).exit_code == 2
    run("add", "adam", "--role", "administrator")
    assert run("program", "adam").exit_code == 2
    assert run("program", "adam", "--force").exit_code == 0


def test_an_issuer_that_is_not_a_url_is_refused(run):
    run("add", "jane", "--role", "reader")
    refused = run("link", "jane", "--issuer", "idp.example", "--subject", "17")
    assert (refused.exit_code, "identity-text" in refused.stderr) == (2, True)
    assert "the issuer is not a URL" in unwrapped(refused.stderr)


def test_the_last_administrator_needs_force(run):
    run("add", "adam", "--role", "administrator")
    for change in (("disable", "adam"), ("role", "adam", "reader")):
        refused = run(*change)
        assert refused.exit_code == 2
        assert "adam is the last administrator (account-last)" in unwrapped(refused.stderr)
        assert "--force" in refused.stderr
    assert run("disable", "adam", "--force").exit_code == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "command",
    [
        *(("grant", "jane", "12345"), ("revoke", "jane", "12345"), ("disable", "jane"), ("enable", "jane")),
        *(("role", "jane", "reader"), ("password", "jane", "--remove"), ("token", "jane"), ("tokens", "jane")),
        ("program", "jane"),
        *(("link", "jane", "--issuer", "https://x", "--subject", "y"), ("revoke-token", "7")),
    ],
)
def test_an_unknown_account_or_token_is_exit_code_1(run, command):
    refused = run(*command)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "there is no" in unwrapped(refused.stderr)
    assert "Fix" in refused.stderr


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["ja ne", "j\u0430ne", "", "x" * 65, "\x1b[2J", "-jane"])
def test_a_name_that_is_not_valid_is_refused(run, name):
    refused = run("add", "--role", "reader", "--", name)
    assert refused.exit_code == 2
    assert "is not a name of an account (account-name)" in unwrapped(refused.stderr)


def test_a_name_is_used_once(run):
    run("add", "jane", "--role", "reader")
    refused = run("add", "JANE", "--role", "reader")
    assert refused.exit_code == 2
    assert "there is an account jane already (account-exists)" in unwrapped(refused.stderr)


# Tokens ---------------------------------------------------------------------------------------------------------------


def test_a_token_is_printed_once(run, accounts):
    run("add", "jane", "--role", "curator", "--prefix", "12345")
    made = run("token", "jane", "--label", "repository", "--expires", "90d", "--prefix", "12345/x5")
    assert re.fullmatch("ararat_[A-Za-z0-9_-]{43}\n", made.stdout)
    assert "token 1 expires" in unwrapped(made.stderr)
    caller = accounts.tokens.caller(made.stdout.strip())
    assert (caller.actor, caller.token.prefixes) == ("jane", ("ark:12345/x5",))
    assert timedelta(days=89) < caller.token.expires - datetime.now(UTC) <= timedelta(days=90)
    listed = run("tokens", "jane").stdout
    assert listed.startswith("1  repository, for ark:12345/x5, expires ")
    assert "last used" in listed
    assert made.stdout.strip() not in listed + run("tokens", "jane", "--json").stdout + run("list", "--json").stdout
    assert run("revoke-token", "1").stdout == "revoked token 1\n"
    assert accounts.tokens.caller(made.stdout.strip()) is None
    assert "revoked 20" in run("tokens", "jane").stdout


def test_a_token_as_json(run):
    run("add", "jane", "--role", "curator")
    made = json.loads(run("token", "jane", "--json", "--expires", "never").stdout)
    assert made["token"].startswith("ararat_")
    assert (made["number"], made["expires"], made["prefixes"]) == (1, None, None)


@pytest.mark.one_setup
@pytest.mark.parametrize("expires", ["12h", "90d", "52w", "2999-01-01", "2999-01-01T12:00:00+02:00", "never"])
def test_the_expiry_is_a_period_or_a_time(run, expires):
    run("add", "jane", "--role", "curator")
    assert run("token", "jane", "--expires", expires).exit_code == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "expires",
    ["", "0d", "-1d", "90", "90m", "x", "99999999d", "٩d", "2026-13-01", "9999-12-31T23:59:59-01:00"],
)
def test_another_expiry_is_a_usage_error(run, expires):
    run("add", "jane", "--role", "curator")
    assert run("token", "jane", "--expires", expires).exit_code == 64


def test_an_expiry_in_the_past_is_refused(run):
    run("add", "jane", "--role", "curator")
    refused = run("token", "jane", "--expires", "2020-01-01")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "token-expires" in refused.stderr


# Stores ---------------------------------------------------------------------------------------------------------------


def test_a_file_of_text_has_no_accounts(ararat, tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:12345/x1,https://example.org/1\n")
    refused = ararat("account", "add", "jane", "--role", "reader", "--database", str(table))
    assert refused.exit_code == 69
    assert "has no accounts" in unwrapped(refused.stderr)
    listed = ararat("account", "list", "--database", str(table))
    assert (listed.exit_code, listed.stdout) == (0, "")


def test_a_missing_database_is_not_created(ararat, database):
    refused = ararat("account", "add", "jane", "--role", "reader")
    assert refused.exit_code == 69
    assert not database.exists()
