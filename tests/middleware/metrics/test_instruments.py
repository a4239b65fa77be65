"""The numbers that a resolver counts, and their labels."""

from __future__ import annotations

from math import isnan
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import Client

from ararat.middleware import BindingSource, BindingsUnavailable, ResolverASGIMiddleware, ResolverMiddleware
from ararat.middleware.metrics import instruments
from ararat.middleware.metrics.instruments import OTHER, Metrics
from ararat.middleware.resolution.resolver import resolve
from ararat.middleware.resolution.settings import Settings
from tests.asgi_client import Client as AsgiClient

RESOLUTIONS = "ararat_resolutions_total"


class Broken(BindingSource):
    def fetch(self, keys):
        raise BindingsUnavailable("the disk is full")


@pytest.mark.parametrize(
    ("target", "outcome", "prefix"),
    [
        ("/ark:12345/x1", "located", "ark:12345/x"),
        ("/ark:/12345/x-1?info", "metadata", "ark:12345/x"),
        ("/ark:12345/x2", "served", "ark:12345/x"),
        ("/ark:12345/x3", "described", "ark:12345/x"),
        ("/ark:12345/x4", "related", "ark:12345/x"),
        ("/ark:12345/x?info", "prefix", "ark:12345/x"),
        ("/ark:12345/xq", "refused", "ark:12345/x"),
        ("/ark:12345/c/part/2", "located", "ark:12345/"),
        ("/ark:54321/any", "located", "ark:54321/"),
        ("/urn:isbn:0-451-45052-3", "located", "urn:isbn:"),
        ("/ark:67890/y", "located", "ark:67890/"),
        ("/ark:67890/z", "refused", OTHER),
        ("/urn:isbn:0451450530", "refused", OTHER),
        ("/ark:99999/x", "refused", OTHER),
        ("/ark:", "refused", OTHER),
    ],
)
def test_a_resolution_is_counted_by_its_outcome_and_prefix(client, grown, target, outcome, prefix):
    client.get(target)
    assert grown(RESOLUTIONS) == {(outcome, prefix): 1}


def test_unbound_names_of_an_own_naan_are_counted_with_it(site, names, metrics, client, grown):
    own = Client(ResolverMiddleware(site, names, prefix="https://r.example", naans=["67890"], forward=True, **metrics))
    for target in ("/ark:67890/z", "/ark:13030/z"):
        own.get(target)
    assert grown(RESOLUTIONS) == {("refused", "ark:67890/"): 1, ("forwarded", OTHER): 1}


def test_the_parts_add_up(client, grown):
    for target in ("/ark:12345/x1", "/ark:67890/z", "/ark:12345/x1?info", "/ark:99999/x"):
        client.get(target)
    client.head("/ark:12345/x1")
    client.post("/ark:12345/x1")
    client.options("/ark:12345/x1")
    client.get("/another/page")
    assert sum(grown(RESOLUTIONS).values()) == sum(grown("ararat_resolution_seconds_count").values()) == 6
    assert grown("ararat_resolution_seconds_bucket")["+Inf",] == 6
    refused = {("not-bound",): 1, ("naan-reserved-invalid",): 1, ("method-not-allowed",): 1}
    assert grown("ararat_refusals_total") == refused


@settings(max_examples=40)
@given(st.text(), st.sampled_from(["ark:{}/x", "ark:12345/{}", "urn:{}:x", "{}"]))
def test_hostile_names_create_no_series(names, text, form):
    metrics, known = Metrics(Settings(), names), Settings()
    given = form.format(quote(text))
    found = resolve(given, names.store.fetch, names.source.binding_by_rule, known, prefixes=names.source.prefix_records)
    metrics.observe(found, "GET", found.status, 0.001)
    assert {prefix for _, prefix in metrics._resolutions} <= {OTHER, "ark:12345/x", "ark:12345/"}


def test_the_number_of_series_is_limited(site, held, binding, metrics, grown, monkeypatch):
    monkeypatch.setattr(instruments, "MAX_SERIES", 2)
    bound = [binding(f"ark:1234{number}/x", "https://example.org/") for number in range(6)]
    client = Client(ResolverMiddleware(site, held(*bound), **metrics))
    for _ in range(2):
        for each in bound:
            client.get(f"/{each.identifier}")
    expected = {("located", "ark:12340/"): 2, ("located", "ark:12341/"): 2, ("located", OTHER): 8}
    assert grown(RESOLUTIONS) == expected


def test_failures_of_the_store_are_counted(site, metrics, grown):
    client = Client(ResolverMiddleware(site, Broken(), **metrics))
    assert [client.get(target).status_code for target in ("/ark:12345/x", "/ark:12345/y")] == [503, 503]
    assert grown("ararat_store_errors_total") == {(): 2}
    assert grown("ararat_refusals_total") == {("bindings-unavailable",): 2}


def test_prefix_records_that_cannot_be_read_change_no_answer(site, held, binding, metrics, grown, caplog):
    class WithoutRecords(held):
        def prefix_records(self):
            raise BindingsUnavailable("the disk is full")

    client = Client(ResolverMiddleware(site, WithoutRecords(binding("ark:12345/x", "https://example.org/")), **metrics))
    assert client.get("/ark:12345/x").status_code == 302
    assert grown(RESOLUTIONS) == {("located", "ark:12345/"): 1}
    assert not caplog.records


def test_asgi_counts_the_same(names, metrics, grown):
    async def nothing(scope, receive, send):
        raise AssertionError(scope)

    client = AsgiClient(ResolverASGIMiddleware(nothing, names, prefix="https://r.example", **metrics))
    for target in ("/ark:12345/x1", "/ark:67890/z"):
        client.request(target)
    assert grown(RESOLUTIONS) == {("located", "ark:12345/x"): 1, ("refused", OTHER): 1}


def test_on_resolve_is_still_called(site, names, metrics, grown):
    seen = []
    Client(ResolverMiddleware(site, names, on_resolve=seen.append, **metrics)).get("/ark:12345/x1")
    assert [(each.status, each.seconds > 0) for each in seen] == [(302, True)]
    assert grown(RESOLUTIONS) == {("located", "ark:12345/x"): 1}


def test_the_number_of_names_is_published(site, client, names, metrics, authorized, read):
    assert read(client.get("/metrics", headers=authorized).text)["ararat_names",] == names.count().number == 7
    unreadable = Client(ResolverMiddleware(site, Broken(), **metrics))
    assert isnan(read(unreadable.get("/metrics", headers=authorized).text)["ararat_names",])


def test_the_facts_of_the_digest_are_published(client, authorized, read):
    values = read(client.get("/metrics", headers=authorized).text)
    found = {key[1]: value for key, value in values.items() if key[0] == "ararat_problem"}
    assert found["backup"] == 1
    assert found["links"] == 0
    assert values["ararat_fact", "links"] == 0
