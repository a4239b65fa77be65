"""Test that the watch detects messages, so that a page without messages is really without errors."""

from __future__ import annotations

import pytest

SITE = """
def application(environ, start_response):
    policy = "default-src 'none'; script-src 'self'; img-src 'self' http://127.0.0.1:9"
    body, kind = PAGES.get(environ["PATH_INFO"], ("", "text/html"))
    start_response("200 OK", [("Content-Type", kind), ("Content-Security-Policy", policy)])
    return [body.encode()]

PAGES = {
    "/calm": ("<!doctype html><title>calm</title><p>nothing wrong", "text/html"),
    "/inline": ("<!doctype html><script>document.title = 'ran'</script>", "text/html"),
    "/style": ("<!doctype html><p style='color: red'>red", "text/html"),
    "/throws": ("<!doctype html><script src=throw.js></script>", "text/html"),
    "/throw.js": ("throw new Error('broken on purpose')", "text/javascript"),
    "/says": ("<!doctype html><script src=say.js></script>", "text/html"),
    "/say.js": ("console.error('something went wrong')", "text/javascript"),
    "/stranger": ("<!doctype html><img alt='' src='http://127.0.0.1:9/pixel.png'>", "text/html"),
}
"""


@pytest.fixture
def complaints_about(wsgi_server, browser, page_watch):
    server = wsgi_server(SITE)

    def visit(path):
        watch = type(page_watch)()
        watch.origins.add(server.origin)
        with browser.new_context() as context:
            watch.watch(context)
            page = context.new_page()
            page.goto(f"{server.origin}{path}")
            page.wait_for_load_state("networkidle")
        return watch.complaints()

    return visit


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("/calm", None, id="no error"),
        pytest.param("/inline", "Content Security Policy", id="inline script"),
        pytest.param("/style", "Content Security Policy", id="inline style"),
        pytest.param("/throws", "broken on purpose", id="uncaught error"),
        pytest.param("/says", "something went wrong", id="console error"),
        pytest.param("/stranger", "request outside: GET http://127.0.0.1:9/pixel.png", id="request to another host"),
    ],
)
def test_errors_of_a_page_are_detected(complaints_about, path, words):
    found = complaints_about(path)
    assert any(words in line for line in found) if words else found == []


def test_expected_errors_are_ignored(page_watch):
    watch = type(page_watch)()
    watch.seen = ["console error: 404", "console error: 500"]
    watch.expect("404")
    assert watch.complaints() == ["console error: 500"]
