"""Hostile values in each format, read by an independent parser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware
from lxml import html
from lxml.etree import fromstring
from pyld import jsonld

from ararat.identifiers.text import anvl
from ararat.middleware.resolution.description_formats import BY_NAME
from ararat.middleware.views.description import describe
from ararat.middleware.views.formats import erc

VALUES = {
    "quotes": "\"double\" 'single' `back` \u201ccurly\u201d",
    "line feed": "one\ntwo",
    "carriage return": "one\r\ntwo\rthree",
    "tab": "one\ttwo",
    "script": "</script><script>alert(1)</script><!-- <script>",
    "CDATA": "]]> <![CDATA[ &amp; &#0; <?xml?>",
    "controls": "a\x00b\x07c\x1bd\x7fe\x85f",
    "separators": "a\u2028who: b\u2029c",
    "bidi": "a\u202eb\u2066c\u2069\u200f",
    "joiners": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937",
    "surrogate": "a\ud800b\udfffc",
    "noncharacters": "a\ufffeb\uffffc\U0010ffff",
    "braces": "{a} }b{ {{c}} \\{d\\} @misc{e, }",
    "unbalanced": "a } , title = {b",
    "backslashes": "\\ \\\\ \\textbf{x} \\n \\u0041 \\",
    "TeX": "100% $x_1^2$ #1 & ~ a--b ``c''",
    "ERC": "who: b: (:unkn) # c | d",
    "comment": "# no comment",
    "percent": "%25 %0A %41 %zz 100%",
    "JSON": '{"a": [1], "b": null}',
    "URL": "javascript:alert(1)",
    "emoji": "\U0001f469\u200d\U0001f52c \u2764\ufe0f \U0001f1e8\U0001f1ed",
    "composed": "e\u0301 \u1e9b\u0323 \uac00",
    "long": "\u00e9<&{\\" * 8000,
}

values = pytest.mark.parametrize("value", [pytest.param(text, id=name) for name, text in VALUES.items()])

ADDRESS = "https://r.example/ark:12345/x"


@pytest.fixture
def written(binding):
    """written(name, value) is the description with the value as title, creator and publisher, in the format name."""

    def write(name: str, value: str) -> bytes:
        creator = value.replace(";", ",")
        recorded = {"what": value, "who": creator, "when": "2026-11-23", "dc.publisher": value, "dc.type": "Text"}
        view = describe(binding("ark:12345/x", "https://example.org/1", metadata=recorded), "https://r.example")
        return view.in_format(BY_NAME[name])

    return write


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text).strip()


def creators(value: str) -> list[str]:
    """Return the creators: each line of a value is one."""
    return re.split("[\r\n]+", without_surrogates(value.replace(";", ",")))


@values
def test_json(written, value):
    # A lone surrogate is written as an escape, because it is in the database.
    assert json.loads(written("json", value))["metadata"]["what"] == value


@values
def test_json_ld(written, value):
    # The parser loads no context, because the vocabulary is given here.
    document = json.loads(written("jsonld", value)) | {"@context": {"@vocab": "https://schema.org/"}}
    (node,) = jsonld.expand(document)
    assert node["@id"] == ADDRESS
    assert node["https://schema.org/name"] == [{"@value": without_surrogates(value)}]
    assert node["https://schema.org/author"] == [
        {"https://schema.org/name": [{"@value": each}]} for each in creators(value)
    ]


class Scripts(HTMLParser):
    """The texts of the elements script, and the names of all elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags[-1:] == ["script"]:
            self.texts.append(data)


@values
def test_json_ld_in_a_page(written, value):
    page = written("html", value).decode()
    expected = json.loads(written("jsonld", value))
    assert [json.loads(text) for text in Scripts(page).texts if text.strip()] == [expected]
    # A second parser, with other rules for errors.
    (script,) = html.fromstring(page.encode()).xpath("//script")
    assert json.loads(script.text) == expected
    assert Scripts(page).tags.count("script") == 1


@values
def test_csl_json(written, value):
    (item,) = json.loads(written("csl", value))
    assert item["title"] == item["publisher"] == without_surrogates(value)
    assert item["author"] == [{"literal": each} for each in creators(value)]


def one_line(text: str) -> str:
    return re.sub("[\\s\x00-\x1f\x7f-\x9f]+", " ", text).strip()


@values
def test_bibtex(written, value):
    text = written("bibtex", value).decode()
    # The decoder of TeX needs seconds for 64 KiB.
    is_long = len(value) > 10_000
    library = parse_string(text, append_middleware=[] if is_long else [LatexDecodingMiddleware()])
    assert not library.failed_blocks
    (entry,) = library.entries
    assert (entry.entry_type, entry.key) == ("misc", "ark:12345/x")
    assert [*entry.fields_dict] == ["author", "title", "publisher", "year", "month", "url"]
    assert entry["url"] == ADDRESS
    expected = one_line(without_surrogates(value))
    if is_long:
        expected = expected.replace("\\", "\\textbackslash()").replace("{", "\\lbrace()").replace("&", "\\&")
        assert entry["publisher"].replace("{}", "()") == expected
    else:
        assert one_line(entry["publisher"]) == typeset(expected)
        assert one_line(entry["title"]) == typeset(expected)


def typeset(text: str) -> str:
    """Return a text with the ligatures of TeX, which the decoder also converts."""
    ligatures = ("---", "\u2014"), ("--", "\u2013"), ("``", "\u201c"), ("''", "\u201d"), ("^", "\u02c6")
    for ligature, char in ligatures:
        text = text.replace(ligature, char)
    return text


def in_xml(text: str) -> str:
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", without_surrogates(text))


@values
def test_datacite_xml(written, value):
    root = fromstring(written("datacite-xml", value))
    ns = {"d": "http://datacite.org/schema/kernel-4"}
    assert root.xpath("string(d:titles/d:title)", namespaces=ns) == in_xml(value)
    found = [each.text for each in root.xpath("d:creators/d:creator/d:creatorName", namespaces=ns)]
    assert found == [in_xml(each) for each in creators(value)]
    assert len(root) == 6


@values
def test_datacite_json(written, value):
    # This package loads slowly. Other processes of a run do not need it.
    from datacite import schema45

    record = json.loads(written("datacite-json", value))
    assert list(schema45.validator.iter_errors(record)) == []
    assert record["titles"] == [{"title": without_surrogates(value)}]


@values
def test_erc(written, value):
    text = written("erc", value).decode()
    record = _read_as_ezid(text)
    assert record == {element.label: element.value for block in anvl.parse(text) for element in block.elements}
    # White space around a value is not part of it.
    assert record["what"] == erc.visible(value).strip()
    assert record["when"] == "2026-11-23"
    assert [*record][:6] == ["erc", "who", "what", "when", "where", "persistence"]


def _read_as_ezid(text: str) -> dict[str, str]:
    """Read ANVL by the rules of EZID and N2T: each percent sign must begin an escape, and no label occurs twice."""
    found: dict[str, str] = {}
    for line in re.split("\r\n?|\n", text):
        if not line:
            continue
        assert not line[0].isspace()
        assert line[0] != "#"
        label, colon, value = line.partition(":")
        assert colon
        assert not re.search("%(?![0-9A-F]{2})", line)
        label, value = (
            re.sub("%([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), part).strip() for part in (label, value)
        )
        assert label not in found
        found[label] = value
    return found


@values
def test_every_format_is_utf_8_and_has_no_line_of_the_value_as_its_own(written, value):
    for name in BY_NAME:
        body = written(name, value)
        assert body.decode("utf-8")
        assert b"\nwho: b" not in body
