"""URNs in addresses are read where ARKs are (U-11)."""

from __future__ import annotations

import pytest

from ararat.identifiers import IdentifierError, Urn, equivalent, examine, find, normalize, parse

URN = "urn:nbn:de:101:1-2020"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        pytest.param("http://urn.fi/urn:nbn:fi:fsd:T-FSD3183", "urn:nbn:fi:fsd:T-FSD3183", id="national library"),
        pytest.param(f"https://nbn-resolving.org/{URN}", URN, id="resolver"),
        pytest.param("http://127.0.0.1:8000/URN:NBN:de:101:1-2020", "URN:NBN:de:101:1-2020", id="own address"),
        pytest.param(f"https://e.org/a/b/{URN}?=x#p", f"{URN}?=x#p", id="path, query and fragment"),
        pytest.param(f"https://nbn-resolving.org/http://nbn-resolving.de/{URN}", URN, id="resolver before a resolver"),
    ],
)
def test_a_urn_in_the_path_of_an_address_is_read(address, name):
    found = parse(address)
    assert isinstance(found, Urn)
    assert found.text == name
    assert equivalent(address, name)
    assert normalize(address) == normalize(name)
    report = examine(address)
    assert (report.form, report.valid, report.input) == ("urn", True, address)
    assert report.embedding == {"prefix": address[: -len(name)], "urn": name, "boundary": True}
    assert "".join(address[each.start : each.end] for each in report.segments) == address
    assert [match.literal for match in find(f"see {address} there")] == [address]


def test_problems_of_a_urn_in_an_address_have_places_in_the_address():
    (found,) = [each for each in examine("http://e.org/urn:isbn:0451450524").problems if each.code == "nss-invalid"]
    assert found.start > 13
    with pytest.raises(IdentifierError) as refused:
        parse("http://e.org/urn:a:b")
    assert (refused.value.problem.code, refused.value.problem.start) == ("nid-length", 17)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(f"https://e.org/?urn={URN}", "label-in-query", id="query"),
        pytest.param(
            "https://e.org/r?identifier=urn%3Anbn%3Ade%3A101%3A1-2020&verb=redirect", "label-in-query", id="encoded"
        ),
        pytest.param("https://e.org/urn%3Anbn%3Ade%3A101%3A1-2020", "encoded-label", id="encoded in the path"),
        pytest.param("https://e.org/return:5", "label-inside-word", id="end of a word"),
        pytest.param("https://e.org/x", "no-ark-label", id="none"),
    ],
)
def test_no_message_denies_that_an_address_contains_a_urn(text, code):
    problem = examine(text).problems[0]
    assert problem.code == code
    assert ("neither" in problem.message) is (code == "no-ark-label")


@pytest.mark.parametrize("separator", [",", ";", ", ", "; "])
def test_urns_in_a_list_are_separated(separator):
    assert [match.suggestion or match.literal for match in find(f"{URN}{separator}{URN}1")] == [URN, f"{URN}1"]
