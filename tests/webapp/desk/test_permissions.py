"""The permissions of each page and form of the desk. Each URL rule of the blueprint is in the table :data:`CASES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from werkzeug.test import TestResponse

from ararat.bindings import holding
from ararat.bindings.names.branding.model import Branding
from ararat.spreadsheets import sheet
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.accounts.model import Caller
from ararat.webapp.desk.administration.account_changes import CHANGES
from ararat.webapp.management import bulk, prefix_etag
from ararat.webapp.uploads.store import Uploads

from .conftest import Browser, Desk, open_desk

LIVE, RESERVED, WITHDRAWN, GRANTED = "ark:12345/x5m1", "ark:12345/x5r1", "ark:12345/x5w1", "ark:12345/x5"

TABLE = b"identifier,target\nark:12345/x5t,https://example.org/t\n"

CALLERS = ("joan", "rita", "token", "jane", "ada")
"""Joan is a curator of other names. "token" is a token of the administrator for the names of jane."""

ALL = frozenset(CALLERS)
CURATORS = ALL - {"rita"}
OF_NAMES = frozenset({"token", "jane", "ada"})
PEOPLE = ALL - {"token"}
ADMINISTRATORS = frozenset({"ada"})
OF_ADA = frozenset({"ada", "token"})
"""The callers that undo a change of the administrator, with a token or without."""
OF_UPLOAD = frozenset({"jane", "ada"})
"""The callers that see the upload 1 of jane."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request: its rule and path, its form for POST, and the callers that can make it.

    In the values of the form, "{token}" is the number of a token of the caller, "{etag}" the tag of the record, and
    "{file}" a table.
    """

    rule: str
    path: str
    permitted: AbstractSet[str]
    method: str = "GET"
    form: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def page(rule: str, permitted: AbstractSet[str] = ALL, path: str | None = None) -> Case:
    return Case(rule=f"/desk{rule}", path=f"/desk{rule if path is None else path}", permitted=permitted)


def form(rule: str, permitted: AbstractSet[str], path: str | None = None, **values: str) -> Case:
    return Case(
        rule=f"/desk{rule}",
        path=f"/desk{rule if path is None else path}",
        permitted=permitted,
        method="POST",
        form=values,
    )


PASSWORD, NEW_PASSWORD = "a map of two sheets", "correct horse battery"
"""The password of joan. The other accounts have none."""

ACCOUNT_FORMS: dict[str, dict[str, str]] = {
    "role": {"role": "curator"},
    "grant": {"prefix": "12345/x7"},
    "revoke": {"prefix": "ark:12345/y9"},
    "revoke-token": {"number": "1"},
}
"""The forms of changes of the account joan."""

CASES = (
    page(""),
    page("/names"),
    page("/names.<any(csv, jsonl):form>", path="/names.csv"),
    page("/names/selected", CURATORS, f"/names/selected?do=withdraw&pick={LIVE}"),
    form("/names/selected", ALL, do="export", pick=LIVE),
    form("/names/selected", CURATORS, do="publish", pick=RESERVED),
    form("/names/change", CURATORS, do="edit", element="erc.who", value="Noah", pick=LIVE),
    page("/labels", path=f"/labels?pick={LIVE}"),
    page("/everything.<any(csv, jsonl):form>", ADMINISTRATORS, "/everything.csv"),
    page("/exports"),
    form("/exports", ALL, form="csv"),
    page("/exports/<int:number>", frozenset(), "/exports/1"),
    page("/name", path=f"/name?name={LIVE}"),
    page("/name/metadata", OF_NAMES, f"/name/metadata?name={LIVE}"),
    form("/name/metadata", OF_NAMES, name=LIVE, revision="2", **{"m.erc.what": "A map"}),
    page("/name/parts", ALL, f"/name/parts?name={LIVE}"),
    page("/name/target", OF_NAMES, f"/name/target?name={LIVE}"),
    form("/name/target", OF_NAMES, name=LIVE, revision="2", target="https://other.example/1", same="1"),
    page("/name/texts", ADMINISTRATORS, f"/name/texts?name={LIVE}"),
    form("/name/texts", ADMINISTRATORS, name=LIVE, reason="A court order."),
    page("/name/withdraw", OF_NAMES, f"/name/withdraw?name={LIVE}"),
    form("/name/withdraw", OF_NAMES, name=LIVE, revision="2"),
    form("/name/restore", OF_NAMES, name=WITHDRAWN, revision="2"),
    page("/name/publish", OF_NAMES, f"/name/publish?name={RESERVED}"),
    form("/name/publish", OF_NAMES, name=RESERVED, revision="1"),
    form("/name/delete", OF_NAMES, name=RESERVED, revision="1"),
    form("/name/undo", OF_ADA, name=LIVE, revision="2"),
    page("/names/selected", CURATORS, f"/names/selected?do=edit&pick={LIVE}"),
    form("/names/change", CURATORS, do="withdraw", pick=LIVE),
    page("/new", CURATORS),
    page("/new/check", path="/new/check?text=ark:12345/x5a"),
    form("/new/name", OF_NAMES, text="ark:12345/x5a", target="https://example.org/a"),
    form("/new/mint", OF_NAMES, shoulder=GRANTED, count="2"),
    page("/new/minted", CURATORS),
    page("/new/minted.csv", CURATORS),
    page("/links"),
    page("/links.<any(csv, jsonl):form>", path="/links.csv"),
    page("/links/promises"),
    form("/links/relocate", OF_NAMES, name=LIVE, key=LIVE),
    page("/figures"),
    page("/figures.<any(csv, jsonl):form>", path="/figures.csv"),
    page("/requests"),
    page("/requests.<any(csv, jsonl):form>", path="/requests.csv"),
    page("/tables", CURATORS),
    form("/tables", CURATORS, file="{file}"),
    page("/tables/remembered", CURATORS),
    form("/tables/remembered", CURATORS, headings="", prefix=""),
    page("/tables/<int:number>", OF_UPLOAD, "/tables/1"),
    page("/tables/<int:number>/columns", OF_UPLOAD, "/tables/1/columns"),
    form("/tables/<int:number>/columns", OF_UPLOAD, "/tables/1/columns", read="1"),
    form("/tables/<int:number>/import", OF_UPLOAD, "/tables/1/import", job="1"),
    page("/tables/<int:number>/report.csv", OF_UPLOAD, "/tables/1/report.csv"),
    page("/tables/<int:number>/refused.<kind>", OF_UPLOAD, "/tables/1/refused.csv"),
    page("/tables/<int:number>/names.<kind>", OF_UPLOAD, "/tables/1/names.xlsx"),
    form("/tables/<int:number>/corrections", OF_UPLOAD, "/tables/1/corrections", job="1"),
    form("/tables/<int:number>/delete", OF_UPLOAD, "/tables/1/delete"),
    page("/moves", CURATORS),
    form("/moves", OF_NAMES, source="https://new.example/", destination="https://b.example/", apply="1"),
    page("/changes"),
    page("/changes.<any(csv, jsonl):form>", path="/changes.csv"),
    page("/changes/<int:number>", path="/changes/1"),
    page("/changes/<int:number>.<any(csv, jsonl):form>", path="/changes/1.csv"),
    page("/changes/<int:number>/undo", OF_ADA, "/changes/1/undo"),
    form("/changes/<int:number>/undo", OF_ADA, "/changes/1/undo"),
    form("/changes/<int:number>/undo-many", CURATORS, "/changes/1/undo-many"),
    form("/changes/<int:number>/resume", OF_ADA, "/changes/1/resume"),
    form("/changes/<int:number>/stop", OF_ADA, "/changes/1/stop"),
    page("/answers/<number>", frozenset(), "/answers/1"),
    form("/jobs/<int:number>/resume", frozenset(), "/jobs/999/resume"),
    page("/many/<int:number>", frozenset(), "/many/1"),
    form("/many/<int:number>", frozenset(), "/many/1"),
    page("/audit", ADMINISTRATORS),
    page("/audit.<any(csv, jsonl):form>", ADMINISTRATORS, "/audit.csv"),
    page("/holds"),
    page("/holds.<any(csv, jsonl):form>", path="/holds.csv"),
    page("/holds/set", OF_NAMES, f"/holds/set?name={LIVE}"),
    form("/holds/set", OF_NAMES, name=LIVE, until=f"{datetime.now(UTC) + timedelta(days=9):%Y-%m-%d}", reason="why"),
    form("/holds/release", OF_NAMES, prefix=GRANTED),
    page("/tokens"),
    form("/tokens", PEOPLE, label="new", expires=""),
    form("/tokens/revoke", PEOPLE, number="{token}"),
    page("/account"),
    form("/account/preferences", PEOPLE, display_name="The map room"),
    form("/account/password", PEOPLE, current=PASSWORD, password=NEW_PASSWORD, again=NEW_PASSWORD),
    form("/account/sessions", PEOPLE),
    page("/accounts", ADMINISTRATORS),
    page("/accounts.<any(csv, jsonl):form>", ADMINISTRATORS, "/accounts.csv"),
    form("/accounts", ADMINISTRATORS, name="new", role="administrator"),
    page("/accounts/<name>", ADMINISTRATORS, "/accounts/joan"),
    *(
        form("/accounts/<name>/<change>", ADMINISTRATORS, f"/accounts/joan/{change}", **ACCOUNT_FORMS.get(change, {}))
        for change in CHANGES
    ),
    page("/prefixes"),
    page("/prefixes.<any(csv, jsonl):form>", path="/prefixes.csv"),
    page("/prefixes/record", path=f"/prefixes/record?prefix={GRANTED}"),
    page("/prefixes/first", ADMINISTRATORS),
    form("/prefixes/first", ADMINISTRATORS, naan="12345", letters="q7", shown="ark:12345/q7"),
    page("/prefixes/edit", ADMINISTRATORS, f"/prefixes/edit?prefix={GRANTED}"),
    form("/prefixes/edit", ADMINISTRATORS, prefix="ark:12345/x7", what="Maps"),
    form("/prefixes/preview", ADMINISTRATORS, prefix="ark:12345/x7", what="Maps"),
    form("/prefixes/remove", ADMINISTRATORS, prefix="ark:12345/x8", etag="{etag}"),
    page("/prefixes/succeed", ADMINISTRATORS, "/prefixes/succeed?prefix=ark:12345/x8"),
    form("/prefixes/succeed", ADMINISTRATORS, prefix="ark:12345/x8", to="Archive", apply="1"),
    page("/prefixes/depart", ADMINISTRATORS, "/prefixes/depart?prefix=ark:12345/x8"),
    form("/prefixes/depart", ADMINISTRATORS, prefix="ark:12345/x8", resolver="https://new.example", apply="1"),
    page("/branding", ADMINISTRATORS),
    form("/branding", ADMINISTRATORS, institution="The Library", revision="1"),
    form("/branding/preview", ADMINISTRATORS, institution="The Library"),
    form("/branding/sample", ADMINISTRATORS, institution="The Library"),
    form("/branding/restore", ADMINISTRATORS, version="1", revision="1"),
)
NOT_A_PAGE = "/desk/<path:rest>"
"""The rule that answers 404 to each other path."""

OTHER_STATUSES = {
    # The job and the answer do not exist.
    **{(method, "/desk/many/1", caller): 404 for method in ("GET", "POST") for caller in ALL},
    **{("GET", "/desk/exports/1", caller): 404 for caller in ALL},
    **{("GET", "/desk/answers/1", caller): 404 for caller in ALL},
    **{("POST", "/desk/jobs/999/resume", caller): 404 for caller in ALL},
    ("POST", "/desk/moves", "joan"): 422,
    **{
        (case.method, case.path, caller): 404
        for case in CASES
        if case.permitted is OF_UPLOAD
        for caller in ("joan", "token")
    },
}
"""The requests that are refused with another status than 403. The refused names of a move are listed on a page. Uploads
of other accounts are not visible."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A desk with names, the callers that are signed in, and its content. ``restore`` undoes the changes of a test."""

    desk: Desk
    browsers: dict[str, Browser]
    secret: str
    before: tuple[Any, ...]
    restore: Callable[[], None]


def fill(desk: Desk) -> None:
    """Add names in each state, an operation, a trace, records and tokens."""
    bindings, accounts = desk.bindings, desk.accounts
    accounts.add("joan", "curator", ["ark:12345/y9"])
    accounts.set_password("joan", PASSWORD)
    for name in ("joan", "rita", "jane", "ada"):
        accounts.tokens.create(name, "own")
    bindings.bind(LIVE, "https://old.example/1")
    bindings.reserve(RESERVED)
    bindings.bind(WITHDRAWN, "/w")
    bindings.withdraw(WITHDRAWN)
    bindings.prefixes.set(GRANTED, what="Maps")
    holding.hold(bindings, GRANTED, bindings.now() + timedelta(days=9), "why", kind="prefix")
    bindings.prefixes.set("ark:12345/x8", what="Prints")
    bindings.branding.set(Branding(institution="A library"))
    ada, jane = accounts.get("ada"), accounts.get("jane")
    assert ada
    assert jane
    _, reading, lines = sheet.convert_upload(TABLE, "names.csv")
    accounts.run_in_transaction(
        lambda connection: Uploads(accounts).add(connection, jane.number, "names.csv", TABLE, reading, lines)
    )
    done = bulk.relocate_prefix(accounts, Caller(account=ada), "https://old.example/", "https://new.example/")
    assert done.operation == 1
    now = bindings.now()
    Links(bindings).record(
        [
            TracedTarget(
                identifier=LIVE,
                key=LIVE,
                target="https://new.example/1",
                state="moved",
                status=200,
                url="https://moved.example/1",
                code="found",
                sentence="The target moved.",
                since=now,
                traced=now,
            )
        ]
    )


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, keep_copy: Callable[..., Callable[[], None]]) -> Iterator[Filled]:
    """One desk for all tests of this file."""
    folder = tmp_path_factory.mktemp("permissions")
    desk = open_desk(folder)
    fill(desk)
    browsers = {name: desk.signed_in(name) for name in PEOPLE}
    sessions = {name: browser.client.get_cookie("ararat") for name, browser in browsers.items()}
    _, secret = desk.accounts.tokens.create("ada", "some", None, [GRANTED])
    restore_database = keep_copy(folder / "bindings.sqlite")

    def restore() -> None:
        restore_database()
        for name, cookie in sessions.items():
            assert cookie
            browsers[name].client.set_cookie("ararat", cookie.value)

    yield Filled(desk=desk, browsers=browsers, secret=secret, before=snapshot(desk), restore=restore)
    desk.bindings.close()


@pytest.fixture
def filled(opened: Filled) -> Filled:
    """The desk before the change of any test."""
    opened.restore()
    return opened


def send(filled: Filled, case: Case, caller: str) -> TestResponse:
    """Send the request of a case as a caller."""
    desk, values = filled.desk, dict[str, Any](case.form)
    if "file" in values:
        values["file"] = BytesIO(TABLE), "names.csv"
    if caller == "token":
        client, headers = desk.app.test_client(), {"Authorization": f"Bearer {filled.secret}"}
        values |= {name: "1" for name, text in values.items() if text == "{token}"}
        return client.open(case.path, method=case.method, data=values or None, headers=headers)
    browser = filled.browsers[caller]
    number = str(desk.accounts.tokens.list(caller)[0].number)
    values |= {name: number for name, text in values.items() if text == "{token}"}
    return browser.get(case.path) if case.method == "GET" else browser.post(case.path, values)


def snapshot(desk: Desk) -> tuple[Any, ...]:
    """Return everything that a form can change."""
    with desk.bindings.store.snapshot() as view:
        names = list(view.bindings())
    revoked: list[tuple[str, datetime | None]] = [
        (account.name, token.revoked)
        for account in desk.accounts.list()
        for token in desk.accounts.tokens.list(account.name)
    ]
    branding = desk.bindings.branding.history()
    return names, desk.bindings.prefixes.list(), desk.bindings.rules.list(), branding, desk.accounts.list(), revoked


def test_each_rule_is_in_the_table(desk: Desk) -> None:
    rules = {
        (method, rule.rule)
        for rule in desk.app.url_map.iter_rules()
        for method in rule.methods or ()
        if rule.endpoint.startswith("desk.") and rule.rule != NOT_A_PAGE and method in ("GET", "POST", "PUT", "DELETE")
    }
    assert rules == {(case.method, case.rule) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_request_is_permitted_to_its_callers_only(filled: Filled, case: Case) -> None:
    desk = filled.desk
    if "{etag}" in case.form.values():
        record = desk.bindings.prefixes.get(case.form["prefix"])
        assert record
        case = replace(case, form={**case.form, "etag": prefix_etag(record)})
    client = desk.app.test_client()
    for headers in ({}, {"Cookie": "ararat=nonsense"}):
        response = client.open(case.path, method=case.method, data=case.form or None, headers=headers)
        assert response.status_code == 303
        assert response.location.startswith("/sign-in?next=/desk")
    for caller in CALLERS:
        if caller not in case.permitted:
            expected = OTHER_STATUSES.get((case.method, case.path, caller), 403)
            assert send(filled, case, caller).status_code == expected, caller
    assert snapshot(desk) == filled.before
    # The second caller that makes a change can meet a conflict.
    for number, caller in enumerate(each for each in CALLERS if each in case.permitted):
        status = send(filled, case, caller).status_code
        assert status in (200, 303) if number == 0 or case.method == "GET" else status not in (401, 403), caller
