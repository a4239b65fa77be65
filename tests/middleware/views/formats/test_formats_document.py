"""Check that docs/formats.md and docs/format-examples.md show the real output of each format."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.resolution.description_formats import FORMATS

DOCS = Path(__file__).parents[4] / "docs"
PAGE = DOCS / "formats.md"
TEXT = PAGE.read_text("utf-8") + (DOCS / "format-examples.md").read_text("utf-8")
# A request, with a header field if it needs one, and the block with the answer.
EXAMPLES = re.findall(r"`GET (\S+)`(?: with `([^`]+): ([^`]+)`)?:\n\n```\w+\n(.*?)```\n", TEXT, re.DOTALL)


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
    policy: dict[str, str] = {"who": "Example Library", "statement": "We keep names permanently."}
    policy |= {"availability": "lifetime", "variance": "fixing", "at_end": "The state archive takes over."}
    records = PrefixRecords([record("ark:12345/", policy)])
    store.prefix_records = lambda: records
    return Client(ResolverMiddleware(None, store, prefix="https://example.org"))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def logged_client(tmp_path_factory):
    """A client of a resolver with a public log, which has two witnesses."""
    folder = tmp_path_factory.mktemp("formats")
    log, key_path, time = LogFolder(folder / "log"), folder / "log.key", datetime(2026, 11, 22, 15, tzinfo=UTC)
    with open_bindings(folder / "bindings.sqlite", create=True, clock=lambda: time) as bindings:
        assert isinstance(bindings.store, DatabaseStore)
        initialize(bindings.store, log, key_path, "example.org/log")
        for number in range(17):
            bindings.bind(f"ark:12345/y{number}", "/y")
        bindings.bind("ark:12345/x8", "https://example.org/8", metadata={"what": "Map of the harbour"})
        publish(bindings.store, log, key_path)
        note = SignedNote.of_bytes(log.checkpoint() or b"")
        witnesses = [SignerKey.create(f"w{number}.example", COSIGNATURE) for number in range(2)]
        added = sign_note(note.text, witnesses, int(time.timestamp())).signatures
        log.publish(bytes(replace(note, signatures=(*note.signatures, *added))))
        settings = {"prefix": "https://example.org", "log": "/log", "log_folder": str(log.path)}
        yield Client(ResolverMiddleware(None, bindings, **settings))  # type: ignore[arg-type]


@pytest.mark.one_setup
@pytest.mark.parametrize(("path", "field", "value", "shown"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_the_page_shows_the_real_output(client, logged_client, path, field, value, shown):
    answer = (logged_client if "/x8?" in path else client).get(path, headers={field: value} if field else {})
    if answer.status_code == 302:
        text = "".join(f"{name}: {text}\n" for name, text in answer.headers if name in ("Location", "Link"))
        assert text.replace(", <", ",\n  <") == shown
    else:
        # A line with "…" replaces lines of the answer.
        parts = re.split(r"^ *…\n", shown, flags=re.MULTILINE)
        assert re.fullmatch("(?:.*\n)+".join(map(re.escape, parts)), answer.text)


def test_the_page_shows_each_format():
    shown = {path.rpartition("format=")[2] for path, *_ in EXAMPLES}
    # The page is HTML; its data is that of JSON-LD.
    assert {form.name for form in FORMATS} - shown == {"html"}


def test_the_page_has_a_row_for_each_format():
    rows = re.findall(r"^\| `([a-z-]+)` \| `([a-z.+/-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [(form.name, form.media_type) for form in FORMATS] == rows
