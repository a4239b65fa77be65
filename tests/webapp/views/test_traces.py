"""Lists of traces: the growing page, resuming, files, the API, and reasons not to start."""

from __future__ import annotations

import csv
import dataclasses
import json
import threading
from types import SimpleNamespace

import pytest

from ararat.bindings.system.thread_slots import slots
from ararat.net import uri
from ararat.net.hop import HopResponse
from ararat.tracing.in_process import HOP_KEY
from ararat.tracing.limits.rate_limit import HostRateLimiter
from ararat.webapp import create_app, trace_requests
from ararat.webapp.config import MAX_URL_LENGTH
from ararat.webapp.views import traces
from tests.waiting import until

HERE = "https://here.example.org"
THREE = "ark:12345/x\r\n\r\n  ark:12345/gone \nnonsense\nark:12345/x\n"


class Site:
    """A site with a page for each name except "gone". "slow" waits until it is released."""

    def __init__(self):
        self.asked = []
        self.answers = threading.Event()

    def __call__(self, environ, start_response):
        self.asked.append(environ["PATH_INFO"])
        if "slow" in environ["PATH_INFO"]:
            self.answers.wait(20)
        start_response("404 Not Found" if "gone" in environ["PATH_INFO"] else "200 OK", [])
        return [b""]


def wait_until_free():
    """Wait for the threads that still end a trace after their client has its answer."""
    until(lambda: not slots.in_use())


@pytest.fixture
def site():
    wait_until_free()
    site = Site()
    yield site
    site.answers.set()
    wait_until_free()


@pytest.fixture
def client(bound, site):
    names = bound({f"ark:12345/{name}": "located" for name in ("x", "y", "gone", "slow")})
    return create_app(names, prefix=HERE, local={HERE: site}, traces=1).test_client()


def rows_of(page):
    """Return identifier and verdict of each row of the page, and the id of its result."""
    rows = page.one("table", "traced").one("tbody").all("tr")
    found = [(row.all("td")[0].text, row.all("td")[1].one("b").text.split()[-1]) for row in rows]
    return found, page.one("input", name="run").attributes["value"]


def test_the_form_has_its_own_url(client, read_page):
    page = read_page(client.get("/traces").text)
    assert page.one("form", "round").attributes["action"] == "/traces"
    assert page.all("table") == []


def test_each_identifier_has_a_row_with_its_verdict(client, read_page):
    response = client.post("/traces", data={"q": THREE})
    assert (response.status_code, response.headers["X-Accel-Buffering"]) == (200, "no")
    page = read_page(response.text)
    found, _ = rows_of(page)
    assert sorted(found) == [("ark:12345/gone", "dead"), ("ark:12345/x", "resolves"), ("nonsense", "unreadable")]
    assert "3 traced: 1 resolves, 1 dead, 1 unreadable." in page.one("div", "ended").text
    assert slots.in_use() == 0


def test_finished_rows_are_not_traced_again_unless_requested(client, read_page, site):
    _, run = rows_of(read_page(client.post("/traces", data={"q": THREE}).text))
    site.asked.clear()
    page = read_page(client.post("/traces", data={"q": THREE + "ark:12345/y", "run": run}).text)
    assert site.asked == ["/ark:12345/y"]
    assert len(rows_of(page)[0]) == 4
    site.asked.clear()
    client.post("/traces", data={"q": THREE, "run": run, "anew": "1"}).get_data()
    assert sorted(site.asked) == ["/ark:12345/gone", "/ark:12345/x"]


def test_the_result_can_be_saved(client, read_page):
    found, run = rows_of(read_page(client.post("/traces", data={"q": THREE}).text))
    table = client.post("/traces/result?form=csv", data={"run": run})
    lines = client.post("/traces/result?form=json", data={"run": run})
    assert table.headers["Content-Disposition"] == 'attachment; filename="traces.csv"'
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert sorted((row["identifier"], row["verdict"]) for row in rows) == sorted(found)
    assert [row["identifier"] for row in csv.DictReader(table.text.splitlines())] == [row["identifier"] for row in rows]


def test_the_longest_list_can_be_saved(client, read_page):
    given = [f"ark:54321/{number}{'x' * (MAX_URL_LENGTH - 13)}" for number in range(traces.MAX_IDENTIFIERS)]
    assert {len(each) for each in given} <= {MAX_URL_LENGTH - 1, MAX_URL_LENGTH - 2}
    site = client.application.extensions["ararat"]
    settings = dataclasses.replace(site.settings, trace_elsewhere=False)
    client.application.extensions["ararat"] = dataclasses.replace(site, settings=settings)
    page = read_page(client.post("/traces", data={"q": "\n".join(given)}).text)
    saved = client.post("/traces/result?form=json", data={"q": "\n".join(given), "run": rows_of(page)[1]})
    assert [json.loads(line)["identifier"] for line in saved.text.splitlines()] == given


def test_a_row_has_its_line_number_and_a_file_is_in_list_order(client, read_page):
    given = "nonsense\nark:12345/doc\n\nark:12345/y"
    page = read_page(client.post("/traces", data={"q": given}).text)
    numbers = {row.all("td")[0].text: row.one("th").text.split()[0] for row in page.one("tbody").all("tr")}
    assert numbers == {"nonsense": "1", "ark:12345/doc": "2", "ark:12345/y": "3"}
    saved = client.post("/traces/result?form=json", data={"run": rows_of(page)[1]}).text.splitlines()
    assert [json.loads(line)["identifier"] for line in saved] == ["nonsense", "ark:12345/doc", "ark:12345/y"]


@pytest.mark.one_setup
@pytest.mark.parametrize("run", [None, "", "x", "\u202e", "x" * 5000], ids=["none", "empty", "x", "bidi", "long"])
def test_an_expired_result_is_not_found_and_the_whole_list_is_traced(client, read_page, run):
    answer = client.post("/traces/result?form=csv", data={"run": run}, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json["code"]) == (404, "no-result")
    page = read_page(client.post("/traces", data={"q": "ark:12345/x", "run": run}).text)
    assert rows_of(page)[0] == [("ark:12345/x", "resolves")]


@pytest.mark.one_setup
@pytest.mark.parametrize("field", ["result", "run", "q", "resolver", "anew"])
@pytest.mark.parametrize(
    "value",
    [
        '{"identifier": "ark:12345/x", "seconds": -Infinity}',
        '{"seconds": NaN}',
        '{"seconds": ' + "9" * 400 + "}",
        "[" * 5000,
        "=1+1",
        "\ud800",
        "\0",
        "<b>",
    ],
    ids=["infinity", "nan", "long number", "nested", "formula", "surrogate", "nul", "markup"],
)
def test_no_form_value_raises_an_error(client, field, value):
    data = {"q": "ark:12345/x", field: value.encode("utf-8", "surrogatepass")}
    for path in ("/traces", "/traces/result?form=csv"):
        answer = client.post(path, data=data)
        assert answer.status_code in (200, 400, 404)
        assert "Something went wrong" not in answer.text


def test_a_list_is_traced_while_the_bindings_are_unreadable(bound, site):
    app = create_app(bound({}, reachable=False), prefix=HERE, local={HERE: site}, trace_elsewhere=False)
    for path, form in (("/api/traces", "ark:12345/x"), ("/traces", {"q": "ark:12345/x"})):
        answer = app.test_client().post(path, data=form)
        assert answer.status_code == 200
        assert "not-asked" in answer.text or "asks itself alone" in answer.text or "blocked" in answer.text


def test_a_list_creates_no_elements(client, read_page):
    page = read_page(client.post("/traces", data={"q": "<b>bold\nark:12345/\u202ex\n</textarea><script>"}).text)
    assert all(not name.startswith("<") for name in (element.tag for element in page.walk()))
    assert [script.attributes.get("src", "")[:8] for script in page.all("script")] == ["/static/"] * 4
    assert "\u202e" not in page.one("table", "traced").text


def results_of(response):
    """Return the rows of a list. On a busy machine, beats can be between them."""
    return [row for row in map(json.loads, response.text.splitlines()) if "identifier" in row]


def test_the_api_returns_json_lines_or_csv(client):
    lines = client.post("/api/traces", data=THREE)
    assert lines.mimetype == "application/x-ndjson"
    rows = results_of(lines)
    table = client.post("/api/traces", data=THREE, headers={"Accept": "text/csv"})
    assert table.mimetype == "text/csv"
    found = [(row["identifier"], row["verdict"]) for row in csv.DictReader(table.text.splitlines())]
    assert sorted(found) == sorted((row["identifier"], row["verdict"]) for row in rows)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "query", "fields", "status", "code"),
    [
        pytest.param(" \n", {}, {}, 400, "nothing-to-trace", id="nothing"),
        pytest.param("\n".join(f"x{n}" for n in range(201)), {}, {}, 400, "too-many", id="too many"),
        pytest.param("ark:12345/" + "x" * 2000, {}, {}, 400, "too-long", id="too long"),
        pytest.param("ark:12345/x", {"resolver": "javascript:x"}, {}, 400, "parameter", id="no resolver"),
        pytest.param("ark:12345/x", {}, {"Sec-Fetch-Site": "cross-site"}, 403, "not-started", id="another site"),
    ],
)
def test_the_page_reports_why_a_list_cannot_start(client, site, text, query, fields, status, code):
    problem = client.post("/api/traces", data=text, query_string=query, headers=fields)
    assert (problem.status_code, problem.json["code"]) == (status, code)
    assert client.post("/traces", data={"q": text, **query}, headers=fields).status_code == status
    assert (site.asked, slots.in_use()) == ([], 0)


def test_a_trace_does_not_start_a_list(client, site):
    assert client.post("/api/traces", data="ark:12345/x", environ_base={HOP_KEY: True}).status_code == 403
    assert site.asked == []


def test_other_hosts_are_not_requested_by_default(bound, site):
    alone = create_app(bound({}), prefix=HERE, local={HERE: site}, trace_elsewhere=False).test_client()
    (row,) = results_of(alone.post("/api/traces", data="ark:54321/elsewhere"))
    assert (row["verdict"], row["code"]) == ("blocked", "not-asked")


def test_a_list_uses_one_slot_and_releases_it_on_disconnect(client, site):
    running = client.post("/traces", data={"q": "ark:12345/slow\nark:12345/x"}, buffered=False)
    parts = running.iter_encoded()
    next(parts)
    next(parts)
    assert any(b"still waiting" in part for part in parts)
    assert client.post("/api/traces", data="ark:12345/x").status_code == 503
    running.close()
    site.answers.set()
    wait_until_free()


def test_a_list_can_be_resumed_after_the_time_limit(client, site, read_page, monkeypatch):
    monkeypatch.setattr(traces, "MAX_SECONDS", 0.2)
    trace_all = traces.trace_all

    def answered_after_the_stop(texts, run, *, stop, **options):
        threading.Thread(target=lambda: stop.wait(20) and site.answers.set()).start()
        return trace_all(texts, run, stop=stop, **options)

    monkeypatch.setattr(traces, "trace_all", answered_after_the_stop)
    given = ["ark:12345/slow", *(f"ark:12345/slow{number}" for number in range(20))]
    page = read_page(client.post("/traces", data={"q": "\n".join(given), "resolver": HERE}).text)
    found, _ = rows_of(page)
    assert len(found) < 20
    assert "The time limit of one run was reached." in page.one("div", "ended").text
    assert page.one("div", "ended").all("button")[0].text == f"Resume ({21 - len(found)} left)"


# Hosts elsewhere, at their pace ---------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(bound, monkeypatch):
    """A client of an inspector with a limit of two requests per minute to another host, a clock, and the requests."""
    now, asked = [1000.0], []

    def guarded(destinations, *, before_connect, **settings):
        def fetch(method, url, deadline):
            before_connect(uri.parse(url).host, [])
            asked.append(url)
            return HopResponse(200, "OK", ())

        return fetch

    monkeypatch.setattr(trace_requests, "GuardedClient", SimpleNamespace(to=guarded))
    app = create_app(bound({}), prefix=HERE)
    pace = HostRateLimiter(2, 2, clock=lambda: now[0])
    pace.min_interval = 0.01
    app.extensions["ararat"] = dataclasses.replace(app.extensions["ararat"], rate_limiter=pace)
    return app.test_client(), now, asked


def test_rows_above_the_rate_limit_are_traced_later(elsewhere, read_page):
    client, now, asked = elsewhere
    given = "\n".join(f"ark:12345/{number}" for number in range(5))
    page, run = None, ""
    for done in (2, 4, 5):
        page = read_page(client.post("/traces", data={"q": given, "run": run}).text)
        found, run = rows_of(page)
        assert sum(verdict == "resolves" for _, verdict in found) == done == len(asked)
        ended = page.one("div", "ended").text
        assert ("Resume in a minute" in ended) is (done < 5)
        now[0] += 61
    assert len(set(asked)) == 5


def test_the_page_shows_the_minimum_duration_of_a_list(client, read_page, monkeypatch):
    form = read_page(client.get("/traces").text).one("p", id="pace").text
    assert "Requests to one host are 3 seconds apart" in form
    assert "A run stops after 5 minutes" in form
    asked = []
    monkeypatch.setattr(traces, "trace_all", lambda texts, run, **rest: iter(asked.extend(texts) or ()))
    many = "\n".join(f"ark:54321/{number}" for number in range(50))
    page = read_page(client.post("/traces", data={"q": many}).text)
    assert "at least 3 minutes," in page.one("p", id="takes").text
    own = read_page(client.post("/traces", data={"q": "ark:12345/x\nark:12345/y"}).text)
    assert own.all("p", id="takes") == []
    assert len(asked) == 52
