"""The page of the metrics: its token, its formats, and its settings."""

from __future__ import annotations

import os
import platform
import signal
import sys
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from werkzeug.test import Client

from ararat import __version__
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware
from tests.asgi_client import Client as AsgiClient


def test_a_client_with_the_token_gets_the_metrics(client, authorized, read):
    answer = client.get("/metrics", headers=authorized)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert ("ararat_build_info", platform.python_version(), __version__) in read(answer.text)
    head = client.head("/metrics", headers=authorized)
    assert (head.status_code, head.data) == (200, b"")


def test_openmetrics_is_negotiated(client, authorized):
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    answer = client.get("/metrics", headers={**authorized, "Accept": accept})
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert "ararat_resolutions" in {family.name for family in text_string_to_metric_families(answer.text)}


@pytest.mark.one_setup
@pytest.mark.parametrize("accept", ["application/openmetrics-text; version=9x", "text/plain; escaping", ";;,=\u00ff"])
def test_another_accept_field_gets_the_default_format(client, authorized, accept):
    answer = client.get("/metrics", headers={**authorized, "Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"][:10]) == (200, "text/plain")


def test_the_name_of_the_scheme_has_no_case(client, authorized):
    given = authorized["Authorization"]
    for scheme in ("bearer ", "BEARER  "):
        answer = client.get("/metrics", headers={"Authorization": given.replace("Bearer ", scheme)})
        assert answer.status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer a-token-of-the-test"},
        {"Authorization": "Bearer a-token-of-the-tests!"},
        {"Authorization": "Basic a-token-of-the-tests"},
        {"Authorization": "Bearer \u00e9\u00ff"},
        {"Authorization": "Bearer " + "a" * 100_000},
        {"X-Forwarded-For": "127.0.0.1"},
    ],
)
def test_other_clients_get_no_metrics(client, given):
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        answer = client.open("/metrics", method=method, headers=given)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="metrics"'
        assert "ararat_" not in answer.text


def test_other_methods_are_refused(client, authorized):
    for method in ("POST", "DELETE", "OPTIONS"):
        answer = client.open("/metrics", method=method, headers=authorized)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/metrics/", "/metrics/x", "/Metrics", "/x/metrics"])
def test_other_paths_belong_to_the_site(client, authorized, path):
    assert client.get(path, headers=authorized).data == b"the site"


def test_without_the_setting_the_site_answers(site, names, authorized):
    assert Client(ResolverMiddleware(site, names)).get("/metrics", headers=authorized).data == b"the site"


def test_asgi_publishes_the_same_metrics(names, metrics, authorized, read):
    client = AsgiClient(ResolverASGIMiddleware(None, names, **metrics))  # pyright: ignore[reportArgumentType]
    answer = client.request("/metrics", headers=authorized.items())
    assert answer.status == 200
    assert ("ararat_build_info", platform.python_version(), __version__) in read(answer.text)
    assert client.request("/metrics").status == 401
    twice = [*authorized.items(), *authorized.items()]
    assert client.request("/metrics", headers=twice).status == 401


def test_an_error_is_logged_and_not_shown(client, authorized, monkeypatch, caplog):
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/no/such/folder")
    answer = client.get("/metrics", headers=authorized)
    assert answer.status_code == 500
    assert "/no/such/folder" in caplog.text
    assert "/no/such/folder" not in answer.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "metrics_token_file: cannot read '.*/token': No such file"),
        ("", "does not contain a token; write one line of 16 to 1,000 letters"),
        ("fifteen-letters", "does not contain a token"),
        ("a token of the tests", "does not contain a token"),
        ("a-token-of-the-tests\nanother-token", "does not contain a token"),
        ("\u00e9" * 20, "does not contain a token"),
        ("a" * 1001, "does not contain a token"),
    ],
)
def test_a_file_without_a_token_is_refused(site, held, tmp_path, content, message):
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=message):
        ResolverMiddleware(site, held(), metrics="/metrics", metrics_token_file=str(path))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics_token_file": None}, "metrics: the token is missing; set metrics_token_file"),
        ({"metrics": None}, "metrics_token_file: the path of the metrics is missing; set metrics="),
        ({"metrics": "metrics"}, "metrics: metrics is neither a URL nor a path that begins with /"),
        ({"metrics": "/ark:12345/x"}, "metrics: '/ark:12345/x' is not an unreserved path like '/metrics'"),
        ({"metrics": "/"}, "metrics: '/' is not an unreserved path"),
        ({"sitemap": "/metrics", "prefix": "https://r.example"}, "'/metrics' is also the path of"),
        ({"metrics": "/uri-res/N2L", "services": "/uri-res", "prefix": "https://r.example"}, "belongs to the log or"),
    ],
)
def test_a_wrong_setting_is_refused(site, names, metrics, settings, message):
    with pytest.raises(ValueError, match=message):
        ResolverMiddleware(site, names, **{**metrics, **settings})


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_folder_that_cannot_be_shared_is_refused(site, held, metrics, tmp_path, monkeypatch, kind):
    folder = tmp_path / "shared"
    if kind == "file":
        folder.write_text("", "utf-8")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    with pytest.raises(ValueError, match=r"PROMETHEUS_MULTIPROC_DIR: '.*shared' is not a folder .*; create it"):
        ResolverMiddleware(site, held(), **metrics)


@pytest.mark.parametrize(
    ("arguments", "environ", "multiprocess", "warnings"),
    [
        pytest.param(["gunicorn", "--workers", "2"], {}, False, 1, id="command line"),
        pytest.param(["gunicorn"], {"WEB_CONCURRENCY": "3"}, False, 1, id="variable"),
        pytest.param(["gunicorn", "-c", "gunicorn.conf.py"], {}, True, 1, id="seen in requests"),
        pytest.param(["gunicorn", "-w", "2"], {"PROMETHEUS_MULTIPROC_DIR": "."}, True, 0, id="shared folder"),
        pytest.param(["gunicorn", "--workers", "1"], {}, False, 0, id="one worker"),
    ],
)
def test_several_workers_without_a_shared_folder_are_logged_once(
    site, held, metrics, authorized, monkeypatch, caplog, tmp_path, arguments, environ, multiprocess, warnings
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", arguments)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    client = Client(ResolverMiddleware(site, held(), **metrics))
    for _ in range(2):
        client.get("/metrics", headers=authorized, multiprocess=multiprocess)
    found = [record for record in caplog.records if "PROMETHEUS_MULTIPROC_DIR" in record.getMessage()]
    assert len(found) == warnings


def test_the_extra_is_named_if_it_is_missing(site, held, metrics, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ararat.middleware.metrics.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ValueError, match=r"run: pip install 'ararat\[metrics\]'"):
        ResolverMiddleware(site, held(), **metrics)


SITE = """\
import os
from ararat.middleware import ResolverMiddleware, open_bindings

def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]

application = ResolverMiddleware(
    site, open_bindings({database!r}), prefix="https://r.example", metrics="/metrics", metrics_token_file={token!r}
)
"""


@pytest.mark.long
@pytest.mark.parametrize("preload", [False, True])
def test_all_processes_of_a_server_share_the_metrics(wsgi_server, names, metrics, authorized, read, tmp_path, preload):
    database = str(Path(names.location.removeprefix("sqlite:///")))
    source = SITE.format(database=database, token=metrics["metrics_token_file"])
    folder = tmp_path / "shared"
    folder.mkdir()
    server = wsgi_server(source, workers=3, preload=preload, environ={"PROMETHEUS_MULTIPROC_DIR": str(folder)})

    def request_of(worker):
        with server.only(worker):
            assert int(server.get("/").text) == worker
            for _ in range(20):
                assert server.get("/ark:12345/x1").status == 302

    # One of the workers ends in between.
    ended, *others = server.workers()
    for worker in (ended, *others):
        request_of(worker)
    os.kill(ended, signal.SIGKILL)
    server.wait_for("worker ready", times=4)
    [*same, further] = server.workers()
    assert same == others
    request_of(further)
    found = read(server.get("/metrics", **authorized).text)
    assert found["ararat_resolutions_total", "located", "ark:12345/x"] == 80
    assert found["ararat_resolution_seconds_count",] == 80
    assert found["ararat_names",] == 7
    assert found["ararat_build_info", platform.python_version(), __version__] == 1
    assert {f"counter_{worker}.db" for worker in (ended, *others, further)} <= {file.name for file in folder.iterdir()}
