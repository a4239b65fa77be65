"""Results of lists of traces in memory: found by their id, for a limited time and number."""

from __future__ import annotations

import pytest

from ararat.tracing.bulk import BulkTraceRow
from ararat.webapp.trace_results import Results


def row(identifier="ark:12345/x", sentence=""):
    return BulkTraceRow(identifier, "resolves", False, 200, "https://example.org/", 1, 0.1, "found", sentence)


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def make(now):
    return lambda **limits: Results(**limits, clock=lambda: now[0])


def test_a_result_is_found_only_by_its_id(make):
    results = make()
    key = results.new(("ark:12345/x",), "192.0.2.1")
    results.add(key, row())
    assert results.get(key).rows == [row()]
    assert results.get(key).texts == ("ark:12345/x",)
    assert len(key) >= 32
    assert [results.get(other) for other in ("", key[:-1], key.upper())] == [None] * 3
    assert results.new((), None) != results.new((), None)


def test_a_row_of_a_dropped_result_is_ignored(make):
    results = make()
    results.add("gone", row())
    assert results.get("gone") is None


def test_a_result_expires(make, now):
    results = make(seconds=10)
    key = results.new(("x",), None)
    now[0] = 10
    assert results.get(key)
    now[0] = 10.1
    assert results.get(key) is None


def test_a_client_has_a_limited_number_of_results(make):
    results = make(each=2)
    other = results.new(("x",), "192.0.2.2")
    keys = [results.new(("x",), "192.0.2.1") for _ in range(4)]
    assert [results.get(key) is not None for key in keys] == [False, False, True, True]
    assert results.get(other)


def test_all_results_together_have_a_limit(make):
    results = make(characters=1_000)
    keys = [results.new(("x" * 300,), str(number)) for number in range(3)]
    assert all(map(results.get, keys))
    results.add(keys[2], row(sentence="x" * 200))
    assert [results.get(key) is not None for key in keys] == [False, True, True]
    results.add(keys[2], row(sentence="x" * 2_000))
    assert [results.get(key) for key in keys] == [None] * 3
