"""The middleware behind every server: raw requests, their correct results, and known differences."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOSTILE = (HERE.parents[1] / "data" / "hostile" / "http-requests.jsonl").read_text("ascii").splitlines()
PLAIN = "GET {} HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"


def reached(answer):
    """Return the request that reached the site, or None if another program answered."""
    return answer.json() if b'"as it came"' in answer.body else None


def raw_path(told):
    return told["REQUEST_URI"] or told["RAW_URI"] or told["PATH_INFO"]


def outcome(answer):
    told = reached(answer)
    return answer.status, answer.header("Location") if told is None else raw_path(told)


def test_each_server_changes_only_the_listed_requests(server, servers, question, expected, note):
    target = servers.questions[question].target
    found = outcome(server.ask(PLAIN.format(target).encode("latin-1")))
    note(found)
    assert found == expected
    assert "Traceback" not in server.log()


@pytest.mark.one_setup
@pytest.mark.vectors("http")
def test_requests_are_answered_as_specified(server, servers, name, vector):
    answer = server.get(vector.input["target"], vector.input["method"])
    if otherwise := servers.known(name, vector.input["target"]):
        assert outcome(answer) == otherwise
        return
    expect = vector.expect
    if expect["status"] == "pass-through":
        assert outcome(answer) == (200, vector.input["target"])
        assert answer.json()["as it came"] is True
        return
    assert answer.status == expect["status"]
    assert answer.header("Location") == expect.get("location")
    if "describedby" in expect:
        assert f'<{expect["describedby"]}>; rel="describedby"' in answer.all("Link")
    if "allow" in expect:
        assert answer.header("Allow") == expect["allow"]
    if "same_as" in expect:
        assert answer.body == server.get(expect["same_as"]).body
    if "site" in expect:
        assert outcome(answer) == (200, expect["site"])
    body = answer.body.decode().lower()
    assert all(text in body for text in expect.get("body_has", ()))
    assert not any(text in body for text in expect.get("body_lacks", ()))
    assert (answer.body == b"") is (vector.input["method"] == "HEAD" or 300 <= answer.status < 400)


@pytest.mark.one_setup
@pytest.mark.parametrize("row", [pytest.param(row := json.loads(line), id=row["id"]) for line in HOSTILE if line])
def test_hostile_requests_are_answered_safely(server, servers, name, row):
    sent = server.exchange(row["raw_request"].encode("latin-1"))
    method = row["raw_request"].split(" ", 1)[0]
    if servers.rows[name].capitals:
        method = method.upper()
    status = int(sent[9:12]) if sent else None
    head, _, body = sent.partition(b"\r\n\r\n")
    assert status is None or (status < 500 and status not in (301, 308))
    assert b"smuggled" not in sent
    # Only answers of the resolver have it. A server can refuse a request itself.
    ours = b"\r\naccess-control-allow-origin:" in head.lower()
    if row["class"] == "target":
        # "the answer is that binding, or 400/404, or an unchanged pass-through"
        assert status in (200, 302, 400, 404, 414)
        assert status != 302 or re.search(rb"\r\nLocation: https://target.test/t(\r\n|$)", head, re.IGNORECASE)
        if b'"as it came"' in body:
            # Granian sends its answers in chunks.
            told = json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])
            assert told["as it came"] is True
            assert not re.match("/(ark|urn):", raw_path(told), re.IGNORECASE | re.ASCII)
    elif row["class"] == "headers":
        assert status in (302, 400)
        assert not ours or without_date(sent) == without_date(server.exchange(PLAIN.format("/ark:12345/x").encode()))
    elif row["class"] == "method":
        assert status in ((302,) if method in ("GET", "HEAD") else (400, 405))
        assert body == b"" if method in ("GET", "HEAD") else not ours or status == 405
        assert not ours or method in ("GET", "HEAD") or b"\r\nallow: get, head, options" in head.lower()
    elif row["class"] == "smuggling":
        assert status in (None, 400, 405)
        assert len(re.findall(rb"HTTP/1\.[01] \d", sent)) <= 1


def without_date(sent: bytes) -> bytes:
    return re.sub(rb"\r\nDate: [^\r]*", b"", sent, flags=re.IGNORECASE)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ["/", "/page/a;b=c,d/e%20f?q=1&q=%ff", "/ark/12345/doc", "/arks:/x", "/x/ark:12345/doc", "/doi:10.1/x"]
)
def test_requests_of_the_site_are_passed_unchanged(server, target):
    told = server.get(target).json()
    assert told["as it came"] is True
    body = "\x00\xffark:12345/doc\r\n\r\n"
    fields = f"Host: site.test\r\nConnection: close\r\nContent-Length: {len(body)}"
    told = server.ask(f"POST {target} HTTP/1.1\r\n{fields}\r\n\r\n{body}".encode("latin-1")).json()
    assert (told["as it came"], told["REQUEST_METHOD"], told["body"]) == (True, "POST", body)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ["/ark:12345/doc", "/ark:12345/doc?info", "/ark:12345/nope", "/ark:", "/ark:12345/page"]
)
def test_head_returns_no_body(server, target):
    get, head = server.get(target), server.get(target, "HEAD")
    # A server may omit or send the fields of the body that is not sent.
    varying = {"date", "content-length", "transfer-encoding"}
    assert (head.status, head.body) == (get.status, b"")
    assert {field for field in head.headers if field[0].lower() not in varying} == {
        field for field in get.headers if field[0].lower() not in varying
    }


@pytest.mark.one_setup
@pytest.mark.parametrize(("target", "negotiated"), [("/ark:12345/cat", ""), ("/ark:12345/doc?info", "Accept-Language")])
def test_forged_fields_do_not_change_an_answer(server, servers, name, forgeries, target, negotiated):
    permitted = {negotiated, "Range" if servers.rows[name].ranges else ""}
    plain = without_date(server.exchange(PLAIN.format(target).encode()))
    for forged, value in forgeries:
        if forged not in permitted:
            fields = {"Host": "site.test"} | {forged: value}
            head = "".join(f"{field}: {text}\r\n" for field, text in fields.items())
            sent = server.exchange(f"GET {target} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode("latin-1"))
            assert without_date(sent) == plain, f"{forged}: {value}"


def test_the_table_knows_which_servers_pass_on_fields_with_underscores(server, servers, name):
    told = server.ask(b"GET / HTTP/1.1\r\nHost: site.test\r\nX_Probe: 1\r\nConnection: close\r\n\r\n").json()
    assert told["HTTP_X_PROBE"] == ("1" if servers.rows[name].underscores else None)


@pytest.mark.one_setup
@pytest.mark.parametrize("field", ["ar, de;q=0.5", "fr", "*", ""])
def test_a_page_is_in_the_language_that_the_visitor_prefers(server, field):
    page = server.get("/ark:12345/doc?info", accept_language=field)
    language = {"ar, de;q=0.5": "ar", "fr": "fr"}.get(field, "en")
    assert (page.status, page.header("Content-Language")) == (200, language)
    assert f'<html lang="{language}"' in page.text
    assert "Accept-Language" in re.split(", ?", ", ".join(page.all("Vary")))


def test_a_range_request_gets_the_range_or_the_whole_page(server, servers, name):
    whole = server.get("/ark:12345/doc?info")
    got = server.get("/ark:12345/doc?info", range="bytes=0-3")
    # A server that can send ranges does so if the page came in one piece.
    part = servers.rows[name].ranges and got.status == 206
    assert (got.status, got.body) == ((206, whole.body[:4]) if part else (200, whole.body))


def test_the_page_on_servers_agrees_with_the_table(servers):
    assert (HERE.parents[2] / "docs" / "request-targets.md").read_text("utf-8") == servers.page()


def test_the_table_contains_only_known_requests(servers):
    for row in servers.rows.values():
        for question, word in row.otherwise.items():
            assert word in servers.questions[question].otherwise
