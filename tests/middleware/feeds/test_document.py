"""The examples in docs/format-examples.md are the answers of the feeds with the settings of docs/feeds.md."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat import __version__
from ararat.middleware import ResolverMiddleware

from .conftest import site

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "feeds.md").read_text("utf-8")
EXAMPLE_PAGE = (DOCS / "format-examples.md").read_text("utf-8")
EXAMPLES: dict[str, str] = dict(
    re.findall(r"^```http\nGET (\S+)\n```\n\n```xml\n(.*?)^```$", EXAMPLE_PAGE, re.MULTILINE | re.DOTALL)
)
START = datetime(2026, 11, 2, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of the names of the page. Each change is a day after the change before."""
    from ararat.middleware import open_bindings

    days = count()
    clock = lambda: START + timedelta(days=next(days))  # noqa: E731
    settings = dict(re.findall(r'^    (\w+)="(.*)",$', PAGE, re.MULTILINE))
    with open_bindings(tmp_path_factory.mktemp("feeds") / "names.sqlite", create=True, clock=clock) as bindings:
        bindings.bind("ark:12345/x5np1", "https://example.org/1", metadata={"who": "Ada", "what": "Map of the port"})
        bindings.bind("ark:12345/x5np2", "https://example.org/2", metadata={"what": "Old map", "when": "1905"})
        bindings.withdraw("ark:12345/x5np2", reason="duplicate", successor="ark:12345/x5np1")
        bindings.reserve("ark:12345/x5np3")
        bindings.prefixes.set("ark:12345/x5", what="Maps")
        yield Client(ResolverMiddleware(site, bindings, **settings))


@pytest.mark.one_setup
@pytest.mark.parametrize(("request_target", "answer"), EXAMPLES.items(), ids=EXAMPLES)
def test_example_is_the_answer(client, request_target, answer):
    text = client.get(request_target).text
    text = re.sub(r"<responseDate>.*?</responseDate>", "<responseDate>2026-11-22T15:00:00Z</responseDate>", text)
    assert text.replace(f'version="{__version__}"', 'version="…"') == answer


def test_page_has_an_example_of_each_feed():
    assert len(EXAMPLES) >= 5
