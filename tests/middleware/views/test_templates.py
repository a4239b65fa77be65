"""Pages are self-contained: they contain their style, which the content security policy allows by its hash."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.views import templates

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{7*7}}</style></title>'


class Elements(HTMLParser):
    """Parse a page into its elements and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.pieces.append(data)


def test_a_template_is_compiled_once_for_all_languages():
    first, second = (templates._environment(each).get_template("description.html") for each in ("de", "fr"))
    assert first is not second
    assert first.root_render_func.__code__ is second.root_render_func.__code__


@pytest.fixture(scope="module")
def client(held, binding):
    metadata = dict.fromkeys(
        ("who", "what", "when", "where", "persistence", "availability", "variance", "allocated", "policy"), HOSTILE
    )
    return Client(
        ResolverMiddleware(
            None,  # type: ignore[arg-type]
            held(
                binding("ark:12345/hostile", "https://example.org/", metadata=metadata),
                binding(
                    "ark:12345/gone", "https://example.org/", metadata=metadata, status="withdrawn", reason=HOSTILE
                ),
                binding("ark:12345/bare", "https://example.org/"),
            ),
            inspector="/",
        )
    )


pages = pytest.mark.parametrize(
    "path",
    [
        "/ark:12345/hostile?info",
        "/ark:12345/gone",
        "/ark:12345/gone?info",
        "/ark:12345/bare?",
        "/ark:12345/x%22%3C",
        "/ark:12345/nope",
        "/ark:12345/nope<i>",
        "/ark:",
    ],
)


@pages
def test_the_content_security_policy_allows_only_the_style_element(client, path):
    answer = client.get(path)
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = dict(directive.split(" ", 1) for directive in answer.headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


@pages
def test_a_page_loads_no_other_files_and_runs_no_scripts(client, path):
    elements = Elements(client.get(path).text).elements
    # JSON-LD is data: a browser neither runs it nor applies the Content-Security-Policy to it.
    assert [attributes for tag, attributes in elements if tag == "script"] in ([], [{"type": "application/ld+json"}])
    assert not {tag for tag, _ in elements} & {"img", "iframe", "object", "embed", "form", "base", "i"}
    assert not [
        name for _, attributes in elements for name in attributes if name.startswith("on") or name in ("style", "src")
    ]
    rels = {attributes["rel"] for tag, attributes in elements if tag == "link"}
    assert rels <= {"canonical", "cite-as", "describedby alternate", "describes", "linkset"}


@pages
def test_hidden_characters_are_never_in_a_page(client, path):
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x00-\x08\x0b-\x1f\x7f-\x9f]", client.get(path).text)


@pages
def test_the_title_is_ascii_and_repeated_input_is_isolated(client, path):
    page = client.get(path).text
    (title,) = re.findall("<title>(.*?)</title>", page)
    assert re.fullmatch("[ -~]+", title)
    for tag, attributes in Elements(page).elements:
        assert tag != "bdo"
        assert attributes.get("dir") in ((None, "ltr") if tag in ("html", "bdi", "div", "code") else (None,))


def test_hostile_metadata_is_escaped_and_hidden_characters_become_chips(client):
    read = Elements(client.get("/ark:12345/hostile?info").text)
    chips = [attributes["title"] for tag, attributes in read.elements if attributes.get("class") == "chip"]
    assert set(chips) == {"RIGHT-TO-LEFT OVERRIDE"}
    assert "<script>alert(1)</script>" in "".join(read.pieces)
    assert "{{7*7}}" in "".join(read.pieces)


@pytest.mark.one_setup
@pytest.mark.parametrize("length", [3000, 100_000])
def test_a_long_identifier_is_shortened(client, length):
    for path in ("/ark:12345/" + "x" * length, "/ark:12345/" + "x" * length + "!", "/ark:12345/!" + "x" * length):
        for media_type in ("text/html", "application/json", "text/plain"):
            answer = client.get(path, headers={"Accept": media_type})
            assert 400 <= answer.status_code < 500
            assert answer.text.count("x") < 2048
            assert len(answer.data) < 10_000
