"""Tokens with a single right, without the right to read, learn nothing about the names of others at any door.

Each route of the API, of the EZID API and of the desk has a row: those of the desk are made from the map of routes, and
a new route of an API without a row fails. Each request is sent for a name of another department and for a name that
does not exist, with the jobs that it starts. For a name that is not public, the answers are equal. For any name, they
contain neither its target nor its number, and no text that its public page does not show.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.holding import hold
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.ezid import dispatch
from ararat.webapp.jobs.imports import Imports

RIGHTS = ["mint", "bind", "relocate", "describe", "withdraw"]
HIDDEN = ["reserved", "embargoed", "held"]
STATES = [*HIDDEN, "withdrawn", "held live"]
ELSEWHERE = "https://elsewhere.example/"
COUNTER = itertools.count()


class Subject(NamedTuple):
    """A name with the values that a request can contain."""

    name: str
    target: str
    number: str
    title: str
    reason: str
    own: str = ""

    @classmethod
    def of(cls, name: str) -> Subject:
        key = name[-4:].replace("/", "0")
        return cls(name, f"https://secret.example/{key}", f"NUMBER{key}", f"TITLE{key}", f"REASON{key}")

    def said(self, text: str) -> set[str]:
        """Return the secrets in a text."""
        return {each for each in (self.target, self.number, self.title, self.reason) if each in text}

    def in_request(self, value: Any) -> Any:
        """Return a value of a request with the values of this name."""
        if isinstance(value, dict):
            return {key: self.in_request(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.in_request(each) for each in value]
        if not isinstance(value, str):
            return value
        for place, own in self._asdict().items():
            value = value.replace(place.upper(), own)
        return value

    def with_own(self) -> Subject:
        """Return it with a new name of the curator who sends the requests."""
        return self._replace(own=f"ark:12345/x5o{next(COUNTER)}")


UNKNOWN = Subject.of("ark:12345/y999")
OTHERS = {state: Subject.of(f"ark:12345/y{number}00") for number, state in enumerate(STATES, 1)}


class Site:
    """A site with the curator jane, who has a token for each right, and the names and jobs of another department."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings, self.accounts = bindings, Accounts(bindings)
        self.accounts.add("ada", "administrator")
        self.accounts.add("jane", "curator", ["ark:12345/x5"])
        self.accounts.add("omar", "curator", ["ark:12345/y"])
        for state, subject in OTHERS.items():
            self.record(state, subject)
        self.bindings.bind("ark:12345/x5own", "https://example.org/own")
        self.app: Flask = create_app(bindings, prefix="http://localhost", ezid="/ezid", trace_elsewhere=False)
        self.imports: Imports = self.app.extensions["ararat_imports"]
        self.imports.worker.wake = lambda: None  # the jobs are carried out here

        def make(right: str) -> tuple[Any, str]:
            return self.accounts.tokens.create("jane", right, rights=[right])

        self.tokens = {right: make(right) for right in ("read", *RIGHTS)}
        self.client = self.app.test_client()
        self.public = ResolverMiddleware(NotFound(), bindings, prefix="http://localhost")
        self.omar = self.accounts.tokens.create("omar", "all")[1]
        self.numbers = self._work_of_others()

    def record(self, state: str, subject: Subject) -> None:
        name, target, number, title, reason, _ = subject
        values: dict[str, Any] = {"resource": number, "metadata": {"what": title}}
        if state in HIDDEN:
            embargo = "2999-01-01" if state == "embargoed" else None
            self.bindings.reserve(name, target, embargo=embargo, **values)
        else:
            self.bindings.bind(name, target, **values)
        if state == "withdrawn":
            self.bindings.withdraw(name, reason=reason, actor="omar")
        if state.startswith("held"):
            hold(self.bindings, name, self.bindings.now() + timedelta(days=3), reason=reason)

    def _work_of_others(self) -> list[int]:
        """Make an import, checks, operations and an export with the names of others, and return the first numbers."""
        table = "identifier,target\n" + "".join(f"{each.name}a,https://public.example/\n" for each in OTHERS.values())
        self.client.post("/api/v1/imports", data=table, content_type="text/csv", headers=bearer(self.omar))
        for who in ("A", "B", "C"):
            edit = {
                "operation": {"action": "edit", "fields": {"metadata": {"who": who}}},
                "selection": {"prefix": "ark:12345/y"},
            }
            check = api("/changes", "POST", edit).of(self, self.omar, UNKNOWN).json["number"]
            self.carry_out_jobs()
            self.client.post(f"/api/v1/changes/{check}/apply", headers=bearer(self.omar))
            self.carry_out_jobs()
        api("/exports", "POST", {"format": "csv"}).of(self, self.omar, UNKNOWN)
        self.carry_out_jobs()
        return [1, 2, 3, 4]

    def carry_out_jobs(self) -> None:
        while (claim := self.imports.jobs.claim()) is not None:
            self.imports.worker._carry_out(claim)

    def shown_to_all(self, subject: Subject) -> set[str]:
        """Return the secrets that the public pages of a name show."""
        client = Client(self.public)
        paths = (f"/{subject.name}", f"/{subject.name}?info", f"/{subject.name}?json")
        answers = [client.get(path, headers={"Accept": accept}) for path in paths for accept in ("text/html", "*/*")]
        return subject.said("".join(each.text + each.headers.get("Location", "") for each in answers))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


Send = Callable[[Site, str, Subject], list[Any]]


class ApiRequest(NamedTuple):
    path: str
    method: str
    json: Any
    headers: Mapping[str, str]

    def of(self, site: Site, secret: str, subject: Subject) -> Any:
        url = "/api/v1" + subject.in_request(self.path)
        body = subject.in_request(self.json)
        fields = {**bearer(secret), **self.headers}
        options: dict[str, Any] = {"data": body} if isinstance(body, str) else {"json": body}
        return site.client.open(url, method=self.method, headers=fields, **options)

    def __call__(self, site: Site, right: str, subject: Subject) -> list[Any]:
        """Send the request, and those that read, apply and continue the job that it has started."""
        secret, subject = site.tokens[right][1], subject.with_own()
        if self.path == "/changes":
            site.bindings.bind(subject.own, "https://example.org/own")
        answers = [self.of(site, secret, subject)]
        place = answers[0].headers.get("Location", "")
        if answers[0].status_code == 202 and place:
            site.carry_out_jobs()
            for path, method in (
                (place, "GET"),
                (f"{place}/apply", "POST"),
                (f"{place}/resume", "POST"),
                (f"{place}/table", "GET"),
            ):
                answers.append(site.client.open(path, method=method, headers=bearer(secret)))
                site.carry_out_jobs()
                if answers[-1].status_code == 202 and method == "POST":
                    answers.append(site.client.get(answers[-1].headers["Location"], headers=bearer(secret)))
        return answers


def api(path: str, method: str = "GET", json: Any = None, **headers: str) -> ApiRequest:
    return ApiRequest(path, method, json, headers)


def ezid(method: str, path: str, body: str | None = None, content_type: str = "text/plain") -> Send:
    def send(site: Site, right: str, subject: Subject) -> list[Any]:
        credentials = base64.b64encode(f"jane:{site.tokens[right][1]}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}"} | ({"Content-Type": content_type} if body else {})
        classic = subject.with_own()._replace(name=f"ark:/{subject.name[4:]}")
        url = f"/ezid/{classic.in_request(path)}"
        return [site.client.open(url, method=method, data=classic.in_request(body), headers=headers)]

    return send


TABLE = "identifier,target,what\nNAME,https://elsewhere.example/,Other\n"
GUESSED = "identifier,target,resource,what\nOWN,TARGET,NUMBER,TITLE\n"
KEYED = "Key,Titel,Link\nNUMBER,TITLE,TARGET\n"
CSV = {"Content-Type": "text/csv"}
CHANGES = [
    {"action": "edit", "fields": {"metadata": {"who": "W"}}},
    {"action": "edit", "fields": {"resource": "NUMBER"}},
    {"action": "edit", "fields": {"embargo": "2999-02-02"}},
    {"action": "publish"},
    {"action": "move", "from": "TARGET", "to": ELSEWHERE},
    {"action": "move", "from": "https://secret.example/", "to": ELSEWHERE},
    {"action": "delete"},
    {"action": "withdraw", "reason": "x", "successor": "NAME"},
    {"action": "restore"},
]
CHOSEN: list[dict[str, Any]] = [
    {"names": ["NAME", "OWN"]},
    {"selection": {"prefix": "NAME"}},
    {"selection": {"target": "TARGET"}},
    {"selection": {"q": "TITLE"}},
    {"selection": {"resource": "NUMBER"}},
]

API: Mapping[str, list[ApiRequest]] = {
    "GET /api/v1/account": [api("/account")],
    "POST /api/v1/changes": [
        *(api("/changes", "POST", {"operation": change, **CHOSEN[0]}) for change in CHANGES),
        *(api("/changes", "POST", {"operation": CHANGES[0], **chosen}) for chosen in CHOSEN[1:]),
        *(api("/changes", "POST", {"operation": {"action": "undo", "operation": number}}) for number in (1, 2)),
    ],
    "POST /api/v1/departures": [api("/departures?dry_run=1", "POST", {"prefix": "NAME", "resolver": ELSEWHERE})],
    "POST /api/v1/exports": [
        api("/exports", "POST", {"format": "csv", "selection": {"prefix": "NAME"}}),
        api("/exports", "POST", {"format": "jsonl", "selection": {"q": "TITLE"}}),
    ],
    "GET /api/v1/holds": [api("/holds?all=1")],
    "POST /api/v1/holds": [
        api("/holds", "POST", {"name": "NAME", "until": "2999-01-01", "reason": "x"}),
        api("/holds", "POST", {"prefix": "NAME", "until": "2999-01-01", "reason": "x"}),
    ],
    "POST /api/v1/holds/release": [
        api("/holds/release", "POST", {"name": "NAME"}),
        api("/holds/release", "POST", {"prefix": "NAME"}),
    ],
    "POST /api/v1/imports": [
        *(api(f"/imports?dry_run={dry}", "POST", table, **CSV) for dry in (1, 0) for table in (TABLE, GUESSED)),
        *(api(f"/imports?dry_run=1&{more}=1", "POST", TABLE, **CSV) for more in ("relocate", "renumber", "atomic")),
        *(
            api(
                f"/imports?dry_run=1&{how}=ark:12345/x5&key=Key&columns=Titel%3Dwhat,Link%3Dtarget",
                "POST",
                KEYED,
                **CSV,
            )
            for how in ("mint", "find")
        ),
    ],
    "GET /api/v1/names": [
        api("/names?prefix=NAME"),
        api("/names?q=TITLE"),
        api("/names?target=TARGET"),
        api("/names?resource=NUMBER"),
    ],
    "POST /api/v1/names": [
        api("/names", "POST", {"names": [{"name": "NAME", "target": ELSEWHERE}]}),
        api(
            "/names?dry_run=1",
            "POST",
            {"names": [{"name": "OWN", "target": "TARGET", "resource": "NUMBER"}]},
        ),
        api(
            "/names?dry_run=1",
            "POST",
            {"names": [{"shoulder": "ark:12345/x5", "target": "TARGET", "resource": "NUMBER"}]},
        ),
        api("/names?dry_run=1", "POST", {"names": [{"shoulder": "NAME", "resource": "NUMBER"}], "unless": "recorded"}),
    ],
    "GET /api/v1/names/<path:_>": [api("/names/NAME"), api("/names/NAME/history")],
    "PUT /api/v1/names/<path:_>": [
        api("/names/NAME", "PUT", {"target": ELSEWHERE}),
        api("/names/NAME", "PUT", {"target": "TARGET", "resource": "NUMBER"}),
        api("/names/NAME", "PUT", {"state": "reserved"}),
        api("/names/NAME?dry_run=1", "PUT", {"target": ELSEWHERE}),
    ],
    "PATCH /api/v1/names/<path:_>": [
        api("/names/NAME", "PATCH", {"metadata": {}}),
        api("/names/NAME", "PATCH", {"metadata": {"who": "W"}}, **{"If-Match": '"1"'}),
        api("/names/NAME", "PATCH", {"resource": "NUMBER"}),
    ],
    "DELETE /api/v1/names/<path:_>": [
        api("/names/NAME", "DELETE"),
        api("/names/NAME", "DELETE", **{"If-Match": '"99"'}),
    ],
    "POST /api/v1/names/<path:_>": [
        api("/names/NAME/relocate", "POST", {"target": ELSEWHERE}),
        api("/names/NAME/withdraw", "POST", {}),
        api("/names/NAME/restore", "POST", {}),
        api("/names/ark:12345/x5own/withdraw?dry_run=1", "POST", {"successor": "NAME"}),
    ],
    "GET /api/v1/openapi.json": [api("/openapi.json")],
    "GET /api/v1/operations": [api("/operations")],
    "GET /api/v1/prefixes": [api("/prefixes")],
    "GET /api/v1/prefixes/<path:_>": [api("/prefixes/NAME")],
    "PUT /api/v1/prefixes/<path:_>": [api("/prefixes/NAME", "PUT", {"who": "W"})],
    "POST /api/v1/relocations": [
        api("/relocations?dry_run=1", "POST", {"from": "TARGET", "to": ELSEWHERE}),
        api("/relocations?dry_run=1", "POST", {"from": "secret.example", "to": "elsewhere.example"}),
        api("/relocations", "POST", {"from": "https://secret.example/*", "to": ELSEWHERE}),
    ],
    "POST /api/v1/successions": [api("/successions?dry_run=1", "POST", {"prefix": "NAME", "to": "Other"})],
    # The jobs and operations of others, by their numbers.
    **{
        f"{method} /api/v1/{kind}/<int:number>{more}": [
            api(f"/{kind}/{number}{more}", method) for number in (1, 2, 3, 4)
        ]
        for kind, forms in {
            "changes": [("GET", ""), ("POST", "/apply"), ("POST", "/resume")],
            "exports": [("GET", ""), ("GET", "/file"), ("POST", "/resume")],
            "imports": [("GET", ""), ("GET", "/table"), ("POST", "/resume"), ("POST", "/undo")],
            "operations": [("GET", ""), ("POST", "/resume"), ("POST", "/stop")],
        }.items()
        for method, more in forms
    },
}

DOWNLOAD = "application/x-www-form-urlencoded"
EZID: Mapping[str, list[Send]] = {
    "GET status": [ezid("GET", "status")],
    "GET version": [ezid("GET", "version")],
    "GET login": [ezid("GET", "login")],
    "GET logout": [ezid("GET", "logout")],
    "POST download_request": [ezid("POST", "download_request", "format=csv&column=_id&column=_target", DOWNLOAD)],
    "GET id/": [
        ezid("GET", "id/NAME"),
        ezid("GET", "id/NAME?prefix_match=yes"),
        ezid("GET", "id/NAME9?prefix_match=yes"),
    ],
    "PUT id/": [
        ezid("PUT", "id/NAME", f"_target: {ELSEWHERE}\n"),
        ezid("PUT", "id/NAME?update_if_exists=yes", f"_target: {ELSEWHERE}\n"),
        ezid("PUT", "id/OWN", "_target: TARGET\n_status: reserved\n"),
    ],
    "POST id/": [
        *(ezid("POST", "id/NAME", body) for body in ("erc.what: other\n", f"_target: {ELSEWHERE}\n", "_export: no\n")),
        *(ezid("POST", "id/NAME", f"_status: {status}\n") for status in ("public", "reserved", "unavailable | x")),
    ],
    "DELETE id/": [ezid("DELETE", "id/NAME")],
    "POST shoulder/": [
        ezid("POST", "shoulder/NAME", "_target: TARGET\n"),
        ezid("POST", "shoulder/ark:/12345/x5", "_target: TARGET\n"),
    ],
    "GET download/": [ezid("GET", "download/1-NAME.csv.gz")],
}

FIELDS = {
    **dict.fromkeys(("name", "pick", "prefix", "identifier", "successor", "label", "of"), "NAME"),
    **dict.fromkeys(("target", "from", "url"), "TARGET"),
    **dict.fromkeys(("q", "m.erc.what", "title"), "TITLE"),
    **dict.fromkeys(("resource", "number"), "NUMBER"),
    "revision": "1",
    "do": "withdraw",
    "action": "edit",
    "to": ELSEWHERE,
    "until": "2999-01-01",
    "reason": "x",
    "state": "reserved",
    "account": "omar",
    "shoulder": "ark:12345/x5",
    "same": "1",
    "confirmed": "1",
}


def desk_rows(app: Flask) -> dict[str, Send]:
    """Return a request for each route of the desk, with the fields of all forms."""
    rows: dict[str, Send] = {}
    for rule in app.url_map.iter_rules():
        for method in sorted({"GET", "POST"} & (rule.methods or set())):
            if rule.endpoint.startswith("desk."):
                rows[f"{method} {rule}"] = _of_desk(method, _path(str(rule)))
    rows |= {f"{method} page of a refusal": _of_desk(method, "/desk/name", "text/html") for method in ("GET", "POST")}
    return rows


def _path(rule: str) -> str:
    path = re.sub(r"<any\((\w+).*?\):\w+>", r"\1", rule)
    path = path.replace("<int:number>", "2").replace("<kind>", "csv").replace("<name>", "omar")
    return re.sub(r"<[^>]*>", "NAME", path)


def _of_desk(method: str, path: str, accept: str = "application/json") -> Send:
    """A refusal as JSON takes a tenth of the time of its page, and no view of the desk answers as JSON."""

    def send(site: Site, right: str, subject: Subject) -> list[Any]:
        values, url = subject.in_request(FIELDS), subject.in_request(path)
        headers = {**bearer(site.tokens[right][1]), "Accept": accept}
        if method == "GET":
            queries = values, {"name": subject.name}
            return [site.client.get(url, query_string=each, headers=headers) for each in queries]
        return [site.client.post(url, data=values, headers=headers)]

    return send


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    # Each case has its own: an account has a limit of uploads.
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        yield Site(bindings)


def rows_of(site: Site) -> Iterator[tuple[str, Send]]:
    for title, sends in (*API.items(), *((f"EZID {title}", sends) for title, sends in EZID.items())):
        for number, send in enumerate(sends):
            yield f"{title} {number}", send
    yield from desk_rows(site.app).items()


def text_of(answers: list[Any], subject: Subject) -> list[tuple[int, str]]:
    """Return answers without the values that were sent, and the numbers and times that differ in each."""
    return [(each.status_code, _comparable(each, subject)) for each in answers]


def _comparable(answer: Any, subject: Subject) -> str:
    text = answer.text + answer.headers.get("Location", "") + answer.headers.get("ETag", "")
    for own in filter(None, subject):
        for spelling in (own, own.replace("ark:", "ark:/"), quote(own, safe=""), quote(own)):
            text = text.replace(spelling, "SENT")
    text = re.sub(r'"(number|created|changed|expires|started|finished|last_used|operation)": ?[^,}]*', "", text)
    text = re.sub(r"/(changes|imports|exports|answers|operations|download)/[\w-]+", "", text)
    text = re.sub(r"[Tt]he check [0-9]+", "", text)
    return re.sub(r'nonce="[^"]*"|value="[0-9a-f]{64}"|"?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"?|x5[0-9a-z]+', "", text)


def test_each_route_has_a_row(site: Site) -> None:
    routes = {
        f"{method} {rule}"
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint.startswith("management.")
    }
    assert routes == {*API}
    paths = {**dispatch._PAGES, **dispatch._FOLDERS}
    assert {f"{method} {path}" for path, methods in paths.items() for method in methods} == {*EZID}
    assert len(desk_rows(site.app)) > 100


@pytest.mark.parametrize(
    ("right", "states"),
    [
        pytest.param("bind", ["reserved", "held live"], id="bind"),
        *(pytest.param(right, STATES, id=f"{right}-each state", marks=pytest.mark.long) for right in RIGHTS),
    ],
)
def test_an_answer_about_a_name_of_others_tells_nothing_about_it(right: str, states: list[str], site: Site) -> None:
    shown = {state: site.shown_to_all(subject) for state, subject in OTHERS.items()}
    assert [state for state in HIDDEN if shown[state]] == []
    found: list[object] = []
    for title, send in rows_of(site):
        expected = text_of(send(site, right, UNKNOWN), UNKNOWN)
        for state in states:
            subject = OTHERS[state]
            if state in HIDDEN and (answers := text_of(send(site, right, subject), subject)) != expected:
                differing = [each for each in zip(answers, expected, strict=False) if each[0] != each[1]]
                found.append((title, state, differing))
            # Without the values of the name, which an answer can repeat.
            named = send(site, right, UNKNOWN._replace(name=subject.name))
            text = "".join(each.text + str(each.headers) for each in named)
            said = {each for other, secrets in OTHERS.items() for each in secrets.said(text) - shown[other]}
            found += [(title, state, said)] if said else []
    assert found == []
