"""Error pages offer the bound name of which the request is a damaged copy. A final dot is ignored (A-13)."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.settings import LANGUAGES


@pytest.fixture
def ask(bindings):
    """ask(path) returns the status, the Location and the problem document of the answer to a raw request path."""
    bindings.bind("ark:12345/x5m1", "https://example.org/1")
    bindings.bind("urn:nbn:de:101:1-2020", "https://example.org/2")
    bindings.bind("urn:foo:a", "https://example.org/ua")
    bindings.bind("ark:12345/p1", "https://example.org/p", passthrough="given")
    bindings.rules.set("ark:12345/r", "https://example.org/view?id=${suffix}&fmt=html")
    settings = {"prefix": "https://r.example", "naans": ["12345"], "forward": True}
    application = ResolverMiddleware(None, bindings, **settings)  # type: ignore[arg-type]

    def ask(path: str) -> tuple[int, str | None, dict[str, Any]]:
        answered: list[Any] = []
        core, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": "GET",
            "RAW_URI": f"/{path}",
            "PATH_INFO": unquote(f"/{core}", "latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": "r.example",
            "SERVER_PORT": "443",
            "SCRIPT_NAME": "",
            "HTTP_ACCEPT": "application/json",
            "wsgi.url_scheme": "https",
            "wsgi.input": BytesIO(),
        }
        body = b"".join(application(environ, lambda *given: answered.extend(given)))  # type: ignore[arg-type, misc]
        status, location = int(answered[0][:3]), dict(answered[1]).get("Location")
        return status, location, json.loads(body) if status in (400, 404) else {}

    return ask


@pytest.mark.one_setup
@pytest.mark.vectors("resolver-answer")
def test_a_request_as_servers_and_readers_pass_it_on_has_the_answer(ask, vector):
    status, location, document = ask(vector.input.removeprefix("/"))
    found = {"status": status, "location": location, "suggestion": document.get("suggestion")}
    assert {name: found[name] for name in vector.expect} == vector.expect
    assert status == {"location": 302, "suggestion": 400 if status == 400 else 404}.get(
        next(iter(vector.expect)), status
    )


def test_a_damaged_copy_of_a_bound_urn_has_it_as_suggestion(ask):
    damaged = (")", ".", "%20", ";urn:nbn:de:101:1-2021", ",urn:nbn:de:101:1-2021")
    for end in damaged:
        assert ask(f"urn:nbn:de:101:1-2020{end}")[2]["suggestion"] == "https://r.example/urn:nbn:de:101:1-2020"


def test_a_page_offers_a_similar_name_by_its_title_in_each_language(bindings):
    bindings.bind("ark:12345/x5doc", "https://example.org/doc", metadata={"what": "A map <of> the mill"})
    bindings.bind("ark:12345/x5part", "https://example.org/part")
    client = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]
    for path, title in {"/ark:12345/x5DOC": "<bdi>A map &lt;of&gt; the mill</bdi>", "/ark:12345/x5Part": ""}.items():
        labels = set[str]()
        for language in LANGUAGES:
            answer = client.get(path, headers={"Accept-Language": language})
            button = re.search('<a class="button" href="([^"]*)"[^>]*>(.*?)<small>', answer.text)
            assert button is not None, language
            assert (answer.status_code, button[1]) == (404, path.lower()), language
            assert title in button[2], language
            # The label is one box, so that a question mark is on the line of the title.
            assert button[2].startswith("<span>") == bool(title), language
            assert ("<bdi>" in button[2]) == bool(title), language
            labels.add(button[2])
        assert len(labels) == len(LANGUAGES), path


def test_a_404_suggests_no_name_that_is_not_live(bindings, ask):
    bindings.reserve("ark:12345/x6")
    bindings.bind("ark:12345/x7", "https://example.org/7")
    bindings.withdraw("ark:12345/x7")
    for path in ("ark:12345/x6%20", "ark:12345/x7%20", "ark:12345/x8%20", f"ark:12345/{'x' * 1200}%20"):
        status, _, document = ask(path)
        assert (status, "suggestion" in document) == (404, False)


def test_a_final_dot_is_ignored_unless_the_name_with_the_dot_is_bound(bindings, ask):
    assert ask("ark:12345/x5m1.")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1...")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1./")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1.?info")[0] == 200
    assert ask("ark:12345/other.")[0] == 404
    bindings.bind("ark:12345/x5m1.", "https://example.org/dot")
    assert ask("ark:12345/x5m1.")[:2] == (302, "https://example.org/dot")
    assert ask("ark:12345/x5m1")[:2] == (302, "https://example.org/1")
