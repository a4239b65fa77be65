"""Feeds answer only at their paths, with the header fields of the resolver, and the site answers at all other paths."""

from __future__ import annotations

import re

import pytest

from ararat.bindings.system.thread_slots import slots
from ararat.middleware import BindingSource, BindingsUnavailable, ResolverMiddleware
from ararat.middleware.feeds.feed import FeedAnswer
from ararat.middleware.feeds.sitemaps import Sitemap
from ararat.middleware.resolution.settings import Settings

from .conftest import PREFIX, site

ATOM, SITEMAP = "/changes.atom", "/sitemap-names.xml"


class Unlisted(BindingSource):
    def fetch(self, keys):
        return {}


def test_without_feeds_the_site_gets_requests_directly(ticking):
    assert ResolverMiddleware(site, ticking, prefix=PREFIX)._others is site


def test_site_answers_at_other_paths(ticking, feed_of):
    on, off = feed_of(ticking, atom=ATOM, sitemap=SITEMAP), feed_of(ticking)
    for path in (f"{ATOM}/", f"{ATOM}/x", "/CHANGES.atom", "/", f"/x{ATOM}", f"/{SITEMAP}"):
        assert on.get(path).text == "the site", path
    for path in (ATOM, SITEMAP):
        assert on.get(path).text != "the site"
        assert off.get(path).text == "the site"


def test_services_and_names_are_answered_beside_feeds(ticking, feed_of):
    ticking.bind("ark:12345/x", "https://example.org/")
    client = feed_of(ticking, atom=ATOM, services="/uri-res")
    assert client.get("/ark:12345/x").location == "https://example.org/"
    assert client.get("/uri-res/N2L?ark:12345/x").location == "https://example.org/"


def test_feeds_answer_below_a_mount(ticking, feed_of):
    answer = feed_of(ticking, atom=ATOM).get(ATOM, base_url="https://elsewhere.example/mount")
    assert f"<id>{PREFIX}{ATOM}</id>" in answer.text


def test_other_methods_are_refused(ticking, feed_of):
    client = feed_of(ticking, atom=ATOM)
    answer = client.post(ATOM)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    answer = client.options(ATOM)
    assert (answer.status_code, answer.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


def test_scripts_of_other_sites_can_send_a_conditional_request(ticking, feed_of):
    client = feed_of(ticking, oai="/oai")
    fields = {"Origin": "https://app.example", "Access-Control-Request-Headers": "if-none-match"}
    preflight = client.options("/oai", headers=fields).headers
    assert preflight["Access-Control-Allow-Methods"] == "GET, POST, HEAD, OPTIONS"
    assert (preflight["Access-Control-Allow-Headers"], preflight["Access-Control-Allow-Origin"]) == ("*", "*")


def test_answers_have_the_header_fields_of_the_resolver(ticking, feed_of):
    fields = feed_of(ticking, atom=ATOM, cache=60, hsts="max-age=9").get(ATOM, base_url="https://r.example").headers
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert fields["Access-Control-Allow-Origin"] == "*"
    assert fields["Referrer-Policy"] == "no-referrer"
    assert fields["Cache-Control"] == "max-age=60"
    assert fields["Strict-Transport-Security"] == "max-age=9"


def test_a_closed_store_is_answered_with_503(ticking, feed_of):
    client = feed_of(ticking, atom=ATOM, sitemap=SITEMAP)
    ticking.close()
    for path in (ATOM, SITEMAP, f"{SITEMAP}?from="):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
        assert answer.text == "The names cannot be read now. Try again later.\n"


def test_an_error_of_the_program_is_logged_and_answered_with_500(ticking, feed_of, monkeypatch, caplog):
    def fail(sitemap, request) -> FeedAnswer:
        raise RuntimeError("broken")

    client = feed_of(ticking, sitemap=SITEMAP)
    monkeypatch.setattr(Sitemap, "answer", fail)
    assert client.get(SITEMAP).status_code == 500
    assert "The feed at /sitemap-names.xml failed" in caplog.text


def test_a_failure_while_a_file_is_sent_ends_the_answer(ticking, feed_of, monkeypatch):
    monkeypatch.setattr("ararat.middleware.feeds.sitemaps.NAMES_AT_ONCE", 1)
    for number in range(3):
        ticking.bind(f"ark:12345/{number}", "/x")
    answer = feed_of(ticking, sitemap=SITEMAP).get(f"{SITEMAP}?from=", buffered=False)
    chunks = iter(answer.iter_encoded())
    next(chunks)
    next(chunks)
    ticking.close()
    with pytest.raises(BindingsUnavailable):
        list(chunks)


def test_malformed_environs_reach_the_site(ticking):
    application = ResolverMiddleware(site, ticking, prefix=PREFIX, atom=ATOM)
    for environ in ({}, {"PATH_INFO": []}, {"PATH_INFO": None}, {"PATH_INFO": b"/changes.atom"}):
        assert application(environ, lambda *_: lambda _: None) == [b"the site"]


def test_bindings_that_cannot_be_listed_are_refused():
    with pytest.raises(ValueError, match="atom: these bindings cannot be listed; pass the result of open_bindings"):
        ResolverMiddleware(site, Unlisted(), prefix=PREFIX, atom=ATOM)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"atom": "/a"}, "atom: the prefix is missing; set prefix=…, because the answers have absolute addresses"),
        ({"sitemap": "/a"}, "sitemap: the prefix is missing"),
        ({"prefix": PREFIX, "atom": "a"}, "atom: a is neither a URL nor a path"),
        ({"prefix": PREFIX, "atom": "/"}, "atom: '/' is not an unreserved path like '/changes.atom'"),
        ({"prefix": PREFIX, "atom": "/ark:1"}, "atom: '/ark:1' is not an unreserved path"),
        ({"prefix": PREFIX, "atom": "/a%20b"}, "atom: '/a%20b' is not an unreserved path"),
        ({"prefix": PREFIX, "atom": "/a?b"}, "atom: '/a?b' has a query or a fragment"),
        ({"prefix": PREFIX, "sitemap": "/a/b.xml"}, "sitemap: '/a/b.xml' is in a folder, so it cannot list names"),
        (
            {"prefix": PREFIX, "oai": "/a", "services": "/uri", "atom": "/uri/N2L"},
            "atom: '/uri/N2L' belongs to the log",
        ),
        ({"prefix": PREFIX, "oai": "/l/oai", "log": "/l", "log_folder": "/"}, "oai: '/l/oai' belongs to the log or to"),
        ({"prefix": PREFIX, "atom": "/a", "sitemap": "/a"}, "atom: '/a' is also the path of sitemap; choose another"),
    ],
)
def test_wrong_paths_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        Settings(**arguments)


# Slow clients ---------------------------------------------------------------------------------------------------------

FEEDS = {"atom": ATOM, "sitemap": SITEMAP, "oai": "/oai"}
ASKED = [ATOM, SITEMAP, f"{SITEMAP}?from=ark:", "/oai?verb=ListRecords&metadataPrefix=oai_dc"]


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ASKED)
def test_an_answer_holds_a_slot_until_the_client_has_read_it(path, ticking, feed_of):
    ticking.bind("ark:12345/x", "https://example.org/")
    answer = feed_of(ticking, **FEEDS).get(path)
    assert (answer.status_code, slots.in_use("feeds")) == (200, 1)
    assert answer.data
    answer.close()
    assert slots.in_use() == 0


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ASKED)
def test_an_answer_without_a_body_holds_no_slot(path, ticking, feed_of):
    client = feed_of(ticking, **FEEDS)
    found = client.get(path)
    found.close()
    client.head(path)
    client.options(path)
    client.get(path, headers={"If-None-Match": found.headers.get("ETag", "*")}).close()
    assert slots.in_use() == 0


@pytest.mark.parametrize("path", ASKED)
def test_a_feed_without_a_slot_is_refused(path, ticking, feed_of):
    held = [slots.acquire("feeds") for _ in range(slots.limit("feeds"))]
    slots._held = {key: each._replace(began=each.began - 60) for key, each in slots._held.items()}
    client = feed_of(ticking, **FEEDS)
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    held[0].release()
    assert client.get(path).status_code == 200


def test_a_failed_feed_frees_its_slot(ticking, feed_of, monkeypatch):
    monkeypatch.setattr(Sitemap, "answer", lambda *given: 1 / 0)
    assert feed_of(ticking, sitemap=SITEMAP).get(SITEMAP).status_code == 500
    assert slots.in_use() == 0
