"""The command that adds the first account, and the page that shows it."""

from __future__ import annotations

import pwd
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts import first_account
from ararat.webapp.accounts.store import Accounts


@pytest.fixture
def empty(tmp_path: Path):
    with open_bindings(tmp_path / "names.sqlite", create=True) as found:
        yield found


@pytest.mark.parametrize("path", ["/desk", "/sign-in"])
def test_without_an_account_the_page_has_the_command_that_adds_one(empty, read_page, path):
    client = create_app(empty).test_client()
    response = client.get(path)
    page = read_page(response.text)
    command = page.one("p", "secret").one("code").text
    assert (response.status_code, page.one("h1").text) == (200, "No account yet")
    assert response.headers["Cache-Control"] == "no-store"
    assert command == first_account.command(empty)
    words = shlex.split(command)
    arguments = words[words.index("account") :]
    result = CliRunner().invoke(main, arguments, input="correct horse battery staple\n")
    assert result.exit_code == 0, result.output
    added = Accounts(empty).get("ada")
    assert added is not None
    assert (added.role, added.has_password) == ("administrator", True)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("base", "fields", "address"),
    [
        pytest.param("http://ids.example.org", {}, "127.0.0.1", id="another host"),
        pytest.param("http://localhost", {"X-Forwarded-For": "203.0.113.5"}, "127.0.0.1", id="a proxy"),
        pytest.param("http://localhost", {}, "203.0.113.5", id="another machine"),
        pytest.param("http://localhost", {}, "", id="a socket without an address"),
    ],
)
def test_the_place_of_the_database_is_shown_on_its_machine_only(empty, base, fields, address):
    client = create_app(empty).test_client()
    response = client.get("/desk", base_url=base, headers=fields, environ_base={"REMOTE_ADDR": address})
    assert "--database DATABASE" in response.text
    assert "names.sqlite" not in response.text


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("postgresql://db.example.org/names", "--database DATABASE"),
        ("sqlite:////srv/a b/it's.sqlite", """--database 'sqlite:////srv/a b/it'"'"'s.sqlite'"""),
    ],
)
def test_a_place_in_the_command_can_be_run_by_a_shell(empty, monkeypatch, where, shown):
    monkeypatch.setattr(type(empty), "location", where)
    assert first_account.command(empty).endswith(shown)


@pytest.mark.parametrize(
    ("shell", "begins"), [("/usr/sbin/nologin", "runuser -u ararat -- "), ("/bin/bash", ""), ("", "")]
)
def test_the_command_runs_as_the_user_of_a_service(empty, monkeypatch, shell, begins):
    user = pwd.struct_passwd(("ararat", "x", 999, 999, "", "/var/lib/ararat", shell))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: user)
    assert first_account.command(empty).startswith(f"{begins}{first_account.program()} account add")
