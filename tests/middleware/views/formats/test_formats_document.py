"""Check that docs/formats.md shows the real output of each format."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.bindings.prefixes import PrefixRecords, record
from ararat.middleware.http.formats import FORMATS

PAGE = Path(__file__).parents[4] / "docs" / "formats.md"
# A request, with a header field if it needs one, and the block with the answer.
EXAMPLES = re.findall(
    r"`GET (\S+)`(?: with `([^`]+): ([^`]+)`)?:\n\n```\w+\n(.*?)```\n", PAGE.read_text("utf-8"), re.DOTALL
)


@pytest.fixture(scope="module")
def client(held, binding):
    store = held(
        binding(
            "ark:12345/x6np1",
            "https://example.org/maps/17",
            metadata={
                "who": "Example Library",
                "what": "Map of 50 % of the island",
                "when": "2026-11-23",
                "dc.publisher": "Example Press",
                "dc.type": "Image",
                "dc.rights": "https://creativecommons.org/licenses/by/4.0/",
            },
        ),
        binding(
            "ark:12345/x7",
            "https://example.org/7",
            status="withdrawn",
            reason="The map is a duplicate.",
            successor="ark:12345/x6np1",
            changed=datetime(2026, 11, 23, 9, tzinfo=UTC),
        ),
    )
    records = PrefixRecords(
        [record("ark:12345/", {"who": "Example Library", "statement": "We keep names permanently."})]
    )
    store.prefix_records = lambda: records
    return Client(ResolverMiddleware(None, store, prefix="https://example.org"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("path", "field", "value", "shown"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_the_page_shows_the_real_output(client, path, field, value, shown):
    answer = client.get(path, headers={field: value} if field else {})
    if answer.status_code == 302:
        text = "".join(f"{name}: {text}\n" for name, text in answer.headers if name in ("Location", "Link"))
        assert text.replace(", <", ",\n  <") == shown
    else:
        assert answer.text == shown


def test_the_page_shows_each_format():
    shown = {path.rpartition("format=")[2] for path, *_ in EXAMPLES}
    # The page is HTML; its data is that of JSON-LD.
    assert {form.name for form in FORMATS} - shown == {"html"}
