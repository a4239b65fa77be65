"""Comparison of URNs by both specifications (URN draft, section 5; RFC 8141, section 3)."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from ararat.identifiers import Urn, equivalence, equivalent
from ararat.identifiers.urn import namespaces
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.grammar import RFC8141


@pytest.mark.vectors("urn-equivalent")
def test_urns_are_compared_by_the_draft_by_default(vector):
    a, b = map(urn.parse, vector.input)
    assert equivalent(*vector.input) is vector.expect["equivalent"]
    if "rfc8141" in vector.expect:
        assert equivalence.equivalent(a, b, RFC8141) is vector.expect["rfc8141"]


@pytest.mark.vectors("urn-equivalence-classes")
def test_the_examples_of_the_draft_are_in_its_classes(vector):
    classes: dict[Urn, list[int]] = {}
    for index, text in enumerate(vector.input):
        classes.setdefault(urn.parse(text), []).append(index)
    assert list(classes.values()) == vector.expect["classes"]


# The words of each registration: RFC 4246, 3614, 5174, 4198, 7738, 6453, 4195, 4179, 5119, 7254 and so on.
EQUAL = [
    "urn:isan:0000-0000-9E59-0000-O-0000-0000-2 urn:isan:0000-0000-9e59-0000-o-0000-0000-2",
    "urn:service:sos.fire urn:SERVICE:SOS.Fire",
    "urn:alert:service:normal urn:alert:Service:Normal",
    "urn:newsml:iptc.org:20001006:NewsMLv1.0:1 urn:newsml:IPTC.org:20001006:newsmlV1.0:1",
    "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5 urn:eidr:10.5240:7791-8534-2c23-9030-8610-5",
    "urn:dvb:metadata:cs urn:dvb:Metadata:CS",
    "urn:clei:D4CE18B7AA urn:clei:d4ce18b7aa",
    "urn:adid:ABCD0001000H urn:adid:abcd0001000h",
    "urn:ieee:Std:802.1Q urn:ieee:std:802.1q",
    "urn:iso:std:iso:9999:-1:ed-1:EN urn:iso:std:iso:9999:-1:ed-1:en",
    "urn:etsi:M2M:x urn:etsi:m2m:x",
    "urn:nzl:govt:Registering urn:nzl:govt:registering",
    "urn:urn-7:3gpp-service.IMS urn:urn-7:3gpp-service.ims",
    "urn:mpeg:MPEG7:schema:2001 urn:mpeg:mpeg7:schema:2001",
    "urn:ebu:METADATA:cs urn:ebu:metadata:cs",
    "urn:tva:Metadata:2002 urn:tva:metadata:2002",
    "urn:ccsds:SCHEMA:a urn:ccsds:schema:a",
    "urn:ogf:Network:x urn:ogf:network:x",
    "urn:fdc:Example.com:2002:A urn:fdc:example.com:2002:A",
    "urn:uci:G3000+music-a90007 urn:uci:g3000+MUSIC-a90007",
    "urn:smpte:ul:060E2B34.04010103 urn:smpte:UL:060e2b34.04010103",
    "urn:gsma:imei:90420156-025763-0;vers=0 urn:gsma:IMEI:90420156-025763-0",
]
DIFFERENT = [
    "urn:mpeg:mpeg7:Schema urn:mpeg:mpeg7:schema",
    "urn:ogf:network:X urn:ogf:network:x",
    "urn:fdc:example.com:2002:A urn:fdc:example.com:2002:a",
    "urn:uci:I600-CII90007 urn:uci:I600-cii90007",
    "urn:smpte:x:A urn:smpte:x:a",
    "urn:gsma:imei:90420156-025763-0;vers=1 urn:gsma:imei:90420156-025763-0",
    "urn:gsma:x:A urn:gsma:x:a",
    "urn:oasis:names:A urn:oasis:names:a",
    "urn:isan:0000-0000-9E59 urn:isan:0000-0000-9E58",
    "urn:isan:a%2FB urn:isan:a/B",
    "urn:foo:A urn:foo:a",
    "urn:lei:a urn:meta:a",
]
UNKNOWN = [
    "urn:lei:A urn:lei:a",
    "urn:meta:A urn:meta:a",
    "urn:doi:10.1234/A urn:doi:10.1234/a",
    "urn:urn-5:A urn:urn-5:a",
]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [(pair, value) for pairs, value in ((EQUAL, True), (DIFFERENT, False), (UNKNOWN, None)) for pair in pairs],
)
def test_the_registration_of_a_namespace_decides(pair: str, expected: bool | None) -> None:
    a, b = map(urn.parse, pair.split())
    for one, other in ((a, b), (b, a)):
        found = equivalence.equivalence(one, other)
        assert found.equivalent is expected
        assert ("is not known to Ararat" in found.why) is (expected is None)
    assert equivalent(*pair.split()) is bool(expected)
    for each in (a, b):
        assert urn.parse(each.canonical_name).canonical_name == each.canonical_name


def test_an_unknown_rule_names_the_registration() -> None:
    found = equivalence.equivalence(urn.parse("urn:ddi:A:b"), urn.parse("urn:ddi:a:b"))
    assert "The rule of the namespace ddi (RFC 9517) is not known to Ararat." in found.why


def test_each_rule_is_of_a_registered_namespace_and_its_document() -> None:
    table = resources.files("ararat.identifiers") / "data" / "urn-namespaces.jsonl"
    rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    registered = {row[0]: row[2] for row in rows}
    for rule in namespaces.rules():
        # The registration of the alias ad-id is that of adid.
        assert rule.reference.replace(" ", "") in registered[rule.nid], rule
        assert namespaces.lookup(rule.nid) is None
