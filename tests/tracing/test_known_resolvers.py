"""The known resolver of an identifier, and the notes of a trace about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.names import origins
from ararat.net.hop import HopResponse
from ararat.tracing.algorithm import Hop, Start, trace
from ararat.tracing.known_resolvers import NBN_RESOLVERS, prefix_for
from ararat.webapp import create_app


@pytest.mark.parametrize(
    ("identifier", "prefix"),
    [
        pytest.param("ark:/12148/bpt6k1", "https://ark.bnf.fr", id="an ARK"),
        pytest.param("ark:12-148/bpt6k1?info", "https://ark.bnf.fr", id="hyphens and an inflection"),
        pytest.param("https://n2t.net/ark:/12148/bpt6k1", "https://ark.bnf.fr", id="an address with an ARK in it"),
        pytest.param("ark:bbbbb/x", None, id="a NAAN that is not registered"),
        pytest.param("urn:nbn:de:101:1-201102033592", "https://nbn-resolving.org", id="a German NBN"),
        pytest.param("URN:NBN:FI-fe20031181", "https://urn.fi", id="a Finnish NBN"),
        pytest.param("urn:nbn:zz:1-2", None, id="an NBN without a known resolver"),
        pytest.param("urn:nbn:define-1", None, id="no country's code"),
        pytest.param("urn:isbn:0451450523", None, id="another namespace"),
        pytest.param("nonsense", None, id="no identifier"),
        pytest.param("ark:99999/x", None, id="a NAAN that is never resolved"),
    ],
)
def test_known_resolvers_of_examples(identifier, prefix):
    assert prefix_for(identifier) == prefix


def test_the_page_lists_every_national_resolver():
    table = (Path(__file__).parents[2] / "docs" / "standards.md").read_text("utf-8")
    listed = re.findall(r"^\| `urn:nbn:(\w\w)` \| `(.+)` \|$", table, re.MULTILINE)
    assert dict(listed) == NBN_RESOLVERS


@pytest.mark.parametrize("prefix", NBN_RESOLVERS.values())
def test_every_listed_resolver_is_a_prefix(prefix):
    assert origins.check_prefix(prefix) == prefix


def codes(*locations, resolver="https://n2t.net", identifier="ark:/12148/bpt6k1"):
    """Return the notes about the known resolver, on the start and on each hop of a chain."""
    answers = [HopResponse(302, "Found", (("Location", location),)) for location in locations]
    script = iter([*answers, HopResponse(200, "OK", ())])
    events = trace(identifier, fetch=lambda method, url, deadline: next(script), resolver=resolver)
    return [
        [note.code for note in event.notes if "expected" in note.code]
        for event in events
        if isinstance(event, Start | Hop)
    ]


def test_a_hop_at_the_known_resolver_has_a_note():
    assert codes("https://ark.bnf.fr/ark:/12148/bpt6k1", "https://gallica.bnf.fr/x") == [
        [],
        [],
        ["expected-resolver"],
        [],
    ]


# ARK-132
def test_a_redirect_of_the_official_resolver_to_another_host_has_a_note():
    assert codes("https://evil.example/x") == [[], ["other-than-expected"], []]
    assert codes("https://arks.org/ark:/12148/bpt6k1", "https://ark.bnf.fr/x") == [[], [], [], []]
    assert codes("mailto:x@evil.example") == [[], []]


def test_a_selected_resolver_other_than_the_known_one_has_a_note():
    assert codes(resolver="https://r.example") == [[], ["resolver-expected"]]
    assert codes(resolver="https://ark.bnf.fr") == [[], ["expected-resolver"]]


def test_the_page_can_use_the_known_resolver():
    client = create_app(trace_elsewhere=False).test_client()
    known: Any = client.get("/api/trace?q=ark:12148/x&resolver=registry")
    assert (known.status_code, known.json["code"]) == (403, "not-asked")
    assert "https://ark.bnf.fr" in known.json["detail"]
    unknown: Any = client.get("/api/trace?q=ark:bbbbb/x&resolver=registry")
    assert (unknown.status_code, unknown.json["code"]) == (400, "no-resolver")


def test_without_a_known_resolver_there_is_no_note():
    assert codes("https://evil.example/ark:bbbbb/x", identifier="ark:bbbbb/x") == [[], [], []]
