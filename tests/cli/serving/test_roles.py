"""The names role and the desk role of `ararat serve` and of the ready applications."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.names.branding.model import Branding
from ararat.cli.doctor import stores
from ararat.cli.main import main
from ararat.cli.serving import environment
from ararat.cli.serving.environment import InvalidEnvironment
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.asgi_client import Client as AsgiClient
from tests.waiting import until

PREFIX = "https://ids.example"
ROLE = """
DROP ROLE IF EXISTS names_reader;
CREATE ROLE names_reader LOGIN;
GRANT USAGE ON SCHEMA public TO names_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO names_reader;
REVOKE SELECT ON accounts, grants, identities, tokens, sessions, sign_ins, audit, idempotency, jobs FROM names_reader;
"""
NAME = "ark:12345/x5a"

# Each public answer: a path, its status, and a part of its body or of its Location.
ANSWERS = {
    "redirect": (f"/{NAME}", 302, "https://example.org/a"),
    "description": (f"/{NAME}?info", 200, "Maps of Ararat"),
    "brief": (f"/{NAME}?", 200, "Maps of Ararat"),
    "??": (f"/{NAME}??", 200, "Maps of Ararat"),
    **{
        f"as {form}": (f"/{NAME}?info&format={form}", 200, "Maps of Ararat")
        for form in ("json", "erc", "jsonld", "csl", "bibtex")
    },
    "as linkset": (f"/{NAME}?info&format=linkset", 200, "x5a"),
    "statement": (f"/{NAME}?info", 200, "We keep names."),
    "branding": (f"/{NAME}?info", 200, "The Library"),
    "prefix": ("/ark:12345/x5", 200, "We keep names."),
    "prefix of URNs": ("/urn:nbn:se:uu:", 200, "Theses"),
    "rule": ("/urn:nbn:se:uu:diva-7", 302, "https://example.org/diva-7"),
    "withdrawn": ("/ark:12345/x5gone", 410, "lost"),
    "reserved": ("/ark:12345/x5kept", 404, ""),
    "unknown": ("/ark:12345/x5none", 404, ""),
    "not a name": ("/ark:", 400, ""),
    "well-known": ("/.well-known/ark", 200, ""),
    "sitemap": ("/sitemap.xml", 200, "sitemapindex"),
    "feed": ("/feed", 200, "x5a"),
    "OAI-PMH": ("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc", 200, "x5a"),
    "metrics": ("/metrics", 200, "ararat_"),
    "health": ("/healthz", 200, '"status": "ok"'),
    "desk": ("/desk", 404, "only for names"),
    "API": ("/api/v1/names", 404, "only for names"),
    "sign-in": ("/sign-in", 404, "only for names"),
    "inspector": ("/", 404, "only for names"),
    "no path": ("*", 400, "not a path"),
    "a name without a slash": (NAME, 400, "not a path"),
}


def fill(bindings: Bindings) -> None:
    bindings.bind(NAME, "https://example.org/a", metadata={"what": "Maps of Ararat", "who": "Noah", "when": "2026"})
    bindings.reserve("ark:12345/x5kept")
    bindings.bind("ark:12345/x5gone", "https://example.org/b")
    bindings.withdraw("ark:12345/x5gone", reason="lost")
    bindings.prefixes.set("ark:12345/x5", what="Maps", statement="We keep names.")
    bindings.prefixes.set("urn:nbn:se:uu:", what="Theses")
    bindings.rules.set("urn:nbn:se:uu:", "https://example.org/${suffix}")
    bindings.branding.set(Branding(institution="The Library"))
    Accounts(bindings).add("ada", "administrator")


def grant(url: str) -> None:
    """Let the role names_reader read everything but the tables of accounts, as docs/high-availability.md says."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ROLE)


def load(patch: pytest.MonkeyPatch, kind: str = "wsgi", **variables: str) -> Any:
    """Return a ready application with these ARARAT_* variables."""
    for name, value in {"PREFIX": PREFIX, **variables}.items():
        patch.setenv(f"ARARAT_{name}", value)
    return environment.wsgi_application() if kind == "wsgi" else environment.asgi_application()


TOKEN = "a-token-of-the-metrics-with-32-characters"


def feeds(folder: Path) -> dict[str, str]:
    """Return the variables of the feeds and of the metrics, whose token is in a folder."""
    token = folder / "metrics-token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    paths = {"SITEMAP": "/sitemap.xml", "ATOM": "/feed", "OAI": "/oai", "METRICS": "/metrics"}
    return paths | {"METRICS_TOKEN_FILE": str(token)}


def wrong_answers(client: Client) -> list[str]:
    """Return the public answers that are not as expected, with their titles."""
    wrong = []
    for title, (path, status, part) in ANSWERS.items():
        # A client of a test adds a slash, which not every server does.
        environ = {} if path.startswith("/") else {"PATH_INFO": path}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = client.get(path, base_url=PREFIX, headers=headers, environ_overrides=environ)
        text = f"{answer.location or ''} {answer.text}"
        if answer.status_code != status or part not in text:
            wrong.append(f"{title}: {answer.status_code} {text[:80]}")
    return wrong


@pytest.fixture(scope="module")
def only_select(cluster: Any) -> Iterator[str]:
    """The URL of a database with names, for a role that can only read them."""
    url = cluster.new_database()
    with open_bindings(url, create=True) as bindings:
        fill(bindings)
    grant(url)
    yield url.replace("//ararat@", "//names_reader@")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY names_reader; DROP ROLE names_reader")


def test_the_names_role_answers_readers_with_select_only(
    only_select: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Settings of the desk can be in the same file of variables. They have no effect.
    shared = {"EZID": "/ezid", "REMOTE_USER": "X-User", "CREATE": "1"}
    client = Client(load(monkeypatch, DATABASE=only_select, ONLY="names", **feeds(tmp_path), **shared))
    assert wrong_answers(client) == []
    assert client.head("/healthz").data == b""
    assert client.post("/api/v1/names", json={}).status_code == 404


def test_the_asgi_application_is_the_names_role(only_select: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = load(monkeypatch, "asgi", DATABASE=only_select, ONLY="names")
    assert AsgiClient(app).request(f"/{NAME}").status == 302
    assert [AsgiClient(app).request(target).status for target in ("*", NAME, "healthz")] == [400] * 3
    monkeypatch.setenv("ARARAT_ONLY", "desk")
    with pytest.raises(InvalidEnvironment, match=r"use ararat\.wsgi for the desk"):
        environment.asgi_application()


def test_the_desk_role_answers_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "bindings.sqlite")
    with open_bindings(file, create=True) as bindings:
        fill(bindings)
        secret = Accounts(bindings).tokens.create("ada", "test")[1]
    client = Client(load(monkeypatch, DATABASE=file, ONLY="desk", EZID="/ezid", TRUSTED_HOST="desk.example"))
    for path in (f"/{NAME}", f"/{NAME}?info", "/ARK:12345/x5a", "/urn:nbn:se:uu:diva-7"):
        answer = client.get(path)
        assert (answer.status_code, f"answered at {PREFIX}" in answer.text) == (404, True)
    for path in ("/sitemap.xml", "/metrics", "/.well-known/ark"):
        assert client.get(path).status_code == 404
    headers = {"Authorization": f"Bearer {secret}"}
    for path in ("/healthz", "/desk", "/api/v1/names", f"/api/v1/names/{NAME}", "/ezid/status"):
        assert client.get(path, headers=headers).status_code == 200
    # Minting stops with the desk, and resolving does not.
    minted = client.post("/api/v1/names", json={"names": [{"shoulder": "ark:12345/x5"}]}, headers=headers)
    assert minted.status_code == 201


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--only", "names", "--rounds", "7"), "--only names writes nothing"),
        (("--only", "readers"), "'readers' is not one of 'names', 'desk'"),
    ],
)
def test_serve_refuses_what_a_role_cannot_do(arguments: tuple[str, ...], text: str) -> None:
    result = CliRunner().invoke(main, ["serve", *arguments])
    assert (result.exit_code, text in " ".join(result.output.split())) == (64, True), result.output


def test_doctor_knows_the_names_role(only_select: str) -> None:
    reading = [(found.code, found.state) for found in stores.examine(only_select, only="names")]
    assert reading == [("not-writable", "ok")]
    writing = only_select.replace("//names_reader@", "//ararat@")
    assert [(found.code, found.state) for found in stores.examine(writing, only="names")] == [
        ("names-can-write", "warning")
    ]
    assert [found.code for found in stores.examine(only_select, only="desk")] == ["not-writable"]
    assert next(iter(stores.examine(only_select, only="desk"))).state == "error"


@pytest.mark.long
def test_the_names_role_answers_on_a_hot_standby(
    replicated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, standby = replicated
    url = f"postgresql://ararat@127.0.0.1:{primary.port}/postgres"
    with open_bindings(url, create=True) as bindings:
        fill(bindings)
    grant(url)
    reading = f"postgresql://names_reader@127.0.0.1:{standby.port}/postgres"
    until(lambda: number_of_names(reading) == 3)
    client = Client(load(monkeypatch, DATABASE=reading, ONLY="names", **feeds(tmp_path)))
    assert wrong_answers(client) == []
    # Readers need no primary, so minting can stop without resolving.
    primary.halt()
    assert wrong_answers(client) == []


def number_of_names(url: str) -> int | None:
    """Return the number of names at a server, or None if it cannot be asked yet."""
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT count(*) FROM bindings").fetchone()
    except psycopg.Error:
        return None
    return row[0] if row else None
