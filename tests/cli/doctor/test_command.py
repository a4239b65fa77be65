"""`ararat doctor` with real servers: its output, its JSON and its exit codes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.middleware import ResolverMiddleware, open_bindings
from tests.http_servers import Quiet, serving
from tests.wrapping import unwrapped


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments) runs `ararat doctor` in this process."""

    def run(*arguments: str | Path) -> Result:
        result = CliRunner().invoke(main.main, ["doctor", *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.output.replace("\n", "").isprintable()
        return result

    return run


class Handler(Quiet, WSGIRequestHandler):
    pass


@pytest.fixture
def wsgiref(tmp_path: Path) -> Iterator[str]:
    """The URL of a resolver behind wsgiref."""
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        server = make_server("127.0.0.1", 0, lambda *_: [], WSGIServer, Handler)
        address = f"http://127.0.0.1:{server.server_port}"
        server.set_app(ResolverMiddleware(lambda *_: [], bindings, prefix=address))
        with serving(server):
            yield address


def test_ararat_serve_has_no_findings(ararat: Callable[..., Result], ararat_server: Any) -> None:
    ran = ararat("--url", ararat_server.origin)
    assert ran.exit_code == 0, ran.output
    lines = ran.stdout.splitlines()
    assert lines[-1] == "No errors, 0 warnings."
    assert "ok        a bare ?        Arrives unchanged." in lines
    assert not [line for line in lines if line.startswith(("error", "warning"))]


def test_names_are_requested_and_their_hops_are_shown(ararat: Callable[..., Result], ararat_server: Any) -> None:
    ran = ararat(f"{ararat_server.origin}/ark:/12345/mp39n", "ark:12345/nothing-here", "--json")
    assert ran.exit_code == 0, ran.output
    named = [row for row in map(json.loads, ran.stdout.splitlines()) if row["code"] == "name"]
    assert [row["sent"] for row in named] == ["ark:/12345/mp39n", "ark:12345/nothing-here"]
    [hop] = named[0]["hops"]
    assert (hop["status"], hop["url"]) == (302, f"{ararat_server.origin}/ark:/12345/mp39n")
    assert "404 (not-bound), the same each time." in named[1]["message"]
    said = unwrapped(ararat(ararat_server.origin, "ark:12345/mp39n").stdout)
    assert f"GET {ararat_server.origin}/ark:12345/mp39n: 302 to " in said


def test_wsgiref_loses_the_bare_question_mark_and_the_fix_is_printed(
    ararat: Callable[..., Result], wsgiref: str
) -> None:
    ran = ararat("--url", wsgiref, "--json")
    assert ran.exit_code == 1
    found = {row["code"]: row for row in map(json.loads, ran.stdout.splitlines())}
    assert {code for code, row in found.items() if row["state"] == "error"} == {
        *("raw-target", "encoded-slash", "question-mark"),
    }
    lost = found["question-mark"]
    assert (lost["part"], lost["sent"]) == ("url", f"{lost['seen']}?")
    assert re.fullmatch("ark:99999/[0-9a-f]{8}x", lost["seen"])
    assert "gunicorn, waitress or uWSGI" in lost["remedy"]
    assert lost["reference"] == "ARK draft, section 3.4"
    assert found["hsts"].keys() == {"part", "code", "state", "message"}


def test_a_fix_is_printed_once_for_all_its_findings(ararat: Callable[..., Result], wsgiref: str) -> None:
    said = ararat("--url", wsgiref).stdout
    assert "To change, for raw target, %2F, a bare ?:\n" in said
    assert said.count("gunicorn") == 1
    assert said.splitlines()[-1] == "1 to change, 3 warnings."


def test_a_server_that_is_not_ararat_is_reported(ararat: Callable[..., Result], ararat_server: Any) -> None:
    # The demo site answers below this path. There is no resolver.
    ran = ararat("--url", f"{ararat_server.origin}/demo")
    assert ran.exit_code == 1
    assert "not by Ararat" in unwrapped(ran.stdout)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="nothing"),
        pytest.param(["--prefix", "https://example.org"], id="a prefix alone"),
        pytest.param(["--url", "ftp://example.org"], id="no web address"),
        pytest.param(["--url", "http://example.org/?q"], id="a query"),
        pytest.param(["--app", "site"], id="no name"),
        pytest.param(["--app", "../site:app"], id="a path"),
        pytest.param(["--naans", "99999"], id="NAAN 99999"),
        pytest.param(["--naans", "x y"], id="no NAAN"),
        pytest.param(["--naans", "12148", "--prefix", "x"], id="no prefix"),
        pytest.param(["--url", "http://127.0.0.1:1", "--name", "BnF"], id="a name for no NAAN"),
        pytest.param(["ark:12345/x"], id="an identifier without an address"),
        pytest.param(["https://a.example", "https://b.example"], id="two addresses"),
        pytest.param(["https://a.example", "no identifier"], id="no identifier"),
        pytest.param(["https://a.example", "--url", "https://b.example/ark:12345/x"], id="two addresses, by an option"),
    ],
)
def test_a_usage_error_ends_with_64(ararat: Callable[..., Result], arguments: list[str]) -> None:
    ran = ararat(*arguments)
    assert (ran.exit_code, ran.stdout) == (64, "")
    assert ran.stderr


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "http://127.0.0.1:1"], "no server answers at http://127.0.0.1:1: no connection"),
        (["--app", "no_such_module:app"], "no_such_module:app cannot be imported: ModuleNotFoundError"),
        (["--app", "no_such_module:app"], "Fix run the command in the folder of the application"),
        (["--app", "json:nothing"], "json:nothing cannot be imported: AttributeError"),
        (["--app", "json:__name__"], "it is not a WSGI or ASGI application but builtins.str"),
    ],
)
def test_an_unreachable_server_ends_with_69(ararat: Callable[..., Result], arguments: list[str], message: str) -> None:
    ran = ararat(*arguments)
    assert ran.exit_code == 69
    assert message in unwrapped(ran.stderr)


ASGI = """\
from ararat.middleware import ResolverMiddleware


async def site(scope, receive, send): ...


app = ResolverMiddleware(site, None)
"""


def test_an_application_that_wraps_asgi_cannot_be_imported_and_the_remedy_is_shown(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "asgi_of_doctor.py").write_text(ASGI, "utf-8")
    ran = ararat("--app", "asgi_of_doctor:app")
    assert ran.exit_code == 69
    said = " ".join(ran.stderr.split())
    assert said.endswith(
        "asgi_of_doctor.site is an ASGI application. Use ResolverASGIMiddleware with the same arguments."
    )


SITE = """\
from flask import Flask
from ararat.middleware import ResolverMiddleware, open_bindings

app = Flask(__name__)
app.add_url_rule("/about", view_func=lambda: "about")
app.wsgi_app = ResolverMiddleware(
    app.wsgi_app, open_bindings("bindings.sqlite", create=True), prefix="https://ark.bnf.fr", naans=["12148"]
)
"""


def test_the_settings_of_an_application_are_compared_with_the_registry_and_its_store_is_checked(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "site_of_doctor.py").write_text(SITE, "utf-8")
    ran = ararat("--app", "site_of_doctor:app", "--database", "bindings.sqlite", "--json")
    sys.modules.pop("site_of_doctor").app.wsgi_app.bindings.close()
    assert ran.exit_code == 0, ran.output
    rows = [(row["part"], row["code"], row["state"]) for row in map(json.loads, ran.stdout.splitlines())]
    assert rows[:3] == [("app", "resolver", "ok"), ("app", "routes", "ok"), ("app", "answered", "ok")]
    assert rows[-2:] == [("registry", "registered", "ok"), ("database", "no-names", "warning")]
    assert {state for _, _, state in rows[:-1]} == {"ok"}


def test_an_application_is_compared_with_another_database(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "other_site_of_doctor.py").write_text(SITE, "utf-8")
    with open_bindings(tmp_path / "other.sqlite", create=True) as bindings:
        bindings.bind("ark:12148/x", "https://example.org/x")
    ran = ararat("--app", "other_site_of_doctor:app", "--database", "other.sqlite", "--json")
    sys.modules.pop("other_site_of_doctor").app.wsgi_app.bindings.close()
    [found] = [row for row in map(json.loads, ran.stdout.splitlines()) if row["state"] == "error"]
    assert (ran.exit_code, found["part"], found["code"]) == (1, "app", "other-database")
    assert "ark:12148/x is answered by 404 (not-bound); the database has 302" in found["message"]
