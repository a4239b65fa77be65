"""The ready applications: they read the variables of `ararat serve`, and give the same answers."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.system.thread_slots import slots
from ararat.cli.serving import environment
from ararat.cli.serving.environment import InvalidEnvironment
from ararat.middleware import Bindings, open_bindings
from ararat.webapp.accounts.store import Accounts

from ...asgi_client import Client as AsgiClient
from ...asgi_client import run

Load = Callable[..., Any]
PASSWORD = "correct horse battery staple 77"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/x")
        bindings.bind("ark:67890/x", "https://example.org/other")
    return path


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, names: Path) -> Iterator[Load]:
    """load(module, **variables) imports `ararat.wsgi` or `ararat.asgi` with ARARAT_* variables."""
    opened: list[Bindings] = []
    original = environment._open_bindings

    def recorded(options: Any) -> Any:
        found = original(options)
        opened.append(found[0])
        return found

    def import_with(module: str, **variables: str | None) -> Any:
        for name in [name for name in os.environ if name.startswith("ARARAT_")]:
            monkeypatch.delenv(name)
        usual = {"DATABASE": str(names), "PREFIX": "https://r.example"}
        for name, value in (usual | variables).items():
            if value is not None:
                monkeypatch.setenv(f"ARARAT_{name}", value)
        monkeypatch.delitem(sys.modules, f"ararat.{module}", raising=False)
        return importlib.import_module(f"ararat.{module}").application

    monkeypatch.setattr(environment, "_open_bindings", recorded)
    yield import_with
    environment._open.close()
    for bindings in opened:
        bindings.close()
    for module in ("wsgi", "asgi"):
        sys.modules.pop(f"ararat.{module}", None)


@pytest.mark.parametrize("module", ["wsgi", "asgi"])
@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"DATABASE": "postgres//user:secret@host/db"}, id="the database"),
        pytest.param({"DATABASE": None, "BINDINGS": "postgres//user:secret@host/db"}, id="the table"),
        pytest.param({"STATISTICS": "postgres//user:secret@host/db"}, id="the statistics"),
    ],
)
def test_a_mistyped_url_is_refused_without_its_password(
    module: str, variables: dict[str, str | None], load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Exception, match="may contain a password") as refused:
        load(module, **variables)
    assert "secret" not in "".join(traceback.format_exception(refused.value)) + caplog.text


def test_the_wsgi_application_is_the_resolver_and_the_inspector(load: Load) -> None:
    client = Client(load("wsgi", TRUSTED_HOST="inner.example", CACHE="60", NAANS="12345 54321"))
    answer = client.get("/ark:/12345/x")
    assert (answer.location, answer.headers["Cache-Control"].split(",")[0]) == ("https://example.org/x", "max-age=60")
    assert client.get("/ark:67890/y", headers={"Accept": "text/plain"}).status_code == 404
    assert client.get("/healthz").status_code == 200
    assert "<title>Ararat</title>" in client.get("/", base_url="https://r.example").text
    assert client.get("/", base_url="https://inner.example").status_code == 200
    assert client.get("/", base_url="https://evil.example").status_code == 400


def test_the_limits_of_work_that_waits_follow_the_given_number_of_threads(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_given", None)
    load("wsgi", THREADS="12")
    assert (slots.number, slots.limit("traces")) == (12, 3)


def test_the_asgi_application_is_the_resolver(load: Load, names: Path) -> None:
    log = names.with_name("access.log")
    client = AsgiClient(
        load("asgi", CACHE="60", ACCESS_LOG=str(log), CORS="none", SITEMAP="/names.xml", INSPECTOR="none")
    )
    answer = client.request("/ark:/12345/x")
    assert (answer.status, answer.header("location")) == (302, "https://example.org/x")
    assert (answer.header("access-control-allow-origin"), "max-age=60" in str(answer.header("cache-control"))) == (
        None,
        True,
    )
    assert client.request("/names.xml").status == 200
    for path in ("/", "/healthz/", "/inspect"):
        assert client.request(path).status == 404
    assert client.request("/", "HEAD").body == b""
    assert json.loads(log.read_text("ascii"))["identifier"] == "ark:12345/x"


def test_the_desk_on_its_own_host_accepts_a_sign_in_behind_a_proxy(load: Load, names: Path) -> None:
    with open_bindings(names) as bindings:
        Accounts(bindings).add("jane", "curator", ["12345"], PASSWORD)
    client = Client(load("wsgi", INSPECTOR="https://names.example", TRUSTED_PROXIES="1"))
    # The proxy receives https, and itself sends requests over http.
    request: dict[str, Any] = {
        "base_url": "http://names.example",
        "headers": {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "Origin": "https://names.example"},
    }
    page = client.get("/sign-in?next=/desk/", **request).text
    # The form of the languages at the end of the page has another "next".
    form = dict(reversed(re.findall(r'name="(csrf_token|next)" value="([^"]*)"', page)))
    answer = client.post("/sign-in", data=form | {"name": "jane", "password": PASSWORD}, **request)
    assert (answer.status_code, answer.location) == (303, "/desk/")
    assert any(cookie.startswith("__Host-ararat=") for cookie in answer.headers.getlist("Set-Cookie"))
    assert client.get("/desk/", **request).status_code == 200


def test_healthz_is_the_same_in_both_applications(load: Load, names: Path) -> None:
    health = {"status": "ok", "bindings": "readable", "names": 2, "names_exact": True}
    answer = AsgiClient(load("asgi")).request("/healthz")
    assert (answer.status, json.loads(answer.body), answer.header("cache-control")) == (200, health, "no-store")
    assert (answer.header("content-type"), answer.header("content-length")) == (
        "application/json",
        str(len(answer.body)),
    )
    assert Client(load("wsgi")).get("/healthz").json == health
    unreadable = {"status": "failing", "bindings": "unreadable"}
    missing = str(names.with_name("missing.sqlite"))
    answer = AsgiClient(load("asgi", DATABASE=missing)).request("/healthz")
    assert (answer.status, json.loads(answer.body)) == (503, unreadable)
    other = Client(load("wsgi", DATABASE=missing)).get("/healthz")
    # Only the inspector has the page that explains the state.
    assert other.status_code == 503
    assert {name: value for name, value in (other.json or {}).items() if name != "documentation"} == unreadable


def test_the_applications_publish_metrics_and_count_traces(load: Load, names: Path) -> None:
    token = names.with_name("token")
    token.write_text("a-token-of-the-tests", "utf-8")
    authorized = {"Authorization": "Bearer a-token-of-the-tests"}
    variables = {"METRICS": "/metrics", "METRICS_TOKEN_FILE": str(token)}
    client = Client(load("wsgi", TRACE_ELSEWHERE="no", **variables))

    def sample(name: str) -> float:
        text = client.get("/metrics", headers=authorized).text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))

    traces, resolutions = 'ararat_traces_total{outcome="failure"}', 'ararat_resolutions_total{outcome="located"'
    before = sample(traces), sample(resolutions)
    assert client.get("/ark:12345/x").status_code == 302
    assert "not-asked" in client.get("/api/trace?q=ark:12345/x", base_url="https://r.example").text
    # The first hop of the trace is a resolution, too.
    assert (sample(traces) - before[0], sample(resolutions) - before[1]) == (1, 2)
    assert client.get("/metrics").status_code == 401
    answer = AsgiClient(load("asgi", **variables)).request("/metrics", headers=authorized.items())
    assert "ararat_resolutions_total" in answer.text
    with pytest.raises(InvalidEnvironment, match="metrics: the token is missing; set metrics_token_file"):
        load("wsgi", METRICS="/metrics")


def test_the_asgi_application_accepts_the_events_of_a_server(load: Load) -> None:
    application, sent = load("asgi"), []
    incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> dict[str, Any]:
        return incoming.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"])

    run(application({"type": "lifespan"}, receive, send))
    run(application({"type": "websocket", "path": "/ark:12345/x"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]


@pytest.mark.one_setup
@pytest.mark.parametrize("module", ["wsgi", "asgi"])
@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"DATABASE": None}, "ARARAT_DATABASE is missing"),
        ({"PREFIX": None}, "ARARAT_PREFIX is missing"),
        ({"BINDINGS": "names.csv"}, "ARARAT_DATABASE and ARARAT_BINDINGS exclude each other"),
        ({"ROUNDS": "7"}, "ARARAT_ROUNDS is only for `ararat serve`"),
        ({"CACHE": "long"}, r"ARARAT_CACHE.*'long' is not a valid whole number"),
        ({"CACHE": "-1"}, "cache: -1 is out of range"),
        ({"PREFIX": "ftp://x"}, "prefix"),
        ({"DATABASE": "mysql://x"}, "mysql"),
        ({"ACCESS_LOG": "/no/such/folder/log"}, "cannot write /no/such/folder/log"),
    ],
)
def test_a_missing_or_wrong_variable_is_named(load: Load, module: str, variables: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidEnvironment, match=message):
        load(module, **variables)


@pytest.mark.parametrize("module", ["wsgi", "asgi"])
def test_a_database_that_cannot_be_opened_stops_no_worker(load: Load, module: str, caplog: Any) -> None:
    application = load(module, DATABASE="/no/such/folder/names.sqlite")
    assert "/no/such/folder/names.sqlite" in caplog.text
    if module == "wsgi":
        assert Client(application).get("/ark:12345/x").status_code == 503
    else:
        assert AsgiClient(application).request("/ark:12345/x").status == 503


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "ready", "workers"),
    [
        (
            ["gunicorn", "--bind", "127.0.0.1:0", "--workers", "2", "--threads", "8", "ararat.wsgi"],
            "Booting worker",
            2,
        ),
        (["gunicorn", "--bind", "127.0.0.1:0", "--preload", "ararat.wsgi"], "Booting worker", 1),
        (["uvicorn", "--port", "0", "--workers", "2", "ararat.asgi:application"], "Application startup complete", 2),
    ],
    ids=["gunicorn", "gunicorn with preload", "uvicorn"],
)
def test_servers_run_the_ready_applications(
    start_server: Callable[..., Any], names: Path, command: list[str], ready: str, workers: int
) -> None:
    variables = {"ARARAT_DATABASE": str(names), "ARARAT_PREFIX": "https://r.example"}
    server = start_server([sys.executable, "-m", *command], variables, names.parent)
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    server.wait_for(ready, times=workers)
    assert server.get("/ark:/12345/x").header("Location") == "https://example.org/x", server.log()
    server.stop()


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/base/ark:12345/x", "/ark:12345/x"], ids=["the whole path", "removed by a proxy"])
def test_both_applications_answer_below_the_path_of_the_prefix(load: Load, path: str) -> None:
    prefix = "https://r.example/base"
    assert Client(load("wsgi", PREFIX=prefix)).get(path).location == "https://example.org/x"
    assert AsgiClient(load("asgi", PREFIX=prefix)).request(path).header("location") == "https://example.org/x"
