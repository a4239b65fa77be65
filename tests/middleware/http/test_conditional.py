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
from ararat.middleware.resolution.description_formats import FORMATS

CHANGED = "Sun, 04 Oct 2026 12:00:00 GMT"
INFO = "/ark:12345/doc?info"


@pytest.fixture
def client(held, binding):
    def make(**settings):
        fields = {"metadata": {"who": "Noah", "what": "The Ark", "when": "2026"} | settings.pop("metadata", {})}
        store = held(
            binding("ark:12345/doc", "https://example.org/doc", **fields),
            binding("ark:12345/box", "https://example.org/box", passthrough=True),
        )
        return Client(ResolverMiddleware(None, store, **settings))  # type: ignore[arg-type]

    return make


@pytest.mark.one_setup
@pytest.mark.parametrize("form", [form.media_type for form in FORMATS])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_unchanged_description_is_not_sent_again(client, form, method):
    first = client(hsts="max-age=1").get(INFO, headers={"Accept": form}, base_url="https://localhost")
    headers = {"Accept": form, "If-None-Match": first.headers["ETag"]}
    again = client(hsts="max-age=1").open(INFO, method=method, headers=headers, base_url="https://localhost")
    assert (again.status, again.data) == ("304 Not Modified", b"")
    left = [(name, value) for name, value in first.headers.to_wsgi_list() if not name.startswith("Content-")]
    assert again.headers.to_wsgi_list() == left
    assert {"ETag", "Vary", "Cache-Control", "Link", "Strict-Transport-Security"} <= {name for name, _ in left}


def test_each_form_has_its_own_etag_that_changes_with_the_content(client):
    def tags(**settings):
        answers = [client(**settings).get(INFO, headers={"Accept": form.media_type}) for form in FORMATS]
        return [answer.headers["ETag"] for answer in answers]

    first = tags()
    assert len(set(first)) == len(FORMATS)
    assert first == tags(forward_query=True)
    assert not set(first) & set(tags(metadata={"what": "A document", "policy": "https://example.org/policy"}))
    # A DataCite record does not contain the address of the name.
    assert {form.name for form, tag in zip(FORMATS, tags(prefix="https://r.example"), strict=True) if tag in first} == {
        "datacite-xml"
    }
    assert not set(first[:3]) & set(tags(inflections={"?toc": "Its contents"}))
    assert not any(tag.startswith("W/") for tag in first)


# A date of the last change does not change with the settings.
@pytest.mark.one_setup
@pytest.mark.parametrize("field", ["If-None-Match", "If-Modified-Since"])
def test_a_changed_setting_is_never_answered_with_304(client, field):
    before = client(inflections={"?toc": "Its contents"}).get(INFO)
    held = {field: before.headers["ETag"] if field == "If-None-Match" else CHANGED}
    after = client(inflections={"?index": "Its index"}).get(INFO, headers=held)
    assert (after.status_code, "Last-Modified" in after.headers) == (200, False)


@pytest.mark.one_setup
@pytest.mark.parametrize("header", [{"Range": "bytes=0-9"}, {"Range": "bytes=0-9", "If-Range": CHANGED}, {}])
def test_a_range_is_answered_with_the_whole_description(client, header):
    whole = client().get(INFO)
    part = client().get(INFO, headers=header)
    assert (part.status_code, part.data, part.headers) == (200, whole.data, whole.headers)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"If-None-Match": '"another"'}, 200, id="another tag"),
        pytest.param({"If-None-Match": '"another", {tag}'}, 304, id="one of two"),
        pytest.param({"If-None-Match": "W/{tag}"}, 304, id="the tag, weakened by a proxy"),
        pytest.param({"If-None-Match": "*"}, 304, id="any"),
        pytest.param({"If-None-Match": '"'}, 200, id="half a tag"),
        pytest.param({"If-Modified-Since": CHANGED}, 200, id="If-Modified-Since is ignored"),
        pytest.param({"If-None-Match": '"another"', "If-Modified-Since": CHANGED}, 200, id="the tag decides"),
        pytest.param({"If-None-Match": "{tag}", "If-Modified-Since": "yesterday"}, 304, id="the tag decides, too"),
        pytest.param({"If-Match": '"another"'}, 412, id="another description is expected"),
        pytest.param({"If-Match": '"another", {tag}'}, 200, id="this one is expected"),
        pytest.param({"If-Match": "*"}, 200, id="any is expected"),
        pytest.param({"If-Match": "W/{tag}"}, 412, id="a weak tag does not identify octets"),
        pytest.param({"If-Match": '"another"', "If-None-Match": "{tag}"}, 412, id="If-Match is evaluated first"),
        pytest.param({"If-Match": "{tag}", "If-None-Match": "{tag}"}, 304, id="then If-None-Match"),
        pytest.param({"If-Unmodified-Since": CHANGED}, 200, id="the time of the change is not known"),
    ],
)
def test_conditions_follow_rfc_9110(client, headers, status):
    tag = client().get(INFO).headers["ETag"]
    given_fields = {name: value.format(tag=tag) for name, value in headers.items()}
    answer = client().get(INFO, headers=given_fields)
    assert answer.status_code == status
    assert (b"If-Match" in answer.data) == ("ETag" not in answer.headers) == (status == 412)
    assert client().get("/ark:12345/doc", headers=given_fields).status_code == 302
    assert client().get("/ark:12345/unknown", headers=given_fields).status_code == 404


def test_a_description_that_changed_since_is_refused_to_a_client_that_expects_the_old_one():
    headers = {"Last-Modified": CHANGED}
    before, after = "Sun, 04 Oct 2026 11:59:59 GMT", "Sun, 04 Oct 2026 12:00:01 GMT"
    found = [
        Conditions(if_unmodified_since=date).precondition_fails(headers)
        for date in (before, CHANGED, after, "yesterday")
    ]
    assert found == [True, False, False, False]
    assert not Conditions(if_match="*", if_unmodified_since=before).precondition_fails(headers)


def test_a_change_is_sent(database, open_store):
    bindings = open_store(database)
    site = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]
    bindings.bind("ark:12345/doc", "/x", metadata={"what": "one"})
    first = site.get(INFO).headers["ETag"]
    assert site.get(INFO, headers={"If-None-Match": first}).status_code == 304
    for change in (
        lambda: bindings.bind("ark:12345/doc", "/x", metadata={"what": "two"}),
        lambda: bindings.withdraw("ark:12345/doc"),
    ):
        change()
        assert site.get(INFO, headers={"If-None-Match": first}).status_code == 200


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


def test_an_answer_of_a_container_is_conditional(client):
    answer = client().get("/ark:12345/box/1?info")
    held = client().get("/ark:12345/box/1?info", headers={"If-None-Match": answer.headers["ETag"]})
    assert held.status_code == 304


# RFC 9110, section 13.2.1: an answer other than 2xx does not depend on conditions.
@pytest.mark.one_setup
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
        assert conditions.is_not_modified(headers) in (True, False)
