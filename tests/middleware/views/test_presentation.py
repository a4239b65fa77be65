"""The branding on the public pages, also with hostile values."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from werkzeug.test import Client

from ararat.bindings.names.branding.model import Branding
from ararat.middleware import ResolverMiddleware
from ararat.middleware.views.presentation import Presentation

PNG = "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n").decode()
PATHS = ("/ark:12345/doc?info", "/ark:12345/gone", "/ark:12345/nope", "/ark:12345/x!", "/ark:")
HOSTILE = [
    '"><script>alert(1)</script>',
    "</style><img src=x onerror=alert(1)>",
    "\u202edrowssap",
    "{{ 7*7 }} {% raw %}",
    "\u0634\u0631\u0643\u0629 \u200f123",
    "%(x)s %s",
    "x" * 200,
]


@pytest.fixture
def client(held, binding):
    def make(**settings):
        store = held(
            binding("ark:12345/doc", "https://example.org/doc"),
            binding("ark:12345/gone", "/gone", status="withdrawn", successor="ark:12345/new", reason="a hoax"),
        )
        return Client(ResolverMiddleware(None, store, **settings))  # type: ignore[arg-type]

    return make


@pytest.mark.one_setup
@pytest.mark.parametrize("path", PATHS)
def test_each_public_page_has_the_branding(client, path):
    site = client(institution="The Library", contact="a@example.org", statement="We keep names.", logo="/logo.svg")
    page = site.get(path).text
    header, footer = page[page.index("<header") : page.index("<main>")], page[page.index("<footer>") :]
    assert '<img src="/logo.svg" alt="">' in header
    assert "The Library" in header
    assert 'href="mailto:a@example.org"' in footer
    assert "We keep names." in footer


def test_without_a_branding_there_is_no_header(client):
    assert "<header>" not in client().get(PATHS[0]).text


@pytest.mark.one_setup
@pytest.mark.parametrize("field", ["institution", "contact", "statement"])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(client, field, text):
    page = client(**{field: text}).get("/ark:12345/nope").text
    assert not re.search("<script|<img|[\u202a-\u202e\u200b-\u200f]", page)
    assert "mailto:" not in page
    assert page.count("<main>") == page.count("</main>") == page.count("</style>") == 1


def test_a_contact_that_is_a_program_is_no_link(client):
    page = client(contact="javascript:alert(1)").get("/ark:12345/nope").text
    assert "<bdi>javascript:alert(1)</bdi>" in page
    assert 'href="javascript' not in page


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("logo", "prefix", "source", "address"),
    [
        (PNG, None, "data:", PNG),
        ("/logo.svg", None, "'self'", "/logo.svg"),
        ("/logo.svg", "https://r.example/app", "https://r.example", "https://r.example/app/logo.svg"),
    ],
)
def test_the_policy_permits_only_the_logo_and_the_style(client, logo, prefix, source, address):
    answer = client(logo=logo, prefix=prefix, colour="#f0f").get("/ark:12345/nope")
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == source
    assert policy["style-src"] == f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    assert f'<img src="{address}" alt="">' in answer.text


def test_the_colour_is_readable_on_both_kinds_of_pages():
    style = Presentation(branding=Branding(colour="#ffff00")).style
    assert "--brand: #ffff00; --accent: #707000;" in style
    assert "(prefers-color-scheme: dark) { :root { --brand: #ffff00; --accent: #ffff00; } }" in style


def test_a_square_logo_is_the_icon_of_the_page(client):
    square, wide = "data:image/gif;base64,R0lGODlhCAAIAA==", "data:image/gif;base64,R0lGODlhCAAJAA=="
    assert f'<link rel="icon" href="{square}">' in client(logo=square).get("/ark:12345/doc?info").text
    assert 'rel="icon"' not in client(logo=wide).get("/ark:12345/doc?info").text
    assert '<link rel="icon" href="/static/icon.svg">' in client(logo="/static/icon.svg").get("/ark:12345/nope").text
    assert 'rel="icon"' not in client(logo="/static/logo.svg").get("/ark:12345/nope").text
