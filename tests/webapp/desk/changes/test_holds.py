"""The pages of holds in the desk, and the same holds in the JSON API."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from ararat.bindings import holding
from ararat.bindings.holding import Of
from ararat.bindings.names.selection import select
from ararat.webapp.desk.names.selected import conditions

REASON = "A <b>court</b> \u202e decides"


@pytest.fixture
def day(desk: Any) -> str:
    """The day in a month."""
    return f"{desk.bindings.now() + timedelta(days=30):%Y-%m-%d}"


def test_a_curator_holds_and_releases_a_name_and_a_prefix(desk: Any, day: str, read_page: Callable[..., Any]) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://example.org/1")
    desk.bindings.prefixes.set("ark:12345/x5", what="Maps")
    jane = desk.signed_in("jane")
    for kind, of in (("name", "ark:12345/x5a"), ("prefix", "ark:12345/x5")):
        page = f"/desk/{'name' if kind == 'name' else 'prefixes/record'}?{kind}={of}"
        assert "Put on hold" in jane.get(page).text
        form = jane.get(f"/desk/holds/set?{kind}={of}")
        assert read_page(form.text).one("input", name="until")
        # A wrong field keeps the others, and names what is expected.
        wrong = jane.post("/desk/holds/set", {kind: of, "until": "soon", "reason": REASON})
        assert (wrong.status_code, "is not a date" in wrong.text, "court" in wrong.text) == (422, True, True)
        wrong = jane.post("/desk/holds/set", {kind: of, "until": day, "reason": " "})
        assert (wrong.status_code, "Reason of the hold: the text is empty" in wrong.text) == (422, True)
        done = jane.post("/desk/holds/set", {kind: of, "until": day, "reason": REASON})
        assert done.status_code == 303
        assert done.location.endswith(page)
        shown = jane.get(page).text
        assert "<b>court</b>" not in shown
        assert "\u202e" not in shown
        assert "Change the hold" in shown
        assert kind == "prefix" or "on hold</span>" in shown
    for history in ("/desk/changes", "/desk/name?name=ark:12345/x5a"):
        assert re.search(
            r"<ins[^>]*>\s*<time[^>]*>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{5} UTC</time></ins>", jane.get(history).text
        )
    listed = jane.get("/desk/holds").text
    assert listed.count("decides") == 2
    assert "<b>court</b>" not in listed
    assert "2 holds last" in jane.get("/desk").text
    assert 'href="/desk/holds"' in jane.get("/desk").text
    assert "ark:12345/x5a" in jane.get("/desk/names?hold=yes").text
    assert "ark:12345/x5a" not in jane.get("/desk/names?hold=no").text
    exported = jane.get("/desk/holds.csv").text.splitlines()
    assert exported[0] == "\ufeffname,prefix,until,reason,since,actor,current"
    assert len(exported) == 3
    (until,) = {each.hold.until for each in holding.current(desk.bindings)}
    assert f"{until - timedelta(days=1):%Y-%m-%d %H:%M}" == f"{day} 00:00"
    for kind, of in (("name", "ark:12345/x5a"), ("prefix", "ark:12345/x5")):
        assert jane.post("/desk/holds/release", {kind: of, "list": "1"}).location.endswith("/desk/holds")
    assert "is on hold" in jane.get("/desk/holds").text
    assert holding.current(desk.bindings, with_ended=True) == []
    # The audit names each request.
    audit = desk.signed_in("ada").get("/desk/audit.csv").text
    assert [audit.count(f",{operation},") for operation in ("hold", "release")] == [4, 2]
    # A change of all names of a list has the condition of the list.
    assert conditions(select(hold="yes"), None) == {"hold": "yes"}


def test_an_account_without_a_grant_cannot_hold_a_name_or_prefix(desk: Any, day: str) -> None:
    desk.bindings.bind("ark:12345/y1", "https://example.org/1")
    desk.bindings.bind("ark:12345/x5a", "https://example.org/1")
    for account, kind, of in (
        ("rita", "name", "ark:12345/x5a"),
        ("jane", "name", "ark:12345/y1"),
        ("jane", "prefix", "ark:12345/"),
    ):
        browser = desk.signed_in(account)
        assert browser.get(f"/desk/holds/set?{kind}={of}").status_code == 403
        assert browser.post("/desk/holds/set", {kind: of, "until": day, "reason": "why"}).status_code == 403
        assert browser.post("/desk/holds/release", {kind: of}).status_code in (403, 404)
        assert browser.get("/desk/holds").status_code == 200
    assert holding.current(desk.bindings, with_ended=True) == []


def test_the_api_holds_lists_and_releases(desk: Any, day: str) -> None:
    bindings = desk.bindings
    bindings.bind("ark:12345/x5a", "https://example.org/1")
    bindings.bind("ark:12345/y1", "https://example.org/1")
    client = desk.app.test_client()
    secret = desk.accounts.tokens.create("jane", "test")[1]

    def send(method: str, path: str, body: Any = None) -> Any:
        return client.open(path, method=method, json=body, headers={"Authorization": f"Bearer {secret}"})

    made = send("POST", "/api/v1/holds", {"name": "ark:/12345/x-5a", "until": day, "reason": REASON})
    assert made.status_code == 200, made.text
    assert (made.json["outcome"], made.json["name"], made.json["reason"]) == ("held", "ark:12345/x5a", REASON)
    assert send("POST", "/api/v1/holds", {"prefix": "ark:12345/x5", "until": day, "reason": "why"}).status_code == 200
    holds = send("GET", "/api/v1/holds").json["holds"]
    assert [(each.get("name"), each.get("prefix"), each["actor"], each["current"]) for each in holds] == [
        (None, "ark:12345/x5", "jane", True),
        ("ark:12345/x5a", None, "jane", True),
    ]
    listed = send("GET", "/api/v1/names?hold=yes").json["names"]
    assert [(each["identifier"], each["hold_reason"]) for each in listed] == [("ark:12345/x5a", REASON)]
    assert [each["identifier"] for each in send("GET", "/api/v1/names?hold=no").json["names"]] == ["ark:12345/y1"]
    assert send("GET", "/api/v1/prefixes/ark:12345/x5").json["hold_reason"] == "why"
    # A request that replaces the name, and one that replaces the record, keep the hold.
    assert send("PUT", "/api/v1/names/ark:12345/x5a", {"target": "https://example.org/1"}).json["hold_reason"] == REASON
    event = send("GET", "/api/v1/names/ark:12345/x5a/history").json["events"][1]
    assert (event["action"], event["after"]["hold_reason"]) == ("updated", REASON)
    late = f"{bindings.now() + timedelta(days=400):%Y-%m-%d}"
    for body, status, code in (
        ({"name": "ark:12345/y1", "until": day, "reason": "why"}, 403, "not-granted"),
        ({"prefix": "ark:12345/", "until": day, "reason": "why"}, 403, "not-granted"),
        ({"name": "ark:12345/x5none", "until": day, "reason": "why"}, 404, "not-bound"),
        ({"prefix": "ark:12345/x5none", "until": day, "reason": "why"}, 404, "hold-unknown"),
        ({"name": "ark:12345/x5a", "until": late, "reason": "why"}, 422, "hold-until"),
        ({"name": "ark:12345/x5a", "until": "2020-01-01", "reason": "why"}, 422, "hold-until"),
        ({"name": "ark:12345/x5a", "until": "soon", "reason": "why"}, 422, "hold-until"),
        ({"name": "ark:12345/x5a", "until": day, "reason": "a\nb"}, 422, "hold-reason"),
        ({"name": "ark:12345/x5a", "prefix": "ark:12345/x5", "until": day, "reason": "w"}, 422, "body-member"),
    ):
        refused = send("POST", "/api/v1/holds", body)
        assert (refused.status_code, refused.json["code"]) == (status, code), body
    for body in ({"name": "ark:12345/x5a"}, {"prefix": "ark:12345/x5"}):
        assert send("POST", "/api/v1/holds/release", body).json["outcome"] == "released"
        again = send("POST", "/api/v1/holds/release", body)
        assert (again.status_code, again.json["code"]) == (404, "hold-missing")
    assert send("GET", "/api/v1/holds?all=1").json == {"holds": []}


@pytest.mark.parametrize("verb", ["set", "release"])
@pytest.mark.parametrize(
    ("kind", "of"), [("name", "ark:12345/x5a"), ("prefix", "ark:12345/x5")], ids=["name", "prefix"]
)
def test_a_hold_of_another_revision_is_refused(
    desk: Any, day: str, read_page: Callable[..., Any], kind: Of, of: str, verb: str
) -> None:
    """Compare the forms of the desk, which have the revision of their page, with If-Match of the API."""
    bindings = desk.bindings
    bindings.bind("ark:12345/x5a", "https://example.org/1")
    bindings.prefixes.set("ark:12345/x5", what="Maps")
    client, jane = desk.app.test_client(), desk.signed_in("jane")
    secret = desk.accounts.tokens.create("jane", "test")[1]
    path = "/api/v1/holds" if verb == "set" else "/api/v1/holds/release"
    record = f"/api/v1/{kind}s/{of}" if kind == "name" else f"/api/v1/prefixes/{of}"

    def send(method: str, path: str, tag: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {secret}"} | ({"If-Match": tag} if tag else {})
        body = {kind: of} | ({"until": day, "reason": "new"} if verb == "set" else {})
        return client.open(path, method=method, json=body if method == "POST" else None, headers=headers)

    def by_form(page: str) -> Any:
        form = read_page(page).one("input", name="revision").attributes["value"]
        fields = {kind: of, "revision": form} | ({"until": day, "reason": "new"} if verb == "set" else {})
        return jane.post(f"/desk/holds/{verb}", fields)

    holding.hold(bindings, of, bindings.now() + timedelta(days=9), "why", kind=kind)
    tag = send("GET", record).headers["ETag"]
    address = f"/desk/holds/set?{kind}={of}" if verb == "set" else "/desk/holds"
    page = jane.get(address).text
    holding.hold(bindings, of, bindings.now() + timedelta(days=9), "another", kind=kind)
    assert by_form(page).status_code == 409
    refused = send("POST", path, tag)
    assert (refused.status_code, refused.json["code"]) == (412, "revision-stale")
    [held] = holding.current(bindings)
    assert held.hold.reason == "another"
    assert by_form(jane.get(address).text).status_code == 303
    holding.hold(bindings, of, bindings.now() + timedelta(days=9), "third", kind=kind)
    assert send("POST", path, send("GET", record).headers["ETag"]).status_code == 200
