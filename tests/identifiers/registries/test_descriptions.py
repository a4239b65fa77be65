"""Descriptions of registrations in JSON values, alone and in a report."""

from __future__ import annotations

import ast
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine, registries
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.registries import tables as registry_tables
from ararat.identifiers.registries.tables import NAANS, NAMESPACES, SCHEMES, SHOULDERS, Table
from ararat.identifiers.urn import parser as urn
from tests.packages import modules, nodes, read

EXAMPLE_NAAN = "12345"
REGISTRIES = (NAANS, SHOULDERS, NAMESPACES, SCHEMES)


def of_ark(text: str):
    return registries.of_ark(ark.parse(text))


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
            "address": "http://people.museum.ararat/ark:/10101/w6-np1?q",
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


# ARK-017
@pytest.mark.parametrize("text", ["ark:99999/x", "ark:/9-9999/x", "ark:%39%39999/fk4"])
def test_naan_99999_is_explained_and_has_no_address(text):
    # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
    known = of_ark(text)
    assert "invalid" in known["explanation"]["text"]
    assert known["resolver"]["address"] is None
    assert [problem["code"] for problem in known["resolver"]["problems"]] == ["reserved-naan"]


# ARK-017
def test_the_example_naan_is_explained_and_not_special_otherwise():
    known = of_ark(f"ark:{EXAMPLE_NAAN}/x")
    assert "example" in known["explanation"]["text"]
    assert known["resolver"]["address"]


def test_no_code_handles_the_example_naan_specially():
    # "Applications that handle ARKs SHOULD NOT handle 12345 in any special way" (ARK-018). Complete ARKs are examples,
    # and so is the catalogue of problems.
    alone = re.compile(rf"(?<!\d){EXAMPLE_NAAN}(?!\d)(?!/\w)")
    found = []
    for path in modules():
        if EXAMPLE_NAAN not in read(path).replace("_", ""):
            continue
        prose = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
        found += [
            f"{path.name}, line {node.lineno}"
            for node in nodes(path)
            if isinstance(node, ast.Constant) and id(node) not in prose and alone.search(str(node.value))
        ]
    # A template is tried with samples of names, and the form of the first shoulder shows an example.
    texts = ("problems.py", "rule_templates.py", "first_shoulder.py")
    assert [place for place in found if not place.startswith(texts)] == []


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


# SCH-005
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


@pytest.mark.one_setup
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
    snapshot = registry_tables.TableOrigin("2026-01-01", "x")
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
