"""The reference pages show the data of the code, and parameters create no elements."""

from __future__ import annotations

import re

import pytest

from ararat.bindings.names.error_codes import ERROR_CODES
from ararat.bindings.open import open_file
from ararat.identifiers import PROBLEMS, registries
from ararat.identifiers.registries.tables import NAANS, NAMESPACES, SCHEMES
from ararat.identifiers.text import characters
from ararat.webapp import create_app

JSON = {"Accept": "application/json"}
HTMX = {"HX-Request": "true"}
HOSTILE = "\"><script>alert(1)</script>&#x202E;\u202e\u05d0\u00e9{{7*7}}'%00\n"
PAGES = {
    "/problems": "/api/problems",
    "/registries": "/api/registries",
    "/registries/naan": "/api/registries/naan",
    "/registries/naan/99152": "/api/registries/naan/99152",
    "/registries/urn": "/api/registries/urn",
    "/registries/urn/isbn": "/api/registries/urn/isbn",
    "/schemes": "/api/schemes",
    "/schemes/doi": "/api/schemes/doi",
    "/api": "/api/openapi.json",
}


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture
def page(client, read_page):
    def get(address, **query):
        response = client.get(address, query_string=query or None)
        assert (response.status_code, response.mimetype) == (200, "text/html")
        return read_page(response.text)

    return get


@pytest.mark.one_setup
@pytest.mark.parametrize(("address", "below_api"), PAGES.items(), ids=PAGES)
def test_page_json_and_api_have_the_same_content(client, page, address, below_api):
    shown = page(address)
    assert len(shown.all("h1")) == 1
    assert shown.one("title").text.endswith(" - Ararat")
    answer, same = client.get(address, headers=JSON), client.get(below_api)
    assert answer.json == same.json
    assert (answer.mimetype, same.mimetype) == ("application/json", "application/json")
    assert answer.data.isascii()
    assert "Accept" in answer.vary
    assert answer.headers["Access-Control-Allow-Origin"] == same.headers["Access-Control-Allow-Origin"] == "*"
    assert shown.one("link", rel="alternate", type="application/json").attributes["href"] == below_api


def test_every_footer_links_to_every_page(page):
    footer = {link.attributes["href"] for link in page("/").one("footer").all("a")}
    assert footer - {"/policy"} == {
        address for address in PAGES if address.count("/") == 1 or address[-4:] in ("naan", "/urn")
    } - {"/registries"}
    assert page("/registries/naan").all("a", href="/registries")


def test_the_page_of_the_api_shows_no_markup_of_its_description(client):
    assert "`registry`" in client.get("/api/openapi.json").text
    assert "`" not in client.get("/api").text


def test_every_problem_code_has_an_anchor_and_an_example(page):
    shown = page("/problems")
    assert {section.attributes["id"] for section in shown.all("section")} == {*PROBLEMS, *ERROR_CODES}
    linked = {link.attributes["href"] for link in shown.all("a")}
    assert {f"#{code}" for code in PROBLEMS} <= linked
    card = page("/", q="ark:12345/x!")
    assert card.all("a", href="/problems#bad-char")


# Registries -----------------------------------------------------------------------------------------------------------


def test_a_holder_is_found_by_naan_and_by_name_without_accents(page):
    for query in ("12148", "BIBLIOTHEQUE nat france", "Bibliothe\u0300que nationale de France"):
        assert page("/registries/naan", q=query).all("a", href="/registries/naan/12148")


def test_a_search_has_linked_pages(client, page):
    everything, first = len(registries.current().table(NAANS).records), page("/registries/naan")
    assert len(first.one("tbody").all("tr")) == 50
    assert first.one("a", rel="next").attributes["href"] == "/registries/naan?page=2"
    assert page("/registries/naan", page=2).one("a", rel="prev").attributes["href"] == "/registries/naan"
    count = client.get("/api/registries/naan").json["pages"]
    answers = [client.get("/api/registries/naan", query_string={"page": n + 1}).json for n in range(count)]
    found = [each["naan"] for answer in answers for each in answer["found"]]
    assert len(found) == len(set(found)) == answers[0]["total"] == everything > 1400


def test_an_empty_search_result_names_the_registry(page):
    shown = page("/registries/naan", q="qqqqq")
    assert "No holder" in shown.one("h2").text
    assert registries.current().table(NAANS).snapshot.date in shown.text
    assert "This page is empty" in page("/registries/naan", page=999).text


def test_htmx_gets_the_result_with_an_announcement(client, read_page):
    shown = read_page(client.get("/registries/naan?q=12148", headers=HTMX).text)
    assert shown.all("form") == []
    said = shown.one("p", id="said")
    assert (said.text, said.attributes["hx-swap-oob"]) == ("1 holder", "innerHTML")
    restored = client.get("/registries/naan?q=12148", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<form" in restored.text


def test_a_naan_page_shows_the_shoulders_and_their_resolvers(page):
    text = page("/registries/naan/99152").text
    for each in registries.of_naan("99152")["shoulders"]:
        assert each["name"] in text
        assert each["resolver"]["template"] in text
    assert "invalid ARKs" in page("/registries/naan/99999").text


@pytest.mark.one_setup
@pytest.mark.parametrize("kind", [NAANS, NAMESPACES, SCHEMES], ids=lambda kind: kind.name)
def test_every_registry_entry_has_a_page(client, kind):
    place = {"naan": "registries/naan", "urn-namespaces": "registries/urn", "uri-schemes": "schemes"}[kind.name]
    for key in list(registries.current().table(kind).records)[::25]:
        response = client.get(f"/{place}/{key}")
        assert response.status_code == 200, key
        assert response.text.count("<h1>") == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "address",
    [
        "/registries/naan/x",
        "/registries/urn/x--",
        "/schemes/nope",
        "/registries/naan/%E2%80%AE",
        "/schemes/%3Cscript%3E",
    ],
)
def test_an_unregistered_entry_is_not_found(client, address):
    problem = client.get(address, headers=JSON)
    assert (problem.status_code, problem.json["code"]) == (404, "not-registered")
    answer = client.get(address)
    assert answer.status_code == 404
    assert "This copy of the registry" in answer.text


@pytest.mark.one_setup
@pytest.mark.parametrize("number", ["0", "-1", "x", "", "1e3", "\u0661", "9" * 40, HOSTILE])
def test_an_invalid_page_number_is_refused(client, number):
    response = client.get("/registries/naan", query_string={"page": number}, headers=JSON)
    assert (response.status_code, response.json["code"]) == (400, "parameter")
    assert response.data.isascii()


@pytest.mark.one_setup
@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("names", [("q", "nothing"), ("page",)])
def test_parameters_create_no_elements(client, read_page, address, names):
    text = client.get(address, query_string=dict.fromkeys(names, HOSTILE)).text
    shown = read_page(text)
    assert [script for script in shown.all("script") if "/static/" not in script.attributes["src"]] == []
    assert "49" not in {element.text for element in shown.walk()}
    assert not characters.HIDDEN.search(text.replace("\n", "").replace("\0", ""))
    for link in shown.all("a"):
        assert re.match("[/#]|https?://", link.attributes["href"])


# Health ---------------------------------------------------------------------------------------------------------------

HELP = "/docs/troubleshooting#a-name-answers-503"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("reachable", "status", "said"),
    [
        pytest.param(
            True, 200, {"status": "ok", "bindings": "readable", "names": 1, "names_exact": True}, id="readable"
        ),
        pytest.param(
            False, 503, {"status": "failing", "bindings": "unreadable", "documentation": HELP}, id="unreadable"
        ),
    ],
)
def test_healthz_reports_whether_the_bindings_can_be_read(bound, reachable, status, said):
    response = create_app(bound({"ark:12345/x": "located"}, reachable=reachable)).test_client().get("/healthz")
    assert (response.status_code, response.json) == (status, said)
    assert response.headers["Cache-Control"] == "no-store"


def test_healthz_contains_the_state_of_a_file(tmp_path):
    file = tmp_path / "names.csv"
    file.write_text("identifier,target\nark:12345/a,/1\n")

    def health():
        with open_file(file) as bindings:
            return create_app(bindings).test_client().get("/healthz").json

    readable = {"status": "ok", "bindings": "readable", "names": 1, "names_exact": True}
    assert health() == readable | {"file": "served"}
    file.write_text("identifier,target\nark:12345/a,/2\n")
    assert health() == readable | {"file": "refused"}
    file.with_name("names.csv.served").unlink()
    file.with_name("names.csv.served").mkdir()
    assert health() == readable | {"file": "unrecorded"}
    file.write_text("target\n")
    assert health() == {"status": "failing", "bindings": "unreadable", "file": "refused", "documentation": HELP}


def test_healthz_refers_to_a_heading_of_the_documentation(client):
    page, _, anchor = HELP.partition("#")
    assert f'id="{anchor}"' in client.get(page).text


def test_healthz_works_without_bindings(client):
    assert client.get("/healthz").json == {"status": "ok", "bindings": "none"}


def test_healthz_counts_the_values_of_x_forwarded_for_on_request(client):
    fields = {"X-Forwarded-For": "192.0.2.1,, 192.0.2.2"}
    answer = client.get("/healthz?forwarded", headers=fields).json
    assert answer == {
        "status": "ok",
        "bindings": "none",
        "forwarded": {"values": 2, "position": 0, "scheme": "http", "by_server": False},
    }


def test_robots_may_read_the_reference_but_not_searches(client):
    rules = client.get("/robots.txt").text.splitlines()
    assert {"Allow: /problems$", "Allow: /registries", "Disallow: /registries/naan?", "Disallow: /"} <= set(rules)
