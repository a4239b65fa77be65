"""Conditional requests for a description: it is sent again only after a change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.http import conditional
from ararat.middleware.http.conditional import Conditions, validators
from ararat.middleware.views.description import FORMS

CHANGED = "Sun, 04 Oct 2020 12:00:00 GMT"
EARLIER = "Sun, 04 Oct 2020 11:59:59 GMT"
INFO = "/ark:12345/doc?info"


@pytest.fixture
def client(held, binding):
    def make(**settings):
        fields = {name: settings.pop(name) for name in ("metadata", "changed") if name in settings}
        fields.setdefault("changed", datetime(2020, 10, 4, 12, tzinfo=UTC))
        store = held(
            binding("ark:12345/doc", "https://example.org/doc", **fields),
            binding("ark:12345/box", "https://example.org/box", passthrough=True),
        )
        return Client(ResolverMiddleware(None, store, **settings))  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_unchanged_description_is_not_sent_again(client, form, method):
    first = client(hsts="max-age=1").get(INFO, headers={"Accept": form}, base_url="https://localhost")
    headers = {"Accept": form, "If-None-Match": first.headers["ETag"]}
    again = client(hsts="max-age=1").open(INFO, method=method, headers=headers, base_url="https://localhost")
    assert (again.status, again.data) == ("304 Not Modified", b"")
    left = [(name, value) for name, value in first.headers.to_wsgi_list() if not name.startswith("Content-")]
    assert again.headers.to_wsgi_list() == left
    assert {"ETag", "Last-Modified", "Vary", "Cache-Control", "Link", "Strict-Transport-Security"} <= {
        name for name, _ in left
    }


def test_each_form_has_its_own_etag_that_changes_with_the_content(client):
    def tags(**settings):
        return {client(**settings).get(INFO, headers={"Accept": form}).headers["ETag"] for form in FORMS}

    first = tags()
    assert len(first) == 3
    assert first == tags(forward_query=True)
    assert not first & tags(metadata={"what": "A document"})
    assert not first & tags(inflections={"?toc": "Its contents"})
    assert not any(tag.startswith("W/") for tag in first)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"If-None-Match": '"another"'}, 200, id="another tag"),
        pytest.param({"If-None-Match": '"another", {tag}'}, 304, id="one of two"),
        pytest.param({"If-None-Match": "W/{tag}"}, 304, id="the tag, weakened by a proxy"),
        pytest.param({"If-None-Match": "*"}, 304, id="any"),
        pytest.param({"If-None-Match": '"'}, 200, id="half a tag"),
        pytest.param({"If-Modified-Since": CHANGED}, 304, id="unchanged since"),
        pytest.param({"If-Modified-Since": "Sun, 04 Oct 2020 12:00:01 GMT"}, 200, id="a date that was never sent"),
        pytest.param({"If-Modified-Since": EARLIER}, 200, id="changed since"),
        pytest.param({"If-Modified-Since": "Sun Oct  4 12:00:00 2020"}, 304, id="an older form of dates"),
        pytest.param({"If-Modified-Since": "yesterday"}, 200, id="no date"),
        pytest.param({"If-None-Match": '"another"', "If-Modified-Since": CHANGED}, 200, id="the tag decides"),
        pytest.param({"If-None-Match": "{tag}", "If-Modified-Since": "yesterday"}, 304, id="the tag decides, too"),
        pytest.param({"If-Match": '"another"'}, 200, id="If-Match is ignored"),
        pytest.param({"If-Unmodified-Since": EARLIER}, 200, id="If-Unmodified-Since is ignored"),
    ],
)
def test_conditions_follow_rfc_9110(client, headers, status):
    changed = datetime(2020, 10, 4, 12, 0, 0, 700_000, tzinfo=UTC)
    tag = client(changed=changed).get(INFO).headers["ETag"]
    given_fields = {name: value.format(tag=tag) for name, value in headers.items()}
    assert client(changed=changed).get(INFO, headers=given_fields).status_code == status


def test_a_change_is_sent_even_if_the_clock_is_set_back(database, open_store):
    now = [datetime.now(UTC) - timedelta(days=1)]
    bindings = open_store(database, clock=lambda: now[0])
    site = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]
    bindings.bind("ark:12345/doc", "/x", metadata={"what": "one"})
    first = site.get(INFO).headers["Last-Modified"]
    assert site.get(INFO, headers={"If-Modified-Since": first}).status_code == 304
    now[0] -= timedelta(hours=1)
    for change in (
        lambda: bindings.bind("ark:12345/doc", "/x", metadata={"what": "two"}),
        lambda: bindings.withdraw("ark:12345/doc"),
        lambda: bindings.restore("ark:12345/doc"),
    ):
        change()
        assert site.get(INFO, headers={"If-Modified-Since": first}).status_code in (200, 410)


@pytest.mark.parametrize(("age", "sent"), [(1.5, False), (2, False), (2.1, True)])
def test_last_modified_is_sent_only_if_it_is_older_than_two_seconds(age, sent, monkeypatch):
    now = datetime(2020, 10, 4, 12, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return now

    monkeypatch.setattr(conditional, "datetime", Clock)
    assert ("Last-Modified" in dict(validators(b"", now - timedelta(seconds=age)))) is sent


def test_a_change_in_the_last_two_seconds_has_no_last_modified():
    now = datetime.now(UTC)
    for changed in (now, now + timedelta(hours=1)):
        assert [name for name, _ in validators(b"", changed)] == ["ETag"]
    assert [name for name, _ in validators(b"", now - timedelta(seconds=3))] == ["ETag", "Last-Modified"]


def test_an_answer_of_a_container_has_no_last_modified(client):
    answer = client().get("/ark:12345/box/1?info")
    assert "Last-Modified" not in answer.headers
    held = client().get("/ark:12345/box/1?info", headers={"If-None-Match": answer.headers["ETag"]})
    assert held.status_code == 304
    since = client().get("/ark:12345/box/1?info", headers={"If-Modified-Since": "Fri, 31 Dec 2100 12:00:00 GMT"})
    assert since.status_code == 200


# RFC 9110, section 13.2.1: an answer other than 2xx does not depend on conditions.
@pytest.mark.parametrize("path", ["/ark:12345/doc", "/ark:12345/nope?info", "/ark:12345/nope", "/ark:"])
def test_only_descriptions_are_conditional(client, path):
    answer = client().get(path, headers={"If-None-Match": "*", "If-Modified-Since": CHANGED})
    assert answer.status_code in (302, 404, 400)
    assert "ETag" not in answer.headers


TAGS = st.none() | st.text(max_size=40) | st.text('W/"\\,* ', max_size=20)
DATES = st.none() | st.text(max_size=40) | st.text("Sun, 04Oct2:GMT+-")


@given(st.builds(Conditions, TAGS, DATES))
def test_every_condition_is_accepted(conditions):
    for headers in ({"ETag": '"a"', "Last-Modified": CHANGED}, {"ETag": '"a"'}, {}):
        assert conditions.met(headers) in (True, False)
