"""Names that are promised as persistent and do not keep the promise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ararat.bindings.checks.promises import PROMISE_CHECKS, check_promises
from ararat.bindings.collection import Bindings


def dead(names: Sequence[str]) -> dict[str, str]:
    return {name: "the target is dead since 2026-11-01: 404" for name in names if name.endswith("dead")}


def found(bindings: Bindings, *hosts: str) -> list[tuple[str, str]]:
    return [(each.identifier, each.code) for each in check_promises(bindings, dead, hosts=hosts)]


@pytest.fixture
def promising(bindings: Bindings) -> Bindings:
    bindings.prefixes.set("12345", availability="lifetime", hosts="Museum.example")
    for name in ("ok", "dead", "gone", "moved", "finite"):
        bindings.bind(f"ark:12345/{name}", f"https://iiif.museum.example/{name}")
    bindings.bind("ark:12345/finite", "https://iiif.museum.example/finite", metadata={"availability": "finite"})
    bindings.bind(
        "ark:12345/other", "https://museum.example.evil.example/1", alternates={"en": "https://cdn.example/1"}
    )
    bindings.bind("ark:12345/path", "/17")
    bindings.bind("ark:54321/unpromised.dead", "https://elsewhere.example/")
    bindings.reserve("ark:12345/reserved", "https://elsewhere.example/")
    bindings.withdraw("ark:12345/gone")
    bindings.withdraw("ark:12345/moved", successor="ark:12345/ok")
    return bindings


def test_only_promised_names_that_break_the_promise_are_reported(promising: Bindings) -> None:
    assert found(promising) == [
        ("ark:12345/dead", "promise-dead"),
        ("ark:12345/gone", "promise-withdrawn"),
        ("ark:12345/other", "promise-host"),
        ("ark:12345/other", "promise-host"),
    ]
    assert {code for _, code in found(promising)} <= PROMISE_CHECKS.keys()
    promising.withdraw("ark:12345/gone", reason="It was lost.")
    assert ("ark:12345/gone", "promise-withdrawn") not in found(promising)


def test_hosts_of_the_site_are_added_and_without_hosts_all_are_own(promising: Bindings) -> None:
    own = ("cdn.example", "museum.example.evil.example")
    assert ("ark:12345/other", "promise-host") not in found(promising, *own)
    promising.prefixes.set("12345", hosts="")
    assert ("ark:12345/other", "promise-host") not in found(promising)
