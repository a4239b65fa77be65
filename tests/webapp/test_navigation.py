"""The links in the header."""

from __future__ import annotations

import pytest

from ararat.webapp import create_app


@pytest.mark.parametrize(
    ("path", "current"),
    [
        pytest.param("/", {"Inspect": "page"}, id="home"),
        pytest.param("/?q=ark:12345/x", {"Inspect": "page"}, id="result"),
        pytest.param("/trace", {"Trace": "page"}, id="trace"),
        pytest.param("/traces", {"Trace": "true"}, id="list of traces"),
        pytest.param("/compare", {"Compare": "page"}, id="compare"),
        pytest.param("/registries", {"Registries": "page"}, id="registries"),
        pytest.param("/registries/naan/12148", {"Registries": "true"}, id="one NAAN"),
        pytest.param("/docs", {"Docs": "page"}, id="documentation"),
        pytest.param("/nowhere", {}, id="error"),
    ],
)
def test_header_marks_the_current_page(path, current, read_page):
    header = read_page(create_app().test_client().get(path).text).one("header", "top")
    links = header.one("nav").all("a")
    assert [link.text for link in links] == ["Inspect", "Trace", "Compare", "Registries", "Docs"]
    marked = {link.text: link.attributes["aria-current"] for link in links if "aria-current" in link.attributes}
    assert marked == current
