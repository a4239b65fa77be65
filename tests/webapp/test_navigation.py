"""The links in the header."""

from __future__ import annotations

import pytest

from ararat.webapp import create_app


@pytest.mark.one_setup
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


def test_the_header_shows_the_institution_and_its_logo():
    client = create_app(institution="Museum <b>", logo="/static/logo.svg").test_client()
    page = client.get("/").text
    assert "Inspector" in page
    assert "Museum &lt;b&gt;" in page
    assert '<img src="/static/logo.svg" alt="">' in page
    assert client.get("/logo").status_code == 404


def test_a_logo_in_the_settings_is_served_as_a_file():
    image = "data:image/gif;base64,R0lGODlh"
    client = create_app(institution="A museum", logo=image).test_client()
    answer = client.get("/logo")
    assert (answer.data, answer.content_type) == (b"GIF89a", "image/gif")
    assert 'src="/logo?v=' in client.get("/").text
    assert create_app().test_client().get("/logo").status_code == 404


def test_a_wrong_logo_is_an_error_at_the_start():
    with pytest.raises(ValueError, match="institution, logo"):
        create_app(logo="https://elsewhere.example/logo.svg")
