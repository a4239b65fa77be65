"""The answer that a site should give for a name by its record, and the differences from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ararat.bindings.names.fields import Fields
from ararat.bindings.names.prefixes.holds import Holds
from ararat.middleware import Binding, BindingSource, resolve
from ararat.middleware.http.expected_answers import TEMPORARY, ExpectedAnswer, answer_of, fault
from ararat.net.response import SiteAnswer

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TARGET = "https://example.org/x"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, ExpectedAnswer(TEMPORARY, TARGET), id="located"),
        pytest.param({"kind": "related"}, ExpectedAnswer((303,), TARGET), id="related"),
        pytest.param({"kind": "described", "target": None}, ExpectedAnswer((200, 303)), id="described"),
        pytest.param({"kind": "served", "target": "/x"}, ExpectedAnswer((200, 204)), id="served"),
        pytest.param({"alternates": {"en": "https://example.org/en"}}, ExpectedAnswer(TEMPORARY), id="alternates"),
        pytest.param({"status": "withdrawn"}, ExpectedAnswer((410,)), id="withdrawn"),
        pytest.param({"status": "reserved"}, ExpectedAnswer((404,)), id="reserved"),
        pytest.param({"status": "reserved", "once_public": "yes"}, ExpectedAnswer((410,)), id="hidden"),
        pytest.param({"hold_until": NOW + timedelta(days=1)}, ExpectedAnswer((303,)), id="on hold"),
        pytest.param({"hold_until": NOW}, ExpectedAnswer(TEMPORARY, TARGET), id="after a hold"),
    ],
)
def test_the_answer_follows_from_the_record(changes: dict[str, Any], expected: ExpectedAnswer):
    recorded = Fields(target=TARGET).for_name("ark:12345/x").create_binding(NOW)
    assert answer_of(resolve(Store(replace(recorded, **({"status": "live"} | changes))), "ark:12345/x")) == expected


class Store(BindingSource):
    """A store with one name, at a fixed time."""

    def __init__(self, *recorded: Binding) -> None:
        self.recorded = {each.identifier: each for each in recorded}

    def fetch(self, keys: Iterable[str], /) -> dict[str, Binding]:
        return {key: self.recorded[key] for key in keys if key in self.recorded}

    def now(self) -> datetime:
        return NOW

    def holds(self) -> Holds:
        return Holds(each.hold for each in self.recorded.values() if each.hold)


@pytest.mark.parametrize(
    ("location", "target", "is_right"),
    [
        pytest.param(TARGET, TARGET, True, id="equal"),
        pytest.param("/x", TARGET, True, id="relative"),
        pytest.param("https://example.org", "https://example.org/", True, id="an empty path"),
        pytest.param("https://example.org/X", TARGET, False, id="letter case"),
        pytest.param("https://example.org/x?a", TARGET, False, id="a query"),
        pytest.param("https://example.org/x?a#b", "/x?a#b", True, id="a page of the site"),
        pytest.param("//[", "/x", False, id="no URL, for a path"),
        pytest.param("//[", TARGET, False, id="no URL"),
        pytest.param(None, TARGET, False, id="no Location"),
    ],
)
def test_the_location_is_compared_with_the_target(location: str | None, target: str, is_right: bool):
    fields = () if location is None else (("LOCATION", location),)
    found = fault("GET /", "https://example.org/ark:12345/x", SiteAnswer(302, fields), ExpectedAnswer((302,), target))
    assert (found is None) == is_right


@pytest.mark.parametrize(
    ("answer", "fix"),
    [
        (SiteAnswer(503, ()), "cannot read its bindings"),
        (SiteAnswer(500, ()), "The application failed"),
        (SiteAnswer(401, ()), "asks for a password"),
        (SiteAnswer(429, ()), "limits the number"),
        (SiteAnswer(308, (("Location", "\x1b[2J"),)), "permanent redirect"),
        (SiteAnswer(299, ()), "ararat show NAME"),
        (SiteAnswer(404, (("Content-Type", "application/problem+json"),), b"[" * 9999), "did not reach a resolver"),
        (SiteAnswer(400, (("Content-Type", "application/problem+json"),), b'{"code": "bad-char"}'), "ararat inspect"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, SiteAnswer) else "",
)
def test_each_fault_states_what_to_do_in_printable_ascii(answer: SiteAnswer, fix: str):
    found = fault("GET /\u202e", "https://example.org/", answer, ExpectedAnswer((302,), TARGET))
    assert found is not None
    assert fix in found.fix
    assert str(found).replace("\n", "").isprintable()
    assert str(found).isascii()
