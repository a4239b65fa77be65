"""Names below a delegated prefix lead to the resolver that has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.middleware import ResolverMiddleware, open_bindings

LOWER, UPPER = "https://lower.example", "https://upper.example"


@pytest.fixture
def bindings(tmp_path: Path) -> Iterator[Bindings]:
    with open_bindings(f"{tmp_path}/bindings.sqlite", create=True) as opened:
        opened.prefixes.set("12345/x5", what="Maps", state="delegated", resolver=LOWER, minter=f"{LOWER}/mint")
        opened.prefixes.set("urn:nbn:se:uu:", state="delegated", resolver=LOWER)
        yield opened


def client_of(bindings: Bindings, **settings: Any) -> Client:
    def site(environ: Any, start_response: Any) -> list[bytes]:
        start_response("404 Not Found", [])
        return [b""]

    return Client(ResolverMiddleware(site, bindings, prefix=UPPER, **settings))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path",
    [
        "ark:12345/x5a",
        "ark:/12345/x5-a",
        "ark:/12345/x5a.f2.f1?info",
        "ark:12345/x5a?",
        "ark:12345/x5a??",
        "ark:12345/x5a/b?q=1&c=%20",
        "ark:12345/x5%2Da",
        "ark:12345/x5a.",
        "ark:12345/x5a/",
        "urn:nbn:se:uu:diva-1",
        "urn:NBN:se:uu:diva-1?+info=a",
    ],
)
@pytest.mark.parametrize("naans", [None, ["12345"], ["67890"]], ids=["any NAAN", "own NAAN", "NAAN of others"])
def test_a_name_leads_on_as_received(bindings: Bindings, path: str, naans: list[str] | None) -> None:
    response = client_of(bindings, naans=naans, forward=bool(naans)).get(f"/{path}")
    assert (response.status_code, response.headers["Location"]) == (302, f"{LOWER}/{path}")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "sent"),
    [
        pytest.param("ARK:/12345/x5a", "ark:/12345/x5a", id="the label of an ARK"),
        pytest.param("aRk:12-345/x5-a?q", "ark:12345/x5-a?q", id="hyphens in the NAAN"),
        pytest.param("URN:nbn:se:uu:diva-1", "urn:nbn:se:uu:diva-1", id="the label of a URN"),
        pytest.param("urn%3Anbn%3Ase:uu:diva-1", "urn:nbn:se:uu:diva-1", id="encoded colons"),
    ],
)
def test_a_delegated_name_is_spelled_as_a_forwarded_one(bindings: Bindings, path: str, sent: str) -> None:
    assert client_of(bindings).get(f"/{path}").headers["Location"] == f"{LOWER}/{sent}"


def test_a_bound_name_and_a_longer_rule_precede_the_delegation(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5bound", "https://example.org/1", passthrough=True)
    bindings.bind("ark:12345/x5gone", "https://example.org/2")
    bindings.withdraw("ark:12345/x5gone")
    bindings.reserve("ark:12345/x5later")
    bindings.rules.set("12345/x5", "https://example.org/same/${suffix}")
    bindings.rules.set("12345/x57", "https://example.org/longer/${suffix}")
    client = client_of(bindings)
    answers = {name: client.get(f"/ark:12345/{name}") for name in ("x5bound", "x5bound/b", "x5gone", "x57a", "x5a")}
    assert [(each.status_code, each.headers.get("Location")) for each in answers.values()] == [
        (302, "https://example.org/1"),
        (302, "https://example.org/1/b"),
        (410, None),
        (302, "https://example.org/longer/a"),
        (302, f"{LOWER}/ark:12345/x5a"),
    ]
    # A reserved name is not public, and has the answer of an unknown name.
    assert client.get("/ark:12345/x5later").headers["Location"] == f"{LOWER}/ark:12345/x5later"
    assert client.get("/ark:12345/x5bound?info").status_code == 200


def test_the_description_of_the_prefix_shows_its_state(bindings: Bindings) -> None:
    client = client_of(bindings)
    shown = client.get("/ark:12345/x5?info&format=json").get_json()
    assert (shown["state"], shown["resolver"], shown["minter"]) == ("delegated", LOWER, f"{LOWER}/mint")
    page = client.get("/ark:12345/x5", headers={"Accept": "text/html", "Accept-Language": "de"}).text
    assert "Eine andere Website gibt Auskunft" in page


def test_names_of_a_closed_network_lead_to_its_page(bindings: Bindings) -> None:
    about = "https://example.org/closed"
    bindings.prefixes.set("12345/c1", state="delegated", about=about)
    for path in ("ark:12345/c1a", "ark:12345/c1a?info"):
        response = client_of(bindings).get(f"/{path}")
        assert (response.status_code, response.headers["Location"]) == (303, about)


def test_a_template_gets_the_name_as_received(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/t1", state="delegated", resolver=f"{LOWER}/?id=${{pid:given}}")
    response = client_of(bindings).get("/ark:/12345/t1-a?info")
    assert response.headers["Location"] == f"{LOWER}/?id=ark:12345/t1-a&info"


@pytest.mark.parametrize(("resolver", "status"), [(None, 302), ("", 404)], ids=["was delegated", "was not"])
def test_a_retired_prefix_goes_on_resolving(bindings: Bindings, resolver: str | None, status: int) -> None:
    bindings.bind("ark:12345/x5bound", "https://example.org/1")
    bindings.prefixes.set("12345/x5", state="retired", resolver=resolver)
    client = client_of(bindings)
    assert client.get("/ark:12345/x5bound").headers["Location"] == "https://example.org/1"
    assert client.get("/ark:12345/x5a").status_code == status


@pytest.mark.one_setup
@pytest.mark.parametrize("resolver", [UPPER, "http://upper.example/"])
def test_a_resolver_that_is_this_one_is_no_loop(bindings: Bindings, resolver: str) -> None:
    bindings.prefixes.set("12345/x5", resolver=resolver)
    response = client_of(bindings).get("/ark:12345/x5a", headers={"Accept": "application/json"})
    assert (response.status_code, "delegated" in response.text) == (404, True)
