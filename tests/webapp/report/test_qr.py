"""The QR code of a URL."""

from __future__ import annotations

import re

import pytest
import segno

from ararat.identifiers import examine
from ararat.webapp import create_app
from ararat.webapp.report import qr


@pytest.fixture(scope="module")
def client():
    return create_app(prefix="https://example.org").test_client()


@pytest.mark.parametrize(
    ("text", "bound", "address"),
    [
        pytest.param("ark:/12345/x-1", False, "https://n2t.net/ark:/12345/x-1", id="at the official resolver"),
        pytest.param("ark:/12345/x-1", True, "https://example.org/ark:12345/x1", id="bound here"),
        pytest.param(
            "https://evil.example/ark:12345/x", False, "https://n2t.net/ark:12345/x", id="never at another host"
        ),
        pytest.param("URN:FOO:a", False, "https://example.org/urn:foo:a", id="a URN"),
        pytest.param("ark:12345/" + "x" * 300, False, None, id="too long for a print"),
        pytest.param("https://example.com/", False, None, id="no identifier"),
    ],
)
def test_the_code_contains_the_embedded_form(text, bound, address):
    assert qr.qr_address(examine(text), "https://example.org", bound=bound) == address


def test_the_code_contains_only_the_url(client):
    answer = client.get("/qr.svg", query_string={"q": "ark:/12345/x-1", "here": "1"})
    assert answer.content_type == "image/svg+xml"
    assert answer.data == qr.draw_svg("https://example.org/ark:12345/x1")
    assert not re.search(b"style|script|<text|href|on[a-z]+=", answer.data)
    # The dark modules in the picture are those of the code.
    code = segno.make_qr("https://example.org/ark:12345/x1", error="m")
    path = re.findall(rb'<path[^>]* d="([^"]*)"', answer.data)[1]
    dark, x, y = set(), 0, 0.0
    for command, numbers in re.findall(rb"([Mmh])([-\d. ]+)", path):
        values = [float(value) for value in numbers.split()]
        if command == b"h":
            dark |= {(int(x) + step, int(y)) for step in range(int(values[0]))}
            x += int(values[0])
        else:
            x, y = (int(values[0]), values[1]) if command == b"M" else (x + int(values[0]), y + values[1])
    expected = {(x + 4, y + 4) for y, row in enumerate(code.matrix) for x, module in enumerate(row) if module}
    assert dark == expected


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["", "q=", "q=https://evil.example/", "q=ark:12345/" + "x" * 400])
def test_an_identifier_without_a_url_has_no_code(client, query):
    answer = client.get(f"/qr.svg?{query}")
    assert answer.status_code == 400
    assert "not valid, or its URL is too long" in answer.text
