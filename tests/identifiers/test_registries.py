"""Registry lookups: the bundled tables, those of a site, and the answers for a report."""

from __future__ import annotations

import ast
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine, registries
from ararat.identifiers.ark import model as ark
from ararat.identifiers.registries import tables as registry_tables
from ararat.identifiers.registries import target_templates
from ararat.identifiers.registries.files import read
from ararat.identifiers.registries.tables import NAANS, NAMESPACES, SCHEMES, SHOULDERS, Registry, Table
from ararat.identifiers.registries.target_templates import Asked
from ararat.identifiers.urn import model as urn

ROOT = Path(__file__).parents[2]
EXAMPLE_NAAN = "12345"

REGISTRIES = (NAANS, SHOULDERS, NAMESPACES, SCHEMES)
every_registry = pytest.mark.parametrize("registry", [pytest.param(each, id=each.name) for each in REGISTRIES])


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Iterator[Path]:
    """A folder with the tables of the sample NAAN registry, used during one test."""
    name = "naan-v2.json"
    for table in read((data / "registries" / name).read_bytes(), name=name):
        (tmp_path / table.registry.file).write_text(table.text(), "utf-8")
    registries.use(tmp_path)
    yield tmp_path
    registries.use()


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
        asked = Asked.of(ark.parse(f"ark:/{naan}/{shoulder}x6-np1/c3.en?q-r"))
        template = target_templates.read(holder.template)
        address, problems = template.expand(asked, shoulder)
        assert bool(problems) is (address is None)
        assert set(problems) <= set(target_templates.FLAWS)
        flawed += address is None
        if address is not None:
            assert "$" not in address
            assert "x6np1/c3.en?q-r" in address
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
    snapshot = registry_tables.Snapshot("1999-01-01", "x")
    match tables:
        case "older":
            path.write_text(Table.of(NAMESPACES, snapshot, [registry_tables.Namespace("old", "formal")]).text())
        case "broken":
            path.write_text("{}\n[")
        case "not UTF-8":
            path.write_bytes(b"\xff")
        case "a folder":
            path.mkdir()
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


# Answers --------------------------------------------------------------------------------------------------------------


def test_an_ark_has_holder_shoulder_and_address(folder):
    assert of_ark("ark:/10-101/w6-np1?q") == {
        "registry": "naan",
        "key": "10101",
        "registered": True,
        "snapshot": {
            "date": "2026-07-14",
            "source": "https://cdluc3.github.io/naan_reg_priv/naan_records.json",
        },
        "explanation": None,
        "holder": {
            "name": "Museum of the Mountain",
            "native_name": "Musée de la Montagne",
            "acronym": "MOTM",
            "since": "2005-07-17",
            "where": "https://museum.ararat",
            "organization": "non-profit",
            "policy": {
                "NR": "A name is never reassigned to another thing.",
                "OP": "Names are opaque.",
                "CC": "Names have a check character.",
            },
            "policy_url": "https://museum.ararat/policy",
        },
        "shoulder": {
            "shoulder": "w6",
            "name": "People of the Mountain",
            "native_name": None,
            "acronym": None,
            "since": "2013-02-12",
            "where": "303 http://people.museum.ararat",
        },
        "resolver": {
            "template": "http://people.museum.ararat/ark:/${content}",
            "status": 303,
            "address": "http://people.museum.ararat/ark:/10101/w6np1?q",
            "problems": [],
        },
    }


def test_an_ark_with_an_unregistered_naan_is_reported():
    known = of_ark("ark:00000/x")
    assert not known["registered"]
    assert known["snapshot"]["date"]
    assert known["holder"] is known["shoulder"] is known["resolver"] is None


def test_a_flawed_template_gives_reasons_instead_of_an_address(folder):
    resolver = of_ark("ark:20202/x")["resolver"]
    assert resolver["address"] is None
    assert {problem["code"] for problem in resolver["problems"]} == {"unknown-variable", "example-left-in"}
    assert all(problem["message"] for problem in resolver["problems"])


@pytest.mark.parametrize("text", ["ark:99999/x", "ark:/9-9999/x", "ark:%39%39999/fk4"])
def test_naan_99999_is_explained_and_has_no_address(text):
    # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
    known = of_ark(text)
    assert "invalid" in known["explanation"]["text"]
    assert known["resolver"]["address"] is None
    assert [problem["code"] for problem in known["resolver"]["problems"]] == ["reserved-naan"]


def test_the_example_naan_is_explained_and_not_special_otherwise():
    known = of_ark(f"ark:{EXAMPLE_NAAN}/x")
    assert "example" in known["explanation"]["text"]
    assert known["resolver"]["address"]


def test_no_code_handles_the_example_naan_specially():
    # "Applications that handle ARKs SHOULD NOT handle 12345 in any special way" (ARK-018). Complete ARKs are examples,
    # and so is the catalogue of problems.
    alone = re.compile(rf"(?<!\d){EXAMPLE_NAAN}(?!\d)(?!/\w)")
    found = []
    for path in (path for room in ("identifiers", "middleware", "webapp") for path in (ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            f"{path.name}, line {node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and id(node) not in prose and alone.search(str(node.value))
        ]
    assert [place for place in found if not place.startswith("problems.py")] == []


def test_every_explanation_has_a_text_and_a_source():
    explanations = json.loads((registries.BUNDLED / "explanations.json").read_text("utf-8"))
    assert set(explanations) <= {registry.name for registry in REGISTRIES}
    assert {EXAMPLE_NAAN, "99999"} <= explanations["naan"].keys()
    for registry in explanations.values():
        for words in registry.values():
            assert words["text"].endswith(".")
            assert words["reference"]


def test_a_urn_has_its_namespace_with_a_reference():
    known = registries.of_urn(urn.parse("urn:URN-7:x"))
    assert known["registered"]
    assert known["kind"] == "informal"
    assert known["references"] == [{"text": "RFC 6050", "url": "https://www.rfc-editor.org/rfc/rfc6050"}]
    assert known["updated"] == "2015-03-25"


def test_an_unregistered_namespace_is_reported():
    known = registries.of_urn(urn.parse("urn:no-such-nid:x"))
    assert (known["key"], known["registered"], known["kind"], known["references"]) == ("no-such-nid", False, None, [])


@pytest.mark.parametrize(
    ("text", "key", "status"),
    [
        ("https://example.org/", "https", "permanent"),
        ("DOI:10.1000/182", "doi", "permanent"),
        ("machineProvisioningProgressReporter:x", "machineprovisioningprogressreporter", "provisional"),
        ("shttp://example.org", "shttp", "permanent"),
        ("example:x", "example", "permanent"),
        ("no-such+scheme.1:x", "no-such+scheme.1", None),
    ],
)
def test_a_scheme_has_its_status(text, key, status):
    known = registries.of_scheme(text)
    assert known is not None
    assert (known["key"], known["status"], known["registered"]) == (key, status, status is not None)


@pytest.mark.parametrize("text", ["", "no scheme", ":", "1a:x", "\u0430rk:x", "a b:c", "x" * 65 + ":"])
def test_a_text_without_a_scheme_has_no_entry(text):
    assert registries.of_scheme(text) is None


# S-04
def test_the_example_scheme_is_explained():
    known = registries.of_scheme("example:x")
    assert known is not None
    assert "examples" in known["explanation"]["text"]


@pytest.mark.parametrize(
    ("written", "text", "url"),
    [
        ("RFC8141", "RFC 8141", "https://www.rfc-editor.org/rfc/rfc8141"),
        ("RFC Errata 4420", "RFC Errata 4420", "https://www.rfc-editor.org/errata/eid4420"),
        ("draft-a-b-00", "draft-a-b-00", "https://datatracker.ietf.org/doc/draft-a-b-00"),
        ("IANA registry x-y", "IANA registry x-y", "https://www.iana.org/assignments/x-y"),
        ("C2PA <https://c2pa.org/>", "C2PA", "https://c2pa.org/"),
        ("https://c2pa.org/", "https://c2pa.org/", "https://c2pa.org/"),
        ("C2PA <javascript:alert(1)>", "C2PA <javascript:alert(1)>", None),
        ("something else", "something else", None),
    ],
)
def test_a_reference_has_a_text_and_a_url_if_known(written, text, url, tmp_path):
    snapshot = registry_tables.Snapshot("2026-01-01", "x")
    table = Table.of(SCHEMES, snapshot, [registry_tables.Scheme("a", "permanent", references=(written,))])
    (tmp_path / SCHEMES.file).write_text(table.text())
    registries.use(tmp_path)
    try:
        known = registries.of_scheme("a:b")
        assert known is not None
        assert known["references"] == [{"text": text, "url": url}]
    finally:
        registries.use()


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "registry"),
    [
        pytest.param("ark:12148/x", "naan", id="an ARK"),
        pytest.param("https://n2t.net/ark:12148/x", "naan", id="in an address"),
        pytest.param("urn:isbn:0451450523", "urn-namespaces", id="a URN"),
        pytest.param("https://example.org/", "uri-schemes", id="another address"),
        pytest.param("https://example.org/park:12345/x", "uri-schemes", id="an address that only looks like it"),
        pytest.param("ark:12148", None, id="no ARK"),
        pytest.param("urn:isbn", None, id="no URN"),
        pytest.param("hello", None, id="no identifier"),
        pytest.param("\ud800", None, id="half a character"),
    ],
)
def test_a_report_contains_the_registry_entry_of_its_scheme(text, registry):
    known = examine(text).registry
    assert (known and known["registry"]) == registry


@given(
    st.sampled_from(["ark:/12148/", "ark:99166/w6", "https://n2t.net/ark:19156/tkt42", "urn:isbn:", "doi:", ""]),
    st.text() | st.text("-%2D./?#x6$", max_size=20) | st.just("x" * 100_000),
)
def test_the_registry_part_of_a_report_is_small_and_json(start, text):
    known = examine(start + text).registry
    assert len(json.dumps(known)) < 8000
    assert json.loads(json.dumps(known)) == known


# What the registry should say -----------------------------------------------------------------------------------------


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
