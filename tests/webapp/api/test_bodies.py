"""Bodies of requests: JSON with one meaning, the schemas, sizes and media types."""

from __future__ import annotations

import json

import pytest
from flask import Flask

from ararat.webapp.api import bodies
from ararat.webapp.api.schemas import MAX_NAMES, requests
from ararat.webapp.errors import HTTPRefusal

APP = Flask(__name__)
# The bodies of one test have members of any kind.
FIELDS = {"target": "https://example.org/1"}
PASSTHROUGH = 'The member /passthrough must be "no" or "normal" or "given" or false or true.'


def refused(content: bytes) -> str:
    with pytest.raises(HTTPRefusal) as caught:
        bodies.parse(content)
    assert caught.value.code == 400
    assert caught.value.sentence.isascii()
    return caught.value.kind


def unlike(schema: str, value: object) -> str:
    with pytest.raises(HTTPRefusal) as caught:
        bodies.check(schema, value)
    assert caught.value.code in (400, 422)
    assert caught.value.sentence.isascii()
    return caught.value.sentence


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", "not-json", id="empty"),
        pytest.param(b"{", "not-json", id="cut off"),
        pytest.param(b"{} {}", "not-json", id="two values"),
        pytest.param(b"{'a': 1}", "not-json", id="single quotes"),
        pytest.param(b'{"a": 1,}', "not-json", id="comma at the end"),
        pytest.param(b"\xef\xbb\xbf{}", "not-json", id="byte order mark"),
        pytest.param("{}".encode("utf-16"), "not-utf-8", id="UTF-16"),
        pytest.param(b'"\xed\xa0\x80"', "not-utf-8", id="surrogate in UTF-8"),
        pytest.param(b'{"a": "\xff"}', "not-utf-8", id="not UTF-8"),
        pytest.param(b'{"a": 1, "a": 1}', "member-twice", id="member twice"),
        pytest.param(b'{"a": 1, "\\u0061": 2}', "member-twice", id="member twice, escaped"),
        pytest.param(b'[{"b": {"a": 1, "a": 1}}]', "member-twice", id="inner member twice"),
        pytest.param(b"NaN", "number", id="NaN"),
        pytest.param(b"[-Infinity]", "number", id="Infinity"),
        pytest.param(b"1e400", "number", id="above all floats"),
        pytest.param(b"9007199254740993", "number", id="above 2**53"),
        pytest.param(b"1" * 100_000, "number", id="a hundred thousand digits"),
        pytest.param(b"-" + b"1" * 5000, "number", id="five thousand digits, negative"),
        pytest.param(rb'"\ud800"', "surrogate", id="half of a pair"),
        pytest.param(rb'{"\udc00": 1}', "surrogate", id="half of a pair in a name"),
        pytest.param(rb'["\ud83d", "\ude00"]', "surrogate", id="a pair in two texts"),
        pytest.param(b"[" * 100_000, "not-json", id="deep list"),
        pytest.param(b'{"a":' * 100_000, "not-json", id="deep object"),
        pytest.param(b"\x00", "not-json", id="NUL"),
    ],
)
def test_a_body_without_one_meaning_is_refused(content, code):
    assert refused(content) == code


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param(rb'"\ud83d\ude00"', "\U0001f600", id="a whole pair"),
        pytest.param(b"302.0", 302, id="whole number with a point"),
        pytest.param(b"3.5", 3.5, id="fraction"),
        pytest.param(b"-0", 0, id="negative zero"),
        pytest.param(b" \n{}\t", {}, id="white space"),
        pytest.param(b'"a\\u0000b"', "a\0b", id="NUL in a text, which the fields refuse"),
    ],
)
def test_a_body_is_read(content, value):
    read = bodies.parse(content)
    assert (read, type(read)) == (value, type(value))


def test_an_error_has_the_place_in_the_body():
    with pytest.raises(HTTPRefusal, match=r"line 2, column 6"):
        bodies.parse(b'{"a": 1,\n"b": }')


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        pytest.param("Fields", [], "The body must be an object.", id="list"),
        pytest.param("Fields", None, "The body must be an object.", id="null"),
        pytest.param("Fields", {"target": 1}, "The member /target must be a text.", id="number for a text"),
        pytest.param("Fields", {"target": None}, "The member /target must be a text.", id="null for a text"),
        pytest.param("Fields", {"target": ""}, "The member /target must have at least 1 character.", id="empty text"),
        pytest.param("Fields", {"passthrough": "y"}, PASSTHROUGH, id="text"),
        pytest.param("Fields", {"passthrough": 1}, PASSTHROUGH, id="1 for true"),
        pytest.param("Fields", {"redirect": 301}, "The member /redirect must be 302 or 307.", id="301"),
        pytest.param("Fields", {"redirect": True}, "The member /redirect must be a whole number.", id="true"),
        pytest.param("Fields", {"metadata": {"who": 1}}, "The member /metadata/who must be a text.", id="element"),
        pytest.param(
            "Fields", {"metadata": {"a/b~c": 1}}, "The member /metadata/a~1b~0c must be a text.", id="JSON pointer"
        ),
        pytest.param("Patch", {}, "The body must have at least 1 item.", id="empty patch"),
        pytest.param("Patch", {"state": None}, 'The member /state must be a text.', id="null state"),
        pytest.param("NewNames", {}, "The body must have the member names.", id="missing"),
        pytest.param("NewNames", {"names": []}, "The member /names must have at least 1 item.", id="no names"),
        pytest.param(
            "NewNames", {"names": [{"name": "ark:12345/x", "shoulder": "ark:12345/x5"}]},
            "The member /names/0 must have either the member name or the member shoulder.", id="both",
        ),
        pytest.param(
            "NewNames", {"names": [FIELDS]},
            "The member /names/0 must have either the member name or the member shoulder.", id="neither",
        ),
        pytest.param(
            "NewNames", {"names": [{"name": "ark:12345/x"}] * (MAX_NAMES + 1)},
            "The member /names must have at most 1,000 items.", id="1,001 names",
        ),
    ],
)  # fmt: skip
def test_a_value_of_another_form_is_refused_with_its_place(schema, value, sentence):
    assert unlike(schema, value) == sentence


def test_unknown_members_are_refused_with_their_names_escaped():
    sentence = unlike("Fields", {"targte\u202e": "x", "identifier": "x"})
    assert "does not know: targte" in sentence
    assert "identifier" in sentence


def test_an_error_does_not_repeat_the_value():
    assert "s3cret" not in unlike("Fields", {"kind": "s3cret", "target": ["s3cret"]})


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_deep_values_are_refused(depth):
    value = json.loads('{"metadata":' * depth + "1" + "}" * depth)
    unlike("Fields", value)


def texts_without_a_limit(schema: object) -> list[object]:
    if isinstance(schema, list):
        return [found for each in schema for found in texts_without_a_limit(each)]
    if not isinstance(schema, dict):
        return []
    is_text = "string" in str(schema.get("type")) and "enum" not in schema and "maxLength" not in schema
    return [schema] * is_text + [found for each in schema.values() for found in texts_without_a_limit(each)]


def test_every_schema_compiles_and_has_a_limit_for_each_text():
    for name, schema in requests().items():
        bodies.schemas.validator(name).is_valid({})
        assert texts_without_a_limit(schema) == []


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        pytest.param("application/json", None, id="JSON"),
        pytest.param("application/json; charset=utf-8", None, id="with a charset"),
        pytest.param("APPLICATION/JSON", None, id="upper case"),
        pytest.param("text/plain", 415, id="text"),
        pytest.param("application/x-www-form-urlencoded", 415, id="form"),
        pytest.param("application/merge-patch+json", 415, id="merge patch"),
        pytest.param("", 415, id="missing"),
        pytest.param("json\u202e".encode().decode("latin-1"), 415, id="hidden character"),
    ],
)
def test_only_json_is_accepted(content_type, status):
    with APP.test_request_context(method="PUT", data=json.dumps(FIELDS), headers={"Content-Type": content_type}):
        if status is None:
            assert bodies.read_json("Fields") == FIELDS
        else:
            with pytest.raises(HTTPRefusal) as caught:
                bodies.read_json("Fields")
            assert (caught.value.code, caught.value.kind) == (415, "media-type")
            assert caught.value.sentence.isascii()


def test_a_body_that_is_too_long_is_refused():
    content = b" " * bodies.MAX_BYTES + b"{}"
    with (
        APP.test_request_context(method="PUT", data=content, content_type="application/json"),
        pytest.raises(HTTPRefusal) as caught,
    ):
        bodies.read_json("Fields")
    assert (caught.value.code, caught.value.kind) == (413, "body-too-long")


def test_only_an_optional_body_can_be_empty():
    with APP.test_request_context(method="POST"):
        assert bodies.read_json("Withdrawal", optional=True) == {}
        with pytest.raises(HTTPRefusal):
            bodies.read_json("Withdrawal")
