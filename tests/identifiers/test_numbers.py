"""Numbers and labels as people write them, and identifiers of other schemes."""

from __future__ import annotations

import pytest

from ararat.identifiers import find, numbers
from ararat.identifiers.suggestions import suggestions


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ISBN 978-3-16-148410-0", "urn:isbn:9783161484100"),
        ("ISBN-13: 978 3 16 148410 0", "urn:isbn:9783161484100"),
        ("978-3-16-148410-0", "urn:isbn:9783161484100"),
        ("9783161484100", "urn:isbn:9783161484100"),
        ("isbn:3-16-148410-x", "urn:isbn:316148410X"),
        ("ISBN 978-3-16-148410-1", "urn:isbn:9783161484101"),
        ("ISSN 0028-0836", "urn:issn:0028-0836"),
        ("eISSN: 0028-0836", "urn:issn:0028-0836"),
        ("0028\u20110836", "urn:issn:0028-0836"),
        ("nbn:de:gbv:46:1-16241", "urn:nbn:de:gbv:46:1-16241"),
        ("ark: /12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ARK : 12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ark 12148 / btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ark:\uff0f12148\uff0fbtv1b8449691v", "ark:/12148/btv1b8449691v"),
        (r"ark:\12148\btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ISSN: 1050-124X (online)", "urn:issn:1050-124X"),
        ("pISSN 0028-0836", "urn:issn:0028-0836"),
        ("ISBN-13: 978-0-306-40615-7 (hardcover).", "urn:isbn:9780306406157"),
        ("URN ISBN 9780306406157", "urn:isbn:9780306406157"),
        ("urn: isbn: 9780306406157", "urn:isbn:9780306406157"),
        ("URN nbn:de:gbv:46:1-16241", "urn:nbn:de:gbv:46:1-16241"),
        ("510d47e1-d6b2-a3d9-e040-e00a18064a99", "urn:uuid:510d47e1-d6b2-a3d9-e040-e00a18064a99"),
        ("{510d47e1-d6b2-a3d9-e040-e00a18064a99}", "urn:uuid:510d47e1-d6b2-a3d9-e040-e00a18064a99"),
        ("ARK ID 12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ARK-ID: 12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ark;/12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("arc:/12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("ark//12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
        ("https://n2t.example/ark/12148/btv1b8449691v?lang=fr", "ark:/12148/btv1b8449691v"),
        ("https://portal.issn.example/resource/ISSN/0028-0836", "urn:issn:0028-0836"),
        ("https://catalogue.example/search?isbn=9783161484100&lang=de", "urn:isbn:9783161484100"),
    ],
)
def test_a_number_without_its_label_is_read(text: str, meant: str) -> None:
    assert suggestions(text)[0].identifier == meant
    assert find(f" {text} ")[0].suggestion == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ISSN 0028-0836", "urn:issn:0028-0836"),
        ("978-3-16-148410-0", "urn:isbn:9783161484100"),
        ("ark 12148/btv1b8449691v", "ark:/12148/btv1b8449691v"),
    ],
)
def test_a_number_is_read_on_its_line_of_a_list(text: str, meant: str) -> None:
    assert [match.suggestion for match in find(f"{text}\n\n{text}\n")] == [meant, meant]
    lines = find(f"ark:12345/x\n{text}")
    assert (lines[0].literal, lines[1].suggestion) == ("ark:12345/x", meant)


@pytest.mark.parametrize(
    "text",
    [
        "978-3-16-148410-1",
        "979-6-01-856362-X",
        "00280836",
        "20261128",
        "0316148410",
        "1234-5678",
        "ark: the map 12148",
        "AUTO 3006",
        "https://catalogue.example/ISBN/about/9783161484100",
        "arcs/12148/x",
        "",
    ],
)
def test_other_numbers_are_not_read(text: str) -> None:
    assert numbers.suggestion(text) is None
    assert suggestions(text) == ()


@pytest.mark.parametrize(
    ("text", "scheme", "name"),
    [
        ("10.1000/182", "DOI", "10.1000/182"),
        ("DOI: 10.1000/182", "DOI", "10.1000/182"),
        ("http://dx.doi.org/10.1000/182", "DOI", "10.1000/182"),
        ("DOI 10.5281/zenodo.1234567", "DOI", "10.5281/zenodo.1234567"),
        ("https://doi.org/10.1002/(SICI)1:1%3C1::AID%3E3", "DOI", "10.1002/(SICI)1:1<1::AID>3"),
        ("doi:10.1002/a%3C1", "DOI", "10.1002/a%3C1"),
        ("hdl:2027/uc1.b3", "Handle", "2027/uc1.b3"),
        ("Handle 2027/uc1.b3", "Handle", "2027/uc1.b3"),
        ("https://hdl.handle.net/20.500.12345/a", "Handle", "20.500.12345/a"),
        ("(https://doi.org/10.1000/182).", "DOI", "10.1000/182"),
        ("doi.org/10.1000/182?utm_source=mail#abstract", "DOI", "10.1000/182"),
        ("<doi:10.1016/S0140-6736(20)30183-5>,", "DOI", "10.1016/S0140-6736(20)30183-5"),
        ("https://hdl.handle.net/11858/00-001M-0000-0013-7B2E-6.", "Handle", "11858/00-001M-0000-0013-7B2E-6"),
    ],
)
def test_an_identifier_of_another_scheme_is_named(text: str, scheme: str, name: str) -> None:
    found = numbers.other(text)
    assert found is not None
    assert (found.scheme, found.name) == (scheme, name)
    assert numbers.other(f"see {text}") is None
    # It is not a damaged copy of an ARK.
    assert [match.suggestion for match in find(text)] == [None]


def test_labelled_numbers_are_read_in_sentences() -> None:
    text = "Roe, ISBN 978-3-16-148410-0, in ark:12345/x, ISSN 0028-0836; urn:isbn:9783161484100 or NISBN 0306406152."
    found = find(text)
    assert [match.suggestion or match.literal for match in found] == [
        *("urn:isbn:9783161484100", "ark:12345/x", "urn:issn:0028-0836", "urn:isbn:9783161484100"),
    ]
    assert [text[match.start : match.end] for match in found] == [match.literal for match in found]
