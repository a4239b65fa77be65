"""The public function resolve gives what the middleware answers, without a request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from werkzeug.test import Client

from ararat.bindings.holding import hold
from ararat.identifiers import parse
from ararat.middleware import Bindings, ResolverMiddleware, resolve

TARGET = "https://example.org/a"


@pytest.fixture
def bindings(ararat_bindings: Bindings) -> Bindings:
    b = ararat_bindings
    b.bind("ark:12345/x5a", TARGET, passthrough=True)
    b.bind("ark:12345/x5b", "https://example.org/b")
    b.withdraw("ark:12345/x5b", reason="gone")
    b.bind("ark:12345/q9held", TARGET)
    hold(b, "12345/q9", datetime.now(UTC) + timedelta(days=1), "a dispute", kind="prefix")
    b.rules.set("12345/r1", "https://example.org/r/${value}")
    b.prefixes.set("12345/d1", state="delegated", resolver="https://lower.example")
    b.bind("urn:nbn:de:gbv:089-3321752945", "https://example.org/u")
    return b


CASES = {
    "bound": "ark:/12345/x-5a",
    "passthrough": "ark:12345/x5a/page1",
    "withdrawn": "ark:12345/x5b",
    "held by its prefix": "ark:12345/q9held",
    "rule": "ark:12345/r1zz",
    "delegated": "ark:12345/d1zz",
    "unknown": "ark:12345/zzz",
    "prefix": "ark:12345/d1",
    "description": "ark:12345/x5a?info",
    "urn": "URN:nbn:de:gbv:089-3321752945",
    "not an ARK": "ark:12345/%zz",
}


@pytest.mark.one_setup
@pytest.mark.parametrize("identifier", CASES.values(), ids=CASES)
def test_it_leads_where_the_middleware_leads(bindings: Bindings, identifier: str) -> None:
    found = resolve(bindings, identifier)
    application = ResolverMiddleware(lambda environ, start: [], bindings)
    answer = Client(application).get(f"/{identifier}")
    assert answer.status_code == found.status
    if found.outcome in ("located", "related", "forwarded"):
        assert answer.location == found.target


def test_a_value_and_an_address_of_this_resolver_are_read(bindings: Bindings) -> None:
    value = parse("ark:12345/x5a")
    assert resolve(bindings, value).target == TARGET
    prefix = "https://names.example"
    assert resolve(bindings, f"{prefix}/ark:12345/x5a", prefix=prefix).target == TARGET


def test_a_wrong_setting_is_refused(bindings: Bindings) -> None:
    with pytest.raises(ValueError, match="max_length"):
        resolve(bindings, "ark:12345/x5a", max_length=1)
