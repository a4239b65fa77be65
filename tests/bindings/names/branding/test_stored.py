"""The branding in the store: its versions, and the pages of a running resolver."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import pytest
from werkzeug.test import Client

from ararat.bindings import rule_cache
from ararat.bindings.names.branding.model import NO_BRANDING, Branding, check
from ararat.bindings.names.branding.stored import BrandingVersion, version_of
from ararat.bindings.names.errors import ReadOnlyBindings, Stale
from ararat.middleware import ResolverMiddleware, open_bindings

LIBRARY = Branding(institution="The Library", contact="arks@example.org", colour="#990000")


@pytest.fixture
def bindings(database, open_store):
    return open_store(database)


def test_each_version_stays_in_the_history(bindings):
    assert bindings.branding.set(LIBRARY, actor="ada") == "set"
    assert bindings.branding.set(LIBRARY) == "unchanged"
    assert bindings.branding.set(NO_BRANDING, actor="ben") == "set"
    assert bindings.branding.set(LIBRARY) == "set"
    found = [(each.revision, each.branding, each.actor) for each in bindings.branding.history()]
    assert found == [(3, LIBRARY, None), (2, NO_BRANDING, "ben"), (1, LIBRARY, "ada")]


def test_a_change_of_another_revision_is_refused(bindings):
    bindings.branding.set(LIBRARY, revision=0)
    for revision in (0, 2):
        with pytest.raises(Stale):
            bindings.branding.set(NO_BRANDING, revision=revision)
    assert len(bindings.branding.history()) == 1


def test_a_running_resolver_shows_the_recorded_values_over_its_settings(bindings, monkeypatch):
    monkeypatch.setattr(rule_cache, "SECONDS_HELD", 0)
    settings = {"institution": "An Archive", "statement": "We keep names.", "languages": ["en"]}
    site = Client(ResolverMiddleware(None, bindings, **settings))  # type: ignore[arg-type]
    assert "An Archive" in site.get("/ark:12345/x").text
    bindings.branding.set(LIBRARY)
    page = site.get("/ark:12345/x").text
    for part in ("The Library", 'href="mailto:arks@example.org"', "#990000", "We keep names."):
        assert part in page
    assert "An Archive" not in page
    bindings.branding.set(NO_BRANDING)
    assert "An Archive" in site.get("/ark:12345/x").text


def test_another_branding_gives_another_entity_tag(bindings, monkeypatch):
    monkeypatch.setattr(rule_cache, "SECONDS_HELD", 0)
    bindings.bind("ark:12345/x", "/x")
    site = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]
    tag = site.get("/ark:12345/x?info").headers["ETag"]
    assert site.get("/ark:12345/x?info", headers={"If-None-Match": tag}).status_code == 304
    bindings.branding.set(LIBRARY)
    assert site.get("/ark:12345/x?info", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "null", "{}", '{"revision": 1}', '{"institution": 5}', '{"colour": "x}"}', "\u202e"),
        *("[" * 100_000, f'{{"revision": {"1" * 5000}}}', '{"revision": 1e999}'),
        '{"revision": 1, "changed": "2026-01-02T00:00:00", "actor": null}',
        '{"revision": 1, "changed": "2026-01-02T00:00:00Z", "actor": [1]}',
        '{"revision": Infinity, "changed": "2026-01-02T00:00:00Z", "actor": null}',
        '{"revision": "x", "changed": "2026-01-02T00:00:00Z", "actor": null}',
    ],
)
def test_a_wrong_row_of_another_program_is_logged_and_ignored(text, caplog):
    with caplog.at_level(logging.WARNING):
        assert version_of(text) is None
    assert "is not valid, so it is ignored" in caplog.text
    assert caplog.text.isascii()


def test_a_version_can_be_read_again():
    version = BrandingVersion(branding=LIBRARY, revision=4, changed=datetime(2026, 1, 2, tzinfo=UTC), actor="\u05d0")
    assert version_of(version.text) == version
    assert json.loads(version.text)["institution"] == "The Library"


def test_a_file_has_no_branding(tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\nark:12345/x,/x\n")
    with open_bindings(table) as bindings:
        assert (bindings.branding.current(), bindings.branding.history()) == (NO_BRANDING, [])
        with pytest.raises(ReadOnlyBindings):
            bindings.branding.set(LIBRARY)


def test_values_are_checked():
    assert check({"institution": "", "contact": None, "statement": " "}) == NO_BRANDING
