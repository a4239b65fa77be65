"""The description of a binding in its three forms."""

from __future__ import annotations

import json
import re

import pytest

from ararat.bindings.names.branding.model import Branding
from ararat.middleware.views.description import NO_STATEMENT, describe
from ararat.middleware.views.presentation import Presentation

FULL = {
    "who": "\u0411\u0438\u0431\u043b\u0438\u043e\u0442\u0435\u043a\u0430",
    "what": "A document",
    "when": "2020",
    "where": "shelf 12",
    "persistence": "lifetime",
    "availability": "lifetime",
    "variance": "immutable",
    "allocated": "2020-10-04",
    "policy": "https://example.org/policy",
}
FORMS = ("as_html", "as_json", "as_text")


def told(view, form: str) -> str:
    return getattr(view, form)().decode("utf-8")


# POL-033, ARK-040, ARK-041
# ARK-008
@pytest.mark.one_setup
@pytest.mark.parametrize("form", FORMS)
def test_every_known_element_is_shown(binding, form):
    text = told(describe(binding("ark:12345/doc", "https://example.org/doc", metadata=FULL), "https://r.example"), form)
    if form == "as_json":
        assert json.loads(text)["metadata"] == FULL
    else:
        assert all(value in text for value in FULL.values())
    assert "https://r.example/ark:12345/doc" in text
    assert "https://example.org/doc" in text
    assert "2026-10-04" in text
    assert NO_STATEMENT not in text


# Obligation 35, ARK-007
@pytest.mark.one_setup
@pytest.mark.parametrize("form", FORMS)
def test_unknown_elements_are_omitted_and_the_missing_promise_is_stated(binding, form):
    text = told(describe(binding("ark:12345/bare", "https://example.org/bare"), ""), form).lower()
    assert text.count(NO_STATEMENT) == 1
    if form == "as_text":
        # An ERC record has all elements of the kernel, and a code for an unknown value.
        assert re.findall("^(.*): \\(:unav\\)$", text, re.MULTILINE) == ["who", "what", "when"]
        text = text.replace("who: (:unav)\n", "")
    assert not re.search(
        r"\b(none|null|unknown|availability|variance|allocated|who)\b",
        re.sub("<style>.*</style>", "", text, flags=re.DOTALL),
    )


@pytest.mark.one_setup
@pytest.mark.parametrize("form", FORMS)
def test_the_description_of_a_withdrawn_name_is_its_tombstone(binding, form):
    gone = binding(
        "ark:12345/gone", "https://example.org/gone", status="withdrawn", reason="a hoax", metadata={"what": "A hoax"}
    )
    text = told(describe(gone, ""), form)
    assert ("was withdrawn" if form == "as_html" else "withdrawn") in text
    assert "a hoax" in text
    assert "https://example.org/gone" not in text


@pytest.mark.parametrize(
    ("metadata", "heading", "cited"),
    [
        ({"what": "(:unav)", "who": "Ada"}, "ark:12345/doc", None),
        ({"what": "(:unkn) Vase", "who": "(:unkn) anonymous"}, "Vase", "anonymous. Vase. "),
        ({"what": "(:unas)", "dc.title": "Bowl"}, "Bowl", "Bowl. "),
    ],
    ids=["only a code", "a code and a title", "the title of Dublin Core"],
)
def test_no_heading_and_no_citation_has_a_code(binding, metadata, heading, cited):
    view = describe(binding("ark:12345/doc", "/1", metadata=metadata), "")
    assert view.citation_text(None) == (cited and f"{cited}/ark:12345/doc")
    page = view.as_html().decode()
    assert re.search(rf"<h1[^>]*><bdi[^>]*>{heading}</bdi></h1>", page)
    assert "(:un" not in page.partition("<details")[0]


def test_page_shows_a_value_code_in_words(binding):
    elements = {"who": "(:unkn) perhaps Noah", "when": "(:zzzz)", "persistence": "(:tba) in 2030", "how": "(:unap)"}
    page = told(describe(binding("ark:12345/doc", "/1", metadata=elements), ""), "as_html")
    for words in (
        "known to be unknown: <bdi>perhaps Noah</bdi></dd>",
        "to be assigned or announced later: <bdi>in 2030</bdi>",
        "not applicable, makes no sense</dd>",
    ):
        assert words in page.replace("\n", "")
    assert "<bdi>(:zzzz)</bdi></dd>" in page.replace("\n", "")


DATACITE = '<resource xmlns="http://datacite.org/schema/kernel-4">\n<!-- <script> \u202e -->\n</resource>'


def test_page_shows_documents_as_text(binding):
    elements = {"datacite": DATACITE, "schema": '{"@type": "Map"}', "dc.title": "The Ark"}
    view = describe(binding("ark:12345/doc", "/1", metadata=elements), "")
    page = told(view, "as_html")
    assert "&lt;!-- &lt;script&gt; <span" in page
    assert "--&gt;\n&lt;/resource&gt;" in page
    assert "\u202e" not in page
    assert "<script>" not in page
    assert "{&#34;@type&#34;: &#34;Map&#34;}" in page
    assert json.loads(view.as_json())["metadata"] == {**elements, "persistence": NO_STATEMENT}


def test_json_has_only_known_members(binding):
    view = describe(
        binding("ark:12345/doc", "https://example.org/doc", metadata={"what": "A document"}), "https://r.example"
    )
    assert json.loads(view.as_json()) == {
        "identifier": "ark:12345/doc",
        "address": "https://r.example/ark:12345/doc",
        "status": "live",
        "kind": "located",
        "target": "https://example.org/doc",
        "created": "2026-10-04T12:00:00.000000Z",
        "changed": "2026-10-04T12:00:00.000000Z",
        "metadata": {"what": "A document", "persistence": "no statement known"},
    }
    assert view.as_json().isascii()


def test_the_text_is_an_erc_record_with_one_line_per_element(binding):
    view = describe(binding("ark:12345/doc", "/doc", metadata={"what": "A document"}), "https://r.example")
    assert view.as_text().decode().splitlines() == [
        "erc:",
        "who: (:unav)",
        "what: A document",
        "when: (:unav)",
        "where: https://r.example/ark:12345/doc",
        "persistence: no statement known",
        "identifier: ark:12345/doc",
        "address: https://r.example/ark:12345/doc",
        "status: live",
        "kind: located",
        "target: https://r.example/doc",
        "created: 2026-10-04T12:00:00.000000Z",
        "changed: 2026-10-04T12:00:00.000000Z",
    ]


def test_no_value_can_start_a_line_or_reorder_one(binding):
    forged = binding(
        "ark:12345/doc",
        "/doc",
        metadata={"what": "A\nwho: another\r\u2028else\u202e"},
        status="withdrawn",
        reason="a\nb",
    )
    text = describe(forged, "").as_text().decode()
    assert "what: A%0Awho: another%0D\\u{2028}else\\u{202e}" in text.split("\n")
    assert "reason: a%0Ab" in text.split("\n")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("kind", "target", "place"),
    [
        ("located", "https://example.org/doc", "https://example.org/doc"),
        ("related", "/about", "/app/about"),
        ("served", "/page", None),
        ("described", None, None),
        ("located", "javascript:alert(1)", None),
    ],
)
def test_the_target_is_shown_only_if_it_may_be_used(binding, kind, target, place):
    view = describe(binding("ark:12345/doc", target, kind=kind), "/app")
    assert view.place == place
    assert "javascript:" not in told(view, "as_html")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "policy", ["javascript:alert(1)", "see the handbook", "//evil.example", "https://u:p@example.org/"]
)
def test_a_policy_that_is_not_a_url_is_not_a_link(binding, policy):
    page = told(describe(binding("ark:12345/doc", "/doc", metadata={"policy": policy}), ""), "as_html")
    assert policy in page
    assert f'href="{policy}"' not in page


@pytest.mark.one_setup
@pytest.mark.vectors("citation")
@pytest.mark.parametrize("form", FORMS)
def test_the_citation_is_shown_only_for_persistent_names(binding, vector, form):
    def text(**fields):
        shown = told(describe(binding(vector.input, "https://example.org/doc", **fields), ""), form)
        return re.sub("</?bdi[^>]*>", "", shown)

    assert vector.expect["text_contains"] in text(metadata={"persistence": "lifetime"})
    assert "persistent identifier" not in text(metadata={"what": "A document"})
    assert "persistent identifier" not in text(metadata={"persistence": "lifetime"}, status="withdrawn")


# ARK-034
def test_the_page_links_to_the_policy_of_the_naming_authority(binding):
    page = told(describe(binding("ark:12345/doc", "/doc", metadata=FULL), ""), "as_html")
    assert '<link rel="terms-of-service" href="https://example.org/policy">' in page


def test_the_page_shows_the_resource_then_the_promises(binding):
    page = told(describe(binding("ark:12345/doc", "/doc", metadata=FULL, revision=2), "https://r.example"), "as_html")
    body = page[page.index("<main>") :]
    places = [
        body.index(text)
        for text in (
            "<h1>",
            "Open the item",
            "https://r.example/ark:12345/doc<",
            "<h2>Cite",
            "shelf 12",
            "<h2>Persistence",
            "immutable",
            "Last changed",
            "For programs",
        )
    ]
    assert places == sorted(places)
    # The title, the title for previews, the heading, the citation, JSON-LD, and the element for reference managers.
    assert page.count("A document") == 6
    assert "how the item can change" in page


def test_without_a_title_the_heading_is_the_identifier(binding):
    page = told(describe(binding("ark:12345/doc", "/doc"), ""), "as_html")
    heading = re.search("<h1.*?</h1>", page)
    assert heading
    assert "ark:12345/doc" in heading[0]
    assert "<title>ark:12345/doc</title>" in page
    assert "How long it will work is not stated." in page


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "metadata",
    [
        {"dc.title": "Moby Dick", "dc.creator": "Melville, Herman", "dc.date": "1851"},
        {"datacite.title": "Moby Dick", "datacite.creator": "Melville, Herman", "datacite.publicationyear": "1851"},
        {"schema": '{"name": "Moby Dick", "author": {"name": "Melville, Herman"}, "datePublished": "1851"}'},
    ],
    ids=["Dublin Core", "DataCite", "schema.org"],
)
def test_the_record_and_the_page_use_any_metadata(binding, metadata):
    view = describe(binding("ark:12345/doc", "/doc", metadata={**metadata, "ezid-setting.profile": "dc"}), "")
    assert view.as_text().decode().splitlines()[:4] == [
        "erc:",
        "who: Melville, Herman",
        "what: Moby Dick",
        "when: 1851",
    ]
    page = told(view, "as_html")
    assert "<title><bdi>" not in page
    assert "<title>Moby Dick</title>" in page
    assert re.search("<h1>.*Moby Dick", page)
    assert '<meta name="citation_title" content="Moby Dick">' in page
    assert '<meta name="citation_author" content="Melville, Herman">' in page
    assert '<link rel="describes" href="/ark:12345/doc">' in page
    assert "ezid-setting" not in page
    assert re.search(r'<time datetime="[0-9T:-]+Z">', page)


def test_the_page_opens_and_cites_the_item_and_names_the_institution(binding):
    metadata = {"what": "Plan of Grebenau, sheet 88", "who": "Moreau, Elise", "when": "1912"}
    view = describe(binding("ark:12345/m4", "https://maps.example/88", metadata=metadata), "https://ids.example")
    page = view.as_html(Presentation(branding=Branding(institution="Museum of the Two Rivers"))).decode()
    assert "<title>Plan of Grebenau, sheet 88 - Museum of the Two Rivers</title>" in page
    # A reference manager would keep it as the abstract of the item.
    assert '<meta name="description"' not in page
    assert '<meta property="og:title" content="Plan of Grebenau, sheet 88">' in page
    assert '<meta property="og:url" content="https://ids.example/ark:12345/m4">' in page
    assert '<meta property="og:site_name" content="Museum of the Two Rivers">' in page
    assert page.count('class="button"') == 1
    button = re.search('<a class="button" href="(.*?)".*?</a>', page)
    assert button
    assert button[1] == "https://ids.example/ark:12345/m4"
    assert "maps.example" in button[0]
    cited = (
        "Moreau, Elise (1912). Plan of Grebenau, sheet 88. Museum of the Two Rivers. https://ids.example/ark:12345/m4"
    )
    assert f"<blockquote><bdi>{cited}</bdi></blockquote>" in page
    assert "Kept by <bdi>Museum of the Two Rivers</bdi>." in page


@pytest.mark.parametrize(
    ("metadata", "content"),
    [
        ({"what": "Map", "who": "Noah", "when": "1912", "dc.description": "All  maps."}, "All maps."),
        ({"who": "Noah", "when": "1912"}, "Noah. 1912"),
        ({}, "ark:12345/m4"),
    ],
    ids=["a description", "no title", "nothing"],
)
def test_search_engines_read_a_line_about_the_name(binding, metadata, content):
    page = told(describe(binding("ark:12345/m4", "https://maps.example/88", metadata=metadata), ""), "as_html")
    assert f'<meta name="description" content="{content}">' in page


def test_the_qr_code_for_print_is_part_of_the_page(binding):
    page = told(describe(binding("ark:12345/doc", "/doc"), "https://r.example"), "as_html")
    assert page.count("<svg") == 1
    assert '<svg viewBox="0 0 ' in page
    assert "<svg" not in told(describe(binding("ark:12345/doc", "/doc"), ""), "as_html")
    gone = binding("ark:12345/doc", "/doc", status="withdrawn")
    assert "<svg" not in told(describe(gone, "https://r.example"), "as_html")


def test_hidden_characters_of_a_title_are_escaped_in_the_head(binding):
    page = told(describe(binding("ark:12345/doc", "/doc", metadata={"what": 'A\u202e"map\nB'}), ""), "as_html")
    assert "<title>A\\u{202e}&#34;map B</title>" in page


@pytest.mark.parametrize(
    ("element", "language", "label"),
    [
        ("dc.rights", "de", "Rechte"),
        ("dc.description", "fr", "Description"),
        ("dcterms.subject", "es", "Materia"),
        ("dcterms.isPartOf", "de", "<bdi>Is part of</bdi>"),
        ("mods.related_item", "en", "<bdi>Related item</bdi>"),
    ],
)
def test_an_element_has_a_label_instead_of_its_key(binding, element, language, label):
    named = binding("ark:12345/doc", "/1", metadata={element: "A text", "erc.what": "A map"})
    page = describe(named, "").as_html(Presentation(language=language)).decode()
    assert f"<dt>{label}</dt>" in page
    assert f"<dt>{element}" not in page


def test_rights_are_a_link_and_a_coded_type_is_a_word(binding):
    licence = "https://creativecommons.org/licenses/by/4.0/"
    texts = {"dc.rights": licence, "dc.relation": "javascript:alert(1)", "how": "(:mtype image) photograph"}
    page = describe(binding("ark:12345/doc", "/1", metadata=texts), "").as_html().decode()
    assert f'<a class="mono" href="{licence}" rel="nofollow">' in page
    assert 'href="javascript' not in page
    assert "image: <bdi>photograph</bdi>" in page


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("1912/1914", "(1912\u20131914)"),
        ("1912-1914", "(1912\u20131914)"),
        ("1912-05-01/1914-08-02", "(1912\u20131914)"),
        ("1912-05-01", "(1912)"),
    ],
)
def test_a_period_stays_a_period_in_the_citation(binding, date, year):
    described = describe(binding("ark:12345/doc", "/1", metadata={"who": "Ada", "what": "A map", "when": date}), "")
    cited = described.citation_text(None)
    assert cited is not None
    assert cited.startswith(f"Ada {year}. A map.")


def test_reference_managers_read_type_abstract_and_tags(binding):
    """Zotero takes og:description as abstract, and og:type before DC.type."""
    metadata = {"what": "Moby-Dick", "who": "Melville, Herman; Garc\u00eda", "when": "ca. 1851", "dc.type": "Book"}
    full = {**metadata, "dc.description": "A whale.", "dc.subject": "whales; sea"}
    page = told(describe(binding("ark:12345/doc", "/doc", metadata=full), ""), "as_html")
    found = re.findall(r'<meta name="((?:citation_|DC\.)[a-z_]+)" content="([^"]*)">', page)
    assert ("DC.type", "book") in found
    assert ("citation_abstract", "A whale.") in found
    assert [text for name, text in found if name == "citation_keywords"] == ["whales", "sea"]
    assert [text for name, text in found if name == "citation_author"] == ["Melville, Herman", "Garc\u00eda"]
    assert ("citation_publication_date", "ca. 1851") in found
    assert "og:description" not in page
    assert "og:type" not in page
    plain = told(describe(binding("ark:12345/doc", "/doc", metadata=metadata), ""), "as_html")
    assert "citation_abstract" not in plain


@pytest.mark.parametrize(
    ("when", "read"), [("0850", "0850"), ("0850-07", "0850/07"), ("1850-07-04", "1850/07/04"), ("-0044", "-0044")]
)
def test_reference_managers_read_a_year_of_four_digits(binding, when, read):
    described = describe(binding("ark:12345/doc", "/doc", metadata={"what": "A charter", "when": when}), "")
    assert ("citation_publication_date", read) in described.citation_elements


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("We keep names", "We keep names."),
        ("We keep names.", "We keep names."),
        ("Do we keep names?", "Do we keep names?"),
        ("\u540d\u524d\u3092\u5b88\u308b\u3002", "\u540d\u524d\u3092\u5b88\u308b\u3002"),
    ],
    ids=["words", "sentence", "question", "Japanese"],
)
def test_a_statement_of_a_person_ends_once_before_the_next_sentence(binding, statement, shown):
    view = describe(binding("ark:12345/doc", "/doc", metadata=FULL | {"persistence": statement}), "https://r.example")
    kept = re.search('<p class="kept">(.*?)</p>', told(view, "as_html"), re.DOTALL)
    assert kept
    text = " ".join(re.sub("<[^>]*>", "", kept[1]).split())
    assert text.startswith(f"{shown} What the institution promises")
