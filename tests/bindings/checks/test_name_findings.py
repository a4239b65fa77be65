"""Findings about bindings."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from sqlalchemy import text

from ararat.bindings.checks import name_findings
from ararat.bindings.checks.name_findings import CHECKS, check, meaning
from ararat.bindings.collection import Bindings
from ararat.bindings.storage.store import DatabaseStore


def found(bindings: Bindings, **options) -> list[tuple[str, str]]:
    return [(finding.identifier, finding.code) for finding in check(bindings, **options)]


# ARK-035, ARK-065, ARK-068
@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        pytest.param(["ark:12345/x5np1"], [], id="nothing"),
        pytest.param(["ark:12345/x5np1", "ark:12345/x5np1/c1.en"], ["generic-missing"], id="a gap between the two"),
        pytest.param(["ark:12345/x5np1.en"], ["generic-missing"], id="a variant and not the thing"),
        pytest.param(["ark:12345/x5", "ark:12345/x5/c1", "ark:12345/x5/c1.en"], [], id="every container is bound"),
        pytest.param(["ark:12345/x5", "ark:12345/x5%2Een"], [], id="an encoded dot alone"),
        pytest.param(["ark:12345/x5", "ark:12345/x5%2Een", "ark:12345/x5.en"], ["encoded-dot"], id="and its twin"),
        pytest.param(["ark:12345/annual_report"], ["not-opaque"], id="words"),
        pytest.param(["ark:12345/x5", "ark:12345/x5/annual_report"], [], id="words below an opaque name"),
        pytest.param(["ark:54321/x5", "ark:54321/x6"], ["naan-unregistered"], id="a NAAN that is not registered, once"),
        pytest.param(["ark:12345/б"], ["non-ascii"], id="a letter that is not ASCII"),
        pytest.param(["urn:example:annual-report"], [], id="a URN, whose namespace has its own rules"),
        pytest.param(["urn:example:%D0%B1"], ["non-ascii"], id="a URN that is not ASCII"),
        pytest.param(["urn:meta:Ab", "urn:meta:aB"], ["name-case"] * 2, id="two URNs that differ in case only"),
    ],
)
def test_questionable_names_are_reported(bindings: Bindings, bound: list[str], expected: list[str]) -> None:
    for name in bound:
        bindings.bind(name, "/x")
    assert [code for _, code in found(bindings)] == expected


@pytest.mark.parametrize(
    ("target", "prefixes", "doubtful"),
    [
        pytest.param("/ark:12345/other", [], True, id="another ARK of this site"),
        pytest.param("/URN:example:x", [], True, id="a URN of this site"),
        pytest.param("/%61rk%3A12345/other", [], True, id="percent-encoded"),
        pytest.param("https://example.org/ark:12345/other", ["https://example.org"], True, id="by its prefix"),
        pytest.param("https://example.org.evil/ark:12345/other", ["https://example.org"], False, id="another host"),
        pytest.param("https://n2t.net/ark:12345/other", ["https://example.org"], False, id="another resolver"),
        pytest.param("/archive", [], False, id="a page"),
    ],
)
def test_questionable_targets_are_reported(
    bindings: Bindings, target: str, prefixes: list[str], doubtful: bool
) -> None:
    bindings.bind("ark:12345/x5", target)
    bindings.bind("ark:12345/x6", "/x", alternates={"text/html": target})
    expected = ["reserved-target"] * 2 if doubtful else []
    assert [code for _, code in found(bindings, prefixes=prefixes)] == expected
    bindings.withdraw("ark:12345/x5")
    assert len(found(bindings, prefixes=prefixes)) == doubtful


@pytest.mark.parametrize(
    ("key", "code"),
    [
        pytest.param("ark:12345/x/../y", "dot-segment", id="two dots"),
        pytest.param("ark:12345/x/%2E%2E", "dot-segment", id="encoded ones"),
        pytest.param("nonsense", "unreadable", id="no identifier"),
        pytest.param("urn:isbn:0451450523", "urn-key", id="key of no equivalent URN"),
    ],
)
def test_rows_of_other_programs_are_reported(bindings: Bindings, key: str, code: str) -> None:
    bindings.bind("ark:12345/x", "/x")
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        columns = "kind, target, status, redirect, passthrough, scope, listed, created, changed, revision, recorded"
        copied = f"INSERT INTO bindings (key, {columns}) SELECT '{key}', {columns} FROM bindings"  # noqa: S608  ours
        connection.execute(text(copied))
    assert (key, code) in found(bindings)


def test_check_points_to_verify_for_rows_that_cannot_be_read(bindings: Bindings) -> None:
    for name in ("ark:12345/x5", "ark:12345/x6"):
        bindings.bind(name, "/x", metadata={"what": "A map"})
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        connection.execute(text("UPDATE bindings SET metadata = '{', revision = 2"))
    [finding] = check(bindings)
    assert (finding.identifier, finding.code) == ("", "row-unreadable")
    assert finding.message.endswith("run ararat verify")


def test_a_declared_naan_is_not_reported(bindings: Bindings) -> None:
    bindings.bind("ark:54321/x5", "/x")
    assert found(bindings, naans=["54321"]) == []


def test_every_name_is_checked_once(
    tmp_path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ararat.bindings.imports.importing import import_table

    monkeypatch.setattr(name_findings, "_BATCH", 50)
    table = tmp_path / "many.csv"
    names = [f"ark:12345/x{number}.en" for number in range(251)]
    table.write_text("\n".join(["identifier,target", *(f"{name},/x" for name in names)]))
    bindings = open_store(tmp_path / "bindings.sqlite")
    import_table(bindings, table)
    assert found(bindings) == [(name, "generic-missing") for name in sorted(names)]


# ARK-010, POL-024
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("annual_report", "annual"),
        ("mtf_pharmacology", "pharmacology"),
        ("x5DEAF", "DEAF"),
        ("bpt6k1081614q", None),
        ("x6np1wh8", None),
        ("tmp", None),
        ("rhythm", None),
        ("f47ac10b58cc4372a5670e02b2c3dead", None),
        ("2019", None),
        ("", None),
    ],
)
def test_words_in_a_name_are_found(name: str, expected: str | None) -> None:
    assert meaning(name) == expected


def test_every_code_has_an_explanation() -> None:
    for code, words in CHECKS.items():
        assert words.isascii()
        assert words.endswith((".", ").")), code
