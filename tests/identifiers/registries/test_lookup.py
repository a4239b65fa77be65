"""Registry lookups: the bundled tables, those of a site, and the comparison of a site with the registry."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.identifiers import registries
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.registries import tables as registry_tables
from ararat.identifiers.registries import target_templates
from ararat.identifiers.registries.tables import NAANS, NAMESPACES, SCHEMES, SHOULDERS, Registry, Table
from ararat.identifiers.registries.target_templates import TemplateParts

ROOT = Path(__file__).parents[3]

REGISTRIES = (NAANS, SHOULDERS, NAMESPACES, SCHEMES)
every_registry = pytest.mark.parametrize("registry", [pytest.param(each, id=each.name) for each in REGISTRIES])


def bundled(registry: Registry) -> Table:
    return registries.Registries(registries.BUNDLED).table(registry)


def of_ark(text: str):
    return registries.of_ark(ark.parse(text))


# The bundled tables ---------------------------------------------------------------------------------------------------


@every_registry
def test_a_bundled_table_has_the_written_form(registry):
    assert (registries.BUNDLED / registry.file).read_text("utf-8") == bundled(registry).text()


@every_registry
def test_a_bundled_table_contains_its_date_and_source(registry):
    snapshot = bundled(registry).snapshot
    assert datetime.date.fromisoformat(snapshot.date) >= datetime.date(2026, 7, 14)
    assert snapshot.source.startswith("https://")


@every_registry
def test_a_bundled_table_contains_no_mail_address(registry):
    assert not re.search(r"[\w.]@[\w-]+\.\w", bundled(registry).text())


# SCH-001
def test_the_bundled_registries_are_complete():
    counts = {registry.name: len(bundled(registry).records) for registry in REGISTRIES}
    assert counts["naan"] >= 1863
    assert counts["naan-shoulders"] >= 369
    assert counts["urn-namespaces"] >= 105
    assert counts["uri-schemes"] >= 430


@pytest.mark.parametrize("registry", [NAANS, SHOULDERS], ids=lambda each: each.name)
def test_every_registered_template_is_expanded_or_flawed(registry):
    flawed = 0
    for holder in bundled(registry).records.values():
        naan, _, shoulder = holder.key.partition("/")
        asked = TemplateParts.of(ark.parse(f"ark:/{naan}/{shoulder}x6-np1/c3.en?q-r"))
        template = target_templates.read(holder.template)
        address, problems = template.expand(asked, shoulder)
        assert bool(problems) is (address is None)
        assert set(problems) <= set(target_templates.FLAWS)
        flawed += address is None
        if address is not None:
            assert "$" not in address
            assert "x6-np1/c3.en?q-r" in address
    assert flawed < len(bundled(registry).records) / 20


def test_tables_are_read_at_the_first_lookup():
    program = """if True:
        import pathlib, sys
        from ararat.identifiers import examine, registries
        opened = []
        sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
        registries.use(pathlib.Path("nowhere"))
        assert not [name for name in opened if name.endswith(".jsonl")], opened
        registries.namespace("isbn")
        registries.namespace("isbn")
        assert len([name for name in opened if name.endswith("data/urn-namespaces.jsonl")]) == 1, opened
        assert not [name for name in opened if name.endswith("naan.jsonl")], opened
        assert not {"csv", "xml.parsers.expat", "ararat.identifiers.registries.files"} & sys.modules.keys()
    """
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=30, cwd=ROOT)


# Lookups --------------------------------------------------------------------------------------------------------------


def test_lookups_ignore_case():
    assert registries.namespace("ISBN") is registries.namespace("isbn")
    assert registries.scheme("HTTP") is registries.scheme("http") is not None
    assert registries.scheme("machineProvisioningProgressReporter") is not None
    assert registries.scheme("shttp") is not None
    assert registries.authority("00000") is None


@pytest.mark.parametrize("tables", ["none", "older", "broken", "not UTF-8", "a folder"])
def test_tables_of_a_site_take_precedence_and_broken_ones_are_skipped(tables, tmp_path):
    path = tmp_path / NAMESPACES.file
    snapshot = registry_tables.TableOrigin("1999-01-01", "x")
    match tables:
        case "older":
            path.write_text(
                Table.of(NAMESPACES, snapshot, [registry_tables.RegisteredNamespace("old", "formal")]).text()
            )
        case "broken":
            path.write_text("{}\n[")
        case "not UTF-8":
            path.write_bytes(b"\xff")
        case "a folder":
            path.mkdir()
        case _:
            pass
    registries.use(tmp_path)
    try:
        assert (registries.namespace("old") is not None) is (tables == "older")
        assert (registries.namespace("isbn") is None) is (tables == "older")
        assert registries.scheme("http") is not None
        passed_over = [str(error) for error in registries.current().passed_over]
        assert len(passed_over) == (tables not in ("none", "older"))
        assert all(said.startswith(str(path)) for said in passed_over)
    finally:
        registries.use()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "shoulder"),
    [
        pytest.param("ark:/10101/w6x2/03n01", "w6x2", id="the longest"),
        pytest.param("ark:/10101/w6x3", "w6", id="a shorter one"),
        pytest.param("ark:10101/w-6%2Dx2", "w6x2", id="hyphens are ignored"),
        pytest.param("ark:10-101/w6", "w6", id="in the NAAN too"),
        pytest.param("ark:10101/%77%36", "w6", id="percent-encoded"),
        pytest.param("ark:10101/s6.sea7.aa", "s6.sea", id="with a dot, though variants are sorted"),
        pytest.param("ark:10101/x/w6", None, id="in the middle"),
        pytest.param("ark:10101/W6", None, id="another case"),
        pytest.param("ark:b9999/w6", None, id="under another NAAN"),
    ],
)
def test_the_longest_shoulder_matches(text, shoulder, folder):
    found = of_ark(text)["shoulder"]
    assert (found and found["shoulder"]) == shoulder


# What the registry should say -----------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("naan", "prefixes", "name", "expected"),
    [
        pytest.param("10101", ["https://museum.ararat"], "MOTM", [], id="all agree"),
        pytest.param("10101", ["https://museum.ararat/"], None, [], id="a slash at the end"),
        pytest.param("10101", [], "Musée de la Montagne", [], id="the native name"),
        pytest.param(
            "10101", ["https://a"], None, [("prefix", "https://a", "https://museum.ararat")], id="another prefix"
        ),
        pytest.param(
            "10101",
            ["https://museum.ararat", "https://b"],
            None,
            [("prefix", "https://b", "https://museum.ararat")],
            id="a second prefix",
        ),
        pytest.param("20202", ["https://a"], None, [("prefix", "https://a", None)], id="a broken template has none"),
        pytest.param("10101", [], "Sea", [("name", "Sea", "Museum of the Mountain")], id="another name"),
        pytest.param("00000", ["https://a"], None, [("naan", "00000", None)], id="not registered"),
    ],
)
def test_settings_of_a_site_are_compared_with_the_registry(
    naan: str, prefixes: list[str], name: str | None, expected: list[tuple[str, str, str]], folder: Callable
):
    # ARK-022, ARK-088
    assert list(registries.disagreements(naan, prefixes, name=name)) == expected
