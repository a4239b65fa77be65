"""Rows of rules, counters and UUIDs in an import."""

from __future__ import annotations

from io import BytesIO

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.summary import Summary
from ararat.bindings.minting import mint


def table(*lines: str) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


def test_rules_counters_and_minted_names_are_imported(bindings: Bindings) -> None:
    lines = (
        "identifier,target,kind,status,redirect,resource",
        "ark:/12345/x-5,https://example.org/${value},rule,,307,",
        "ark:12345/x5,next 17 of 10^4,counter,,,",
        "urn:uuid:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6,,uuid,,,R1",
        "ark:/12345/x5-0003,,,reserved,,",
        "ark:12345/x50003,,,reserved,,",
    )
    summary = run(bindings, *lines)
    assert (summary.rules, summary.settings, summary.reserved, summary.unchanged) == (1, 2, 1, 1)
    assert [(each.outcome, each.line) for each in summary.listed] == [
        ("set", 2),
        ("set", 3),
        ("set", 4),
        ("reserved", 5),
    ]
    (rule,) = bindings.rules.list()
    assert (rule.prefix, rule.template, rule.redirect) == ("ark:12345/x5", "https://example.org/${value}", 307)
    reserved = bindings.lookup("ark:12345/x50003")
    assert reserved is not None
    assert (reserved.status, reserved.spelling) == ("reserved", "ark:/12345/x5-0003")
    assert run(bindings, *lines).unchanged == 5
    bindings.rules.remove("ark:12345/x5")
    assert mint(bindings, "12345/x5", length=4, digits=True, sequential=True) == ["ark:12345/x50017"]
    again = run(bindings, lines[0], lines[2])
    assert again.unchanged == 1
    assert mint(bindings, "12345/x5", length=4, digits=True, sequential=True) == ["ark:12345/x50018"]
    assert bindings.bind("ark:12345/x50003", "/3") == "bound"
    assert run(bindings, lines[0], lines[4]).unchanged == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("row", "code"),
    [
        pytest.param("ark:12345/x5,/other/${value},rule,,", "rule-otherwise", id="another template"),
        pytest.param("ark:12345/x5,/things/${value},rule,,307", "rule-otherwise", id="another redirect"),
        pytest.param("ark:12345/x6,/no-variable,rule,,", "rule-template", id="no template"),
        pytest.param("urn:isbn,/things/${value},rule,,", "rule-prefix", id="no prefix"),
        pytest.param("ark:12345/x5,/things/${value},rule,withdrawn,", "row-columns", id="a rule with a status"),
        pytest.param("ark:12345/old,/2,,reserved,", "reserve-public", id="a public name with another target"),
        pytest.param("ark:12345/kept,,,withdrawn,", "withdraw-reserved", id="a tombstone for a reserved name"),
        pytest.param("ark:12345,,,reserved,", "no-name", id="no name"),
        pytest.param("ark:12345/x5,17,counter,,", "counter-text", id="no counter"),
        pytest.param("ark:12345/x.5,next 17 of 10^4,counter,,", "counter-text", id="a counter of no shoulder"),
        pytest.param("urn:isbn:0451450523,,uuid,,", "counter-text", id="no UUID"),
    ],
)
def test_each_kind_of_row_has_its_own_rules(bindings: Bindings, row: str, code: str) -> None:
    bindings.rules.set("ark:12345/x5", "/things/${value}")
    bindings.bind("ark:12345/old", "/1")
    bindings.reserve("ark:12345/kept")
    summary = run(bindings, "identifier,target,kind,status,redirect", row, "ark:12345/new,/1,,,")
    assert codes(summary) == [(2, code)]
    assert bindings.lookup("ark:12345/new") is None
    assert [rule.template for rule in bindings.rules.list()] == ["/things/${value}"]


def test_the_owner_of_a_uuid_is_never_replaced(bindings: Bindings) -> None:
    row = "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6,uuid,"
    assert run(bindings, "identifier,kind,resource", f"{row}R1").settings == 1
    assert codes(run(bindings, "identifier,kind,resource", f"{row}R2")) == [(2, "uuid-reused")]
