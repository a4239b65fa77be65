"""The error page: it marks the place of the problem, and page, problem document and text agree."""

from __future__ import annotations

import html
import json
import re

import pytest

from ararat.identifiers.problems import problem
from ararat.middleware.resolution.forwarding import holder_elsewhere
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings
from ararat.middleware.views.error_page import excerpt, explain


@pytest.fixture
def explained(held, binding):
    store = held(
        binding("ark:12345/doc", "/doc"),
        binding("ark:12345/gone", "/gone", status="withdrawn", reason="a hoax", metadata={"what": "A hoax"}),
    )

    def explain_(identifier, root="https://r.example", inspector=None, **settings):
        return explain(resolve(identifier, store.fetch, no_rules, Settings(**settings)), root, inspector)

    return explain_


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "identifier",
    [
        "ark:12345/x!",
        "ark:12345",
        "ark:12345/nope",
        "ark:99999/x",
        "ark:12345/doc?foo",
        "ark:12345/gone",
        "ark:12345/..",
        "urn:foo:",
        "urn:f:a",
        "ark:b5072/'%<",
    ],
)
def test_page_json_and_text_have_the_same_content(explained, identifier):
    view = explained(identifier, inspector="")
    page, text = html.unescape(view.as_html().decode()), view.as_text().decode()
    document = json.loads(view.as_json())
    assert document["status"] == view.status
    assert document["type"] == "about:blank"
    assert f"{document['status']} {document['title']}" in page
    assert text.startswith(f"{document['status']} {document['title']}\n")
    for said in (document["code"], document["expected"], document["reference"], document["inspect"]):
        assert said in page
        assert said in text
    assert document["detail"] in page
    assert document["detail"][1:-1] in text
    assert document["identifier"] == identifier


def test_the_position_is_marked(explained):
    view = explained("ark:12345/x!y")
    assert '<bdi dir="ltr" translate="no">ark:12345/x<mark>!</mark>y</bdi>' in view.as_html().decode()
    assert "<dd>character 12</dd>" in view.as_html().decode()
    assert "    ark:12345/x!y\n               ^\n" in view.as_text().decode()
    assert (json.loads(view.as_json())["start"], json.loads(view.as_json())["end"]) == (11, 12)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "place"),
    [
        ("ark:12345", "before character 10"),
        ("ark:12345/x%4", "characters 12 to 13"),
        ("ark:12345/doc?foo", "characters 14 to 17"),
    ],
)
def test_positions_count_from_one(explained, identifier, place):
    assert explained(identifier).place == place


def test_no_position_marks_nothing(explained):
    for identifier in ("ark:12345/nope", "ark:12345/nope?info", "ark:12345/gone"):
        assert "<mark>" not in explained(identifier).as_html().decode()


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 5000), (2500, 2501), (2000, 4000), (4999, 5000), (5000, 5000)])
def test_a_long_identifier_is_shown_around_the_position(start, end):
    text = "ark:" + "x" * 4996
    shown = excerpt(text, problem("bad-char", start, end))
    assert len(shown.before) <= 120
    assert len(shown.marked) <= 120
    assert len(shown.after) <= 120
    assert text[start : start + len(shown.marked)] == shown.marked
    assert shown.cut_before is (start > 120)
    assert shown.cut_after is (start + len(shown.marked) + len(shown.after) < 5000)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "member", "href"),
    [
        pytest.param("ark:12345/doc/x", "container", "https://r.example/ark:12345/doc", id="container"),
        pytest.param("ark:12345/doc?foo", "description", "https://r.example/ark:12345/doc?info", id="description"),
        pytest.param("ark:12345/gone", "description", "https://r.example/ark:12345/gone?info", id="tombstone"),
        pytest.param("ark:B5072/x", "suggestion", "https://r.example/ark:b5072/x", id="what may have been meant"),
        pytest.param("ark:12345/x!", "inspect", "https://r.example/?q=ark%3A12345%2Fx%21", id="inspector"),
    ],
)
def test_a_refusal_has_links(explained, identifier, member, href):
    view = explained(identifier, inspector="")
    assert json.loads(view.as_json())[member] == href
    assert f'href="{html.escape(href)}"' in view.as_html().decode()
    assert href in view.as_text().decode()


def test_ignore_trailing_slash_false_links_to_the_name_without_the_slash(explained):
    view = explained("ark:12345/x/", ignore_trailing_slash=False)
    assert json.loads(view.as_json())["suggestion"] == "https://r.example/ark:12345/x"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("root", "inspector", "href"),
    [
        ("https://r.example", "", "https://r.example/?q=ark%3A"),
        ("/app", "/inspect", "/app/inspect/?q=ark%3A"),
        ("", "", "/?q=ark%3A"),
        ("/app", "https://inspect.example", "https://inspect.example/?q=ark%3A"),
    ],
)
def test_the_inspector_can_be_a_path_or_a_url(explained, root, inspector, href):
    assert json.loads(explained("ark:", root, inspector).as_json())["inspect"] == href


def test_without_an_inspector_there_is_no_link(explained):
    assert "inspect" not in json.loads(explained("ark:").as_json())


def test_a_tombstone_shows_the_known_metadata(explained):
    view = explained("ark:12345/gone")
    assert "a hoax" in view.as_html().decode()
    assert json.loads(view.as_json())["tombstone"]["metadata"]["what"] == "A hoax"
    assert "\nerc:\nwho: (:unav)\nwhat: A hoax\n" in view.as_text().decode()


def test_texts_of_a_refusal_contain_no_input(explained):
    view = explained("ark:12345/\u202e\x1b[2J\u0431^<script>")
    assert view.as_text().isascii()
    assert view.as_json().isascii()
    page = view.as_html().decode()
    assert "<script>" not in page
    assert not re.search("[\u202e\x1b]", page)
    assert 'title="RIGHT-TO-LEFT OVERRIDE"' in page


def test_a_withdrawn_name_with_a_successor_leads_on_with_one_filled_link(held, binding):
    moved = {"status": "withdrawn", "reason": "Recorded twice.", "successor": "ark:12345/new"}
    store = held(
        binding("ark:12345/old", "/old", metadata={"what": "The old map"}, **moved),
        binding("ark:12345/new", "/new", metadata={"what": "The better scan"}),
    )
    resolution = resolve("ark:12345/old", store.fetch, no_rules, Settings())
    view = explain(resolution, "https://r.example", "", other=store.fetch(["ark:12345/new"])["ark:12345/new"])
    page = view.as_html().decode()
    places = [
        page.index(text)
        for text in (
            *(
                "The old map",
                "<h1>This item has a new identifier.",
                'class="button" href="https://r.example/ark:12345/new"',
            ),
            *(
                "The better scan",
                "<blockquote><bdi>Recorded twice.",
                "Technical details",
                "Examine it in the inspector",
            ),
        )
    ]
    assert places == sorted(places)
    assert page.count('class="button"') == 1
    assert "<title>This item has a new identifier: The old map</title>" in page
    assert page.count("The old map") == 2  # in the title of the page, and above its heading
    assert page.index("Recorded twice.") < page.index("<h2>What it was</h2>") < page.index("Persistence")
    unknown = explain(resolution, "https://r.example", None).as_html().decode()
    assert 'rel="successor-version nofollow">Its successor<small>' in unknown


def test_a_successor_that_is_not_public_is_not_the_next_step(held, binding):
    moved = {"status": "withdrawn", "reason": "Twice.", "successor": "ark:12345/new"}
    store = held(
        binding("ark:12345/old", "/old", metadata={"what": "The old map"}, **moved),
        binding("ark:12345/new", "/new", status="reserved", metadata={"what": "Secret"}),
    )
    resolution = resolve("ark:12345/old", store.fetch, no_rules, Settings())
    view = explain(resolution, "https://r.example", "", other=store.fetch(["ark:12345/new"])["ark:12345/new"])
    page = view.as_html().decode()
    assert "<h1>This item was withdrawn.</h1>" in page
    assert 'class="button"' not in page
    assert '<span class="label">Its successor</span> <a class="mono" href="https://r.example/ark:12345/new"' in page
    assert "Secret" not in page


def test_a_part_of_a_withdrawn_name_leads_to_its_successor(held, binding):
    moved = {"status": "withdrawn", "passthrough": True, "successor": "ark:12345/new"}
    store = held(
        binding("ark:12345/old", "/old", **moved), binding("ark:12345/new", "/new", metadata={"what": "The scan"})
    )
    resolution = resolve("ark:12345/old/f1", store.fetch, no_rules, Settings())
    view = explain(resolution, "https://r.example", "", other=store.fetch(["ark:12345/new"])["ark:12345/new"])
    page = view.as_html().decode()
    assert page.count('class="button"') == 1
    assert 'rel="successor-version nofollow"><bdi>The scan</bdi><small>' in page


def test_a_correction_is_the_first_and_only_filled_link(explained):
    page = explained("ark:B5072/x", inspector="").as_html().decode()
    assert page.count('class="button"') == 1
    assert re.search("<h1>.*Did you mean<small>.*ark:b5072/x.*<details>.*Examine it in the inspector", page, re.DOTALL)
    assert "<title>This address does not contain a valid identifier: ark:B5072/x</title>" in page


@pytest.mark.parametrize(
    ("identifier", "settings", "holder"),
    [
        pytest.param("ark:/12148/btv1b8449691v/f29", {}, "National Library of France", id="another institution"),
        pytest.param("ark:/12148/btv1b8449691v", {"naans": ["12148"]}, None, id="own NAAN"),
        pytest.param("ark:12345/nope", {}, None, id="examples"),
        pytest.param("ark:bbbbb/nope", {}, None, id="not registered"),
        pytest.param("ark:12345/x!", {}, None, id="not valid"),
    ],
)
def test_an_unknown_ark_of_another_institution_names_it_and_leads_there(held, identifier, settings, holder):
    stated = Settings(**settings)
    resolution = resolve(identifier, held().fetch, no_rules, stated)
    view = explain(resolution, "https://r.example", None, holder=holder_elsewhere(resolution, stated))
    page, document = html.unescape(view.as_html().decode()), json.loads(view.as_json())
    assert document.get("holder") == holder
    assert ("This identifier belongs to" in page) == (holder is not None)
    if holder is not None:
        address = f"https://ark.bnf.fr/{identifier}"
        assert (document["elsewhere"], view.status) == (address, 404)
        assert holder in re.findall("<title>(.*?)</title>", page)[0]
        assert f'class="button" href="{address}"' in page
        assert "typing error" not in page
