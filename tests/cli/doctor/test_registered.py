"""Compare prefix, name and NAANs of a site with the registry (ARK-022, ARK-088)."""

from __future__ import annotations

import pytest

from ararat.cli.doctor.registered import examine

BNF = "https://ark.bnf.fr"


# ARK-022, ARK-088
@pytest.mark.parametrize(
    ("naan", "prefixes", "name", "found"),
    [
        pytest.param("12148", [BNF], None, [("registered", "ok")], id="as registered"),
        pytest.param("12148", [], None, [("registered", "ok")], id="nothing to compare"),
        pytest.param("12148", ["https://x.example"], None, [("resolver-differs", "error")], id="another resolver"),
        pytest.param("12148", [BNF, "https://x"], None, [("prefix-unregistered", "warning")], id="a second prefix"),
        pytest.param("12148", [BNF], "\u202eBnF", [("name-differs", "warning")], id="another name"),
        pytest.param("54321", [BNF], None, [("naan-unregistered", "warning")], id="not registered"),
    ],
)
def test_a_different_resolver_is_an_error_and_other_differences_are_warnings(
    naan: str, prefixes: list[str], name: str | None, found: list[tuple[str, str]]
) -> None:
    findings = list(examine([naan], prefixes, name))
    assert [(finding.code, finding.state) for finding in findings] == found
    for finding in findings:
        assert finding.message.isascii()
        assert finding.shown == f"NAAN {naan}"


def test_each_naan_is_compared_once_in_any_spelling() -> None:
    assert [finding.shown for finding in examine(["b5072", "12148", "12148", "b-5072"])] == ["NAAN 12148", "NAAN b5072"]


def test_an_invalid_naan_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a NAAN"):
        list(examine(["x/y"]))
