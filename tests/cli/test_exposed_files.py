"""Warnings about files that other users can read, from each command that uses them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from ararat.cli import main
from ararat.cli.serving import environment
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs the permissions of POSIX")
WARNED = "other users can read"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.sqlite"
    open_bindings(path, create=True).close()
    return path


def ran(*arguments: str, **environ: str) -> tuple[str, str]:
    done = CliRunner().invoke(main.main, arguments, env=environ)
    return " ".join(done.stdout.split()), " ".join(done.stderr.split())


def add(names: Path, name: str, **environ: str) -> str:
    return ran("account", "add", name, "--role", "reader", "--database", str(names), **environ)[1]


def test_adding_an_account_warns_of_a_database_that_others_can_read(names: Path) -> None:
    assert add(names, "jane") == ""
    names.chmod(0o644)
    warned = add(names, "joan")
    assert f"warning: {WARNED} {names} (-rw-r--r--), which contains accounts; run: chmod o= {names}" in warned


def test_a_link_to_a_database_warns_of_its_log(names: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "current.sqlite"
    link.symlink_to(names)
    add(names, "jane")
    with open_bindings(names) as bindings:
        assert bindings.lookup("ark:12345/x") is None  # so that a reader keeps the log
        bindings.bind("ark:12345/x", "/x")
        log = names.with_name(f"{names.name}-wal")
        log.chmod(0o644)
        assert f"{WARNED} {log}" in add(link, "joan")


def test_adding_an_account_warns_of_secrets_that_others_can_read(names: Path, tmp_path: Path) -> None:
    token = tmp_path / "metrics-token"
    token.write_text("x")
    token.chmod(0o644)
    assert f"{WARNED} {token}" in add(names, "jane", ARARAT_METRICS_TOKEN_FILE=str(token))
    token.chmod(0o600)
    assert add(names, "joan", ARARAT_METRICS_TOKEN_FILE=str(token)) == ""


def findings(*arguments: str, **environ: str) -> dict[str, dict[str, str]]:
    out = CliRunner().invoke(main.main, ["doctor", "--json", *arguments], env=environ).stdout
    return {row["code"]: row for row in map(json.loads, out.splitlines())}


def test_doctor_warns_of_accounts_and_secrets_that_others_can_read(names: Path, tmp_path: Path) -> None:
    names.chmod(0o644)
    assert "readable-by-others" not in findings("--database", str(names))  # it has no accounts
    add(names, "jane")
    found = findings("--database", str(names))["readable-by-others"]
    assert (found["state"], str(names) in found["message"]) == ("warning", True)
    names.chmod(0o640)
    assert "readable-by-others" not in findings("--database", str(names))
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    found = findings("--database", str(names), ARARAT_OPENID_SECRET_FILE=str(secret))["readable-by-others"]
    assert str(secret) in found["message"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can change the owner")
def test_doctor_reports_that_the_user_of_the_service_cannot_read_the_database(names: Path, tmp_path: Path) -> None:
    assert "user-cannot-read" not in findings("--database", str(names))
    found = findings("--database", str(names), "--user", "daemon")["user-cannot-read"]
    assert (found["state"], "daemon cannot read" in found["message"]) == ("error", True)
    os.chown(tmp_path, 1, -1)
    assert "the owner of its folder" in findings("--database", str(names))["user-cannot-read"]["message"]
    assert "there is no user nosuch" in ran("doctor", "--database", str(names), "--user", "nosuch")[1]
    assert "pass --database too" in ran("doctor", "--url", "https://example.org", "--user", "daemon")[1]


def test_the_ready_application_warns(
    names: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open_bindings(names) as bindings:
        Accounts(bindings).add("jane", "reader")
    names.chmod(0o644)
    for name in [name for name in os.environ if name.startswith("ARARAT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ARARAT_DATABASE", str(names))
    monkeypatch.setenv("ARARAT_PREFIX", "https://r.example")
    bindings, _ = environment._open_bindings(environment._options())
    bindings.close()
    assert f"{WARNED} {names}" in caplog.text


def test_a_token_in_a_file_that_others_can_read_is_warned_of(
    names: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ararat.cli.accounts import tokens

    file = tmp_path / "token.txt"
    with file.open("w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        for mode, expected in ((0o644, "-rw-r--r--"), (0o600, None)):
            file.chmod(mode)
            assert tokens._rights_of_output() == expected
