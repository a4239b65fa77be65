"""Names below NAAN 99999 for tests: all doors make them with the setting, and no feed or log has them."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.test import Client, TestResponse

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.naming import NamingRules, naans_for_tests
from ararat.bindings.names.selection import Selection
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.resolution.description_formats import FORMATS
from ararat.middleware.resolution.settings import Settings
from ararat.tracing.target import prepare
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.logs import Log

SITE = "https://site.example"
NAME = "ark:99999/fk4x"
NOTE = "This identifier is only for tests. It can stop working at any time. Do not cite it."
METADATA = {
    "who": "Noah",
    "what": "The Ark",
    "when": "2026",
    "persistence": "kept",
    "schema": '{"@type": "Book", "creativeWorkStatus": "Published"}',
}


@pytest.fixture
def bindings(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(tmp_path / "tests.sqlite", test_naans=["99-999"])


@pytest.fixture
def site(bindings: Bindings) -> Client:
    bindings.bind("ark:/99999/fk4-x", "https://example.org/1", metadata=METADATA, listed=True)
    bindings.bind("ark:12345/x", "https://example.org/2")
    settings = {"atom": "/changes.atom", "oai": "/oai", "sitemap": "/names.xml"}
    return Client(ResolverMiddleware(_no_page, bindings, prefix=SITE, naans=["12345"], **settings))  # type: ignore[arg-type]


def _no_page(environ: object, start_response: Callable[..., object]) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return [b""]


def get(site: Client, path: str, **fields: str) -> TestResponse:
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    return site.get(path, base_url=SITE, headers=headers, environ_overrides={"REQUEST_URI": path})


def _sitemap(site: Client) -> str:
    """Return the only file of the sitemap."""
    index = get(site, "/names.xml").text
    return get(site, index.partition(f"<loc>{SITE}")[2].partition("</loc>")[0]).text


def _minted(bindings: Bindings) -> str:
    [name] = mint(bindings, "99999/fk4")
    bindings.bind(name, "https://example.org/m")
    return name


def _imported(bindings: Bindings) -> str:
    table = b"identifier,target,listed,test\nark:/99999/fk4i,https://example.org/i,yes,yes\n"
    summary = import_table(bindings, io.BytesIO(table), format="csv")
    assert (summary.refusals, summary.written) == (0, True), summary.listed
    return "ark:99999/fk4i"


def _bound(bindings: Bindings) -> str:
    bindings.bind("ark:/99999/fk4-b", "https://example.org/b", listed=True)
    return "ark:99999/fk4b"


def _reserved(bindings: Bindings) -> str:
    bindings.reserve("ark:99999/fk4r", "https://example.org/r")
    bindings.bind("ark:99999/fk4r", "https://example.org/r", listed=True)
    return "ark:99999/fk4r"


def _by_api(bindings: Bindings) -> str:
    client, secret = _client(bindings)
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"target": "https://example.org/a", "listed": True}
    answer = client.put("/api/v1/names/ark:99999/fk4a", json=body, headers=headers)
    assert (answer.status_code, answer.json and answer.json["test"]) == (201, True), answer.text
    wanted = {"names": [{"name": "ark:99999/fk4p", "target": "/p"}, {"shoulder": "ark:99999/fk4"}]}
    made = client.post("/api/v1/names", json=wanted, headers=headers)
    assert made.status_code == 201, made.text
    patch = headers | {"Content-Type": "application/merge-patch+json"}
    answer = client.patch("/api/v1/names/ark:99999/fk4a", data=b'{"listed": true}', headers=patch)
    assert (answer.status_code, answer.json and answer.json["listed"]) == (200, False), answer.text
    return "ark:99999/fk4a"


def _by_ezid(bindings: Bindings) -> str:
    client, secret = _client(bindings)
    headers = {"Authorization": f"Basic {b64encode(f'jane:{secret}'.encode()).decode()}"}
    data = b"_target: https://example.org/e"
    bindings.prefixes.set("ark:99999/fk4", what="Tests")
    assert client.post("/ezid/shoulder/ark:/99999/fk4", data=data, headers=headers).status_code == 201
    answer = client.put("/ezid/id/ark:/99999/fk4e", data=data, headers=headers)
    assert (answer.status_code, answer.text) == (201, "success: ark:/99999/fk4e")
    assert "_export: no" in client.get("/ezid/id/ark:/99999/fk4e").text
    return "ark:99999/fk4e"


def _client(bindings: Bindings) -> tuple[Client, str]:
    accounts = Accounts(bindings)
    if not accounts.list():
        accounts.add("jane", "administrator", ["ark:99999/fk4"], "correct horse battery")
    _, secret = accounts.tokens.create("jane", "tests", prefixes=["99999/fk4"])
    return create_app(bindings, prefix=SITE, ezid="/ezid", trace_elsewhere=False).test_client(), secret


DOORS = [_bound, _reserved, _minted, _imported, _by_api, _by_ezid]


@pytest.mark.one_setup
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.strip("_"))
def test_every_door_makes_a_name_that_is_in_no_feed(bindings: Bindings, door: Callable[[Bindings], str]) -> None:
    name = door(bindings)
    found = bindings.lookup(name)
    assert found is not None
    assert (found.is_test, found.listed, found.as_dict()["test"]) == (True, False, True)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "refused",
    [
        lambda bindings: bindings.bind(NAME, "/x"),
        lambda bindings: bindings.reserve(NAME),
        lambda bindings: mint(bindings, "99999/fk4"),
        lambda bindings: bindings.prefixes.set("99999/fk4", what="Tests"),
        lambda bindings: bindings.rules.set("99999/fk4", "/x/${value}"),
        lambda bindings: Accounts(bindings).add("jane", "curator", ["ark:99999/fk4"]),
    ],
    ids=["bind", "reserve", "mint", "prefix", "rule", "account"],
)
def test_without_the_setting_nothing_is_below_the_naan(tmp_path: Path, refused: Callable[[Bindings], object]) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        with pytest.raises(BindingError) as caught:
            refused(bindings)
        assert caught.value.code == "naan-reserved-invalid"


@pytest.mark.parametrize("given", [["12345"], ["99999/fk4"], [""], "99999"], ids=str)
def test_only_the_reserved_naan_is_for_tests(given: list[str]) -> None:
    for check in (
        naans_for_tests,
        lambda naans: Settings(test_naans=naans),
        lambda naans: open_bindings("x.db", test_naans=naans),
    ):
        with pytest.raises(ValueError, match=r"\Atest_naans: "):
            check(given)


def test_the_middleware_and_the_bindings_share_the_setting(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        site = Client(ResolverMiddleware(_no_page, bindings, prefix=SITE, test_naans=["99999"]))
        bindings.bind(NAME, "https://example.org/1")
        assert get(site, f"/{NAME}").headers["Location"] == "https://example.org/1"
        later = Client(ResolverMiddleware(_no_page, bindings, prefix=SITE))
        assert get(later, f"/{NAME}").status_code == 302
    with open_bindings(tmp_path / "names.sqlite") as bindings:
        without = Client(ResolverMiddleware(_no_page, bindings, prefix=SITE))
        refused = get(without, f"/{NAME}", Accept="application/problem+json")
        assert (refused.status_code, json.loads(refused.data)["code"]) == (404, "naan-reserved-invalid")


def test_the_resolver_answers_every_spelling_and_cites_none(site: Client) -> None:
    for spelling in ("ark:/99999/fk4x", "ark:9-9999/fk4-x", "ark:99999/fk4x/", "ARK:99999/fk4x"):
        answer = get(site, f"/{spelling}")
        assert (answer.status_code, answer.headers["Location"]) == (302, "https://example.org/1"), spelling
        assert "cite-as" not in str(answer.headers)
    assert "cite-as" in str(get(site, "/ark:12345/x").headers)
    unknown = get(site, "/ark:99999/912148_x", Accept="application/problem+json")
    assert (unknown.status_code, json.loads(unknown.data)["code"]) == (404, "not-bound")


@pytest.mark.one_setup
@pytest.mark.parametrize("form", [form.name for form in FORMATS])
def test_each_format_has_a_mark(site: Client, bindings: Bindings, form: str) -> None:
    marks = {"json": '"test": true', "jsonld": '"creativeWorkStatus": "test"', "csl": '"status": "test"'}
    answer = get(site, f"/{NAME}?info&format={form}")
    assert answer.status_code == 200
    assert marks.get(form, NOTE) in answer.text
    for cited in ("Please use the persistent", "<h2>Cite</h2>", "Cite as:", "citation_title"):
        assert cited not in answer.text
    assert "cite-as" not in answer.text
    other = get(site, f"/ark:12345/x?info&format={form}").text
    assert NOTE not in other
    assert marks.get(form, "cite-as") not in other or form in ("html", "linkset")


def test_a_recorded_datacite_record_has_a_mark(site: Client, bindings: Bindings) -> None:
    record = (
        '<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="ARK">ark:99999/fk4x'
        "</identifier><creators><creator><creatorName>Noah</creatorName></creator></creators><titles><title>The Ark"
        "</title></titles><publisher>P</publisher><publicationYear>2026</publicationYear>"
        '<resourceType resourceTypeGeneral="Other">Other</resourceType></resource>'
    )
    bindings.bind(NAME, "https://example.org/1", metadata={"datacite": record})
    assert get(site, f"/{NAME}?info&format=datacite-xml").text.endswith(f"</resource>\n<!-- {NOTE} -->\n")


def test_a_tombstone_and_a_record_have_the_mark(site: Client, bindings: Bindings) -> None:
    bindings.withdraw(NAME)
    bindings.prefixes.set("99999/fk4", what="Tests")
    gone = get(site, f"/{NAME}", Accept="text/html")
    assert (gone.status_code, NOTE in gone.text) == (410, True)
    for path in ("/ark:99999/fk4", "/ark:99999/fk4?info&format=json"):
        text = get(site, path, Accept="text/html").text
        assert NOTE in text or '"test": true' in text


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/changes.atom", "/names.xml", "/oai?verb=ListRecords&metadataPrefix=oai_dc"])
def test_no_feed_has_the_name(site: Client, path: str) -> None:
    text = _sitemap(site) if path == "/names.xml" else get(site, path).text
    assert "ark:12345/x" in text
    assert "99999" not in text


def test_the_log_does_not_have_the_name(log: Log) -> None:
    log.bindings.naming = NamingRules(test_naans=naans_for_tests(["99999"]))
    log.bindings.bind("ark:12345/x", "https://example.org/2")
    log.bindings.bind(NAME, "https://example.org/1")
    log.publish()
    assert [entry.key for entry in log.entries()] == ["ark:12345/x"]


def test_a_table_has_a_column_only_with_such_names(site: Client, bindings: Bindings, tmp_path: Path) -> None:
    rows = {row["identifier"]: row for row in csv.DictReader(io.StringIO(_exported(bindings).decode()))}
    assert (rows[NAME]["test"], rows["ark:12345/x"]["test"]) == ("yes", "")
    with open_bindings(tmp_path / "copy.sqlite", create=True, test_naans=["99999"]) as copy:
        assert import_table(copy, io.BytesIO(_exported(bindings)), format="csv").written
        assert copy.lookup(NAME) == bindings.lookup(NAME)
    (tmp_path / "names.csv").write_bytes(_exported(bindings))
    with open_bindings(tmp_path / "names.csv", test_naans=["99999"]) as served:
        assert served.lookup(NAME) is not None
    with open_bindings(tmp_path / "other.sqlite", create=True) as other:
        other.bind("ark:12345/x", "/x")
        assert b"test" not in _exported(other)
        wrong = import_table(other, io.BytesIO(b"identifier,target,test\nark:12345/y,/y,yes\n"), format="csv")
        assert [each.code for each in wrong.refused] == ["test-unknown"]


def _exported(bindings: Bindings) -> bytes:
    out = io.BytesIO()
    export_table(bindings, out)
    return out.getvalue()


def test_lists_and_the_page_of_the_desk_have_a_mark(site: Client, bindings: Bindings) -> None:
    accounts = Accounts(bindings)
    account = accounts.add("jane", "administrator")
    client = create_app(bindings, trace_elsewhere=False).test_client()
    client.set_cookie("ararat", accounts.sessions.start(account))
    assert client.get("/desk/names").text.count(" test</span>") == 1
    assert "It is only a test." in client.get(f"/?q={NAME}").text
    for name, marked in ((NAME, True), ("ark:12345/x", False)):
        page = client.get(f"/desk/name?name={name}").text
        assert ("The name is only for tests." in page, " test</span>" in page) == (marked, marked)


def test_a_trace_asks_for_the_name_only_with_the_setting() -> None:
    assert prepare("ark:/9-9999/fk4x", normalize=False, test_naans=["99999"]).request_path == "ark:/99999/fk4x"
    assert prepare("ark:99999/a:b", normalize=False, test_naans=["99999"]).request_path == "ark:99999/a:b"
    for text in ("ark:99999/fk4x", "ark:99999/a:b"):
        with pytest.raises(ValueError, match="99999"):
            prepare(text, normalize=False)


@pytest.mark.one_setup
@pytest.mark.parametrize("spelling", [NAME, "ark:/9-9999/fk4-x", f"{SITE}/{NAME}"])
def test_an_inspector_traces_the_names_for_tests_of_its_site(bindings: Bindings, spelling: str) -> None:
    bindings.bind(NAME, f"{SITE}/page")
    resolver = ResolverMiddleware(_no_page, bindings, prefix=SITE)
    client = create_app(bindings, prefix=SITE, local={SITE: resolver}, trace_elsewhere=False).test_client()
    query, events = {"q": spelling}, {"Accept": "text/event-stream"}
    answers = {
        "page": client.get("/trace", query_string=query),
        "events": client.get("/trace", query_string=query, headers=events),
        "API": client.get("/api/trace", query_string=query),
        "list": client.post("/traces", data=query),
        "list of the API": client.post("/api/traces", data=spelling, content_type="text/plain"),
    }
    assert {door: answer.status_code for door, answer in answers.items()} == dict.fromkeys(answers, 200)
    texts = {door: answer.text for door, answer in answers.items()}
    assert "2 hops" in texts.pop("list")
    assert {door: f"{SITE}/page" in text for door, text in texts.items()} == dict.fromkeys(texts, True)
    assert all("302" in texts[door] for door in ("page", "events", "API"))


def test_only_a_test_is_replaced_by_a_test(site: Client, bindings: Bindings) -> None:
    bindings.withdraw(NAME, successor="ark:99999/fk4y")
    with pytest.raises(BindingError) as caught:
        bindings.withdraw("ark:12345/x", successor=NAME)
    assert caught.value.code == "naan-reserved-invalid"
    assert bindings.list_names(Selection(prefix="ark:99999/")).names[0].successor == "ark:99999/fk4y"
