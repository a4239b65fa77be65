"""Names and operations in the paths of requests."""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes

import pytest
from werkzeug.exceptions import NotFound

from ararat.bindings.names import naming
from ararat.webapp.api import name_paths
from ararat.webapp.api.name_paths import Addressed
from ararat.webapp.errors import HTTPRefusal

BASE = "/api/v1/names/"


def environ(below: str, *, exact: bool = True, mount: str = "") -> dict[str, str]:
    path, mark, query = below.partition("?")
    target = f"{BASE}{path}"
    found = {"PATH_INFO": unquote_to_bytes(target).decode("latin-1"), "QUERY_STRING": query, "SCRIPT_NAME": mount}
    return found | ({"REQUEST_URI": f"{mount}{target}{mark}{query}"} if exact else {})


def read(below: str, **options: bool | str) -> Addressed:
    found = name_paths.read_name(environ(below, **options), BASE)  # type: ignore[arg-type]
    name_paths.require_assignable(found.name)
    return found


def code(below: str, **options: bool | str) -> str:
    with pytest.raises(HTTPRefusal) as caught:
        read(below, **options)
    assert caught.value.code == 400
    assert caught.value.sentence.isascii()
    return caught.value.kind


@pytest.mark.parametrize(
    ("below", "name", "operation"),
    [
        pytest.param("ark:12345/x6np1", "ark:12345/x6np1", None, id="ARK"),
        pytest.param("ark:/12345/x6-np1", "ark:/12345/x6-np1", None, id="classic"),
        pytest.param("ark%3A12345%2Fx6np1", "ark:12345/x6np1", None, id="encoded as a whole"),
        pytest.param("ark%3a%2F12345%2fx6np1", "ark:/12345/x6np1", None, id="classic, encoded as a whole"),
        pytest.param("ark:12345/a%2Fb", "ark:12345/a%2Fb", None, id="encoded slash"),
        pytest.param("ark%3A12345%2Fa%252Fb", "ark:12345/a%2Fb", None, id="encoded slash, encoded as a whole"),
        pytest.param("ark:12345/a/b", "ark:12345/a/b", None, id="component"),
        pytest.param("ark:12345/a%3Fb", "ark:12345/a%3Fb", None, id="question mark"),
        pytest.param("ark:12345/%C3%A9", "ark:12345/%C3%A9", None, id="not ASCII"),
        pytest.param("urn:example:a%2Cb", "urn:example:a%2Cb", None, id="URN"),
        pytest.param("urn%3Aexample%3Aa%252Cb", "urn:example:a%2Cb", None, id="URN, encoded as a whole"),
        pytest.param("ark:12345/x/history", "ark:12345/x", "history", id="history"),
        pytest.param("urn:example:a/withdraw", "urn:example:a", "withdraw", id="operation on a URN"),
        pytest.param("ark%3A12345%2Fx/history", "ark:12345/x", "history", id="history of an encoded name"),
        pytest.param("ark%3A12345%2Fx%2Fhistory", "ark:12345/x/history", None, id="name that ends with history"),
        pytest.param("ark:12345/x/his-tory", "ark:12345/x/his-tory", None, id="the same with a hyphen"),
        pytest.param("ark:12345/x/History", "ark:12345/x/History", None, id="another case"),
    ],
)
def test_a_path_has_a_name_and_an_operation(below, name, operation):
    assert read(below) == Addressed(name, operation)
    assert read(below, mount="/ids") == Addressed(name, operation)


@pytest.mark.parametrize(
    ("below", "refusal"),
    [
        pytest.param("ark:12345/x?", "query", id="bare question mark"),
        pytest.param("ark:12345/x?info", "query", id="inflection"),
        pytest.param("ark:12345/../x", "dot-segment", id="dot segment"),
        pytest.param("ark:12345/%2E%2E/x", "dot-segment", id="encoded dot segment"),
        pytest.param("../imports", "dot-segment", id="dot segment instead of a name"),
        pytest.param("ark%3A12345%2F..%2Fx", "dot-segment", id="dot segment, encoded as a whole"),
        pytest.param("ark:99999/x", "naan-reserved-invalid", id="reserved NAAN"),
        pytest.param("example.org", None, id="host"),
        pytest.param("%FF", "not-utf-8", id="not UTF-8"),
        pytest.param("%00", None, id="NUL"),
        pytest.param("ark:12345/" + "x" * 300, "name-too-long", id="long"),
        pytest.param("ark:", None, id="label alone"),
        pytest.param("ark%E2%80%AE%3A12345%2Fx", None, id="hidden character"),
    ],
)
def test_other_paths_are_refused(below, refusal):
    found = code(below)
    assert refusal in (None, found)


@pytest.mark.parametrize("below", ["", "ark%3A12345%2Fx/unknown", "ark%3A12345%2Fx/history/withdraw"])
def test_a_path_without_a_name_or_with_another_operation_does_not_exist(below):
    with pytest.raises(NotFound):
        read(below)


def test_a_path_with_an_encoded_base_does_not_exist():
    target = f"{BASE[:-1]}%2Fark:12345/x"
    with pytest.raises(NotFound):
        name_paths.read_name({"PATH_INFO": f"{BASE}ark:12345/x", "QUERY_STRING": "", "REQUEST_URI": target}, BASE)


@pytest.mark.parametrize(
    ("below", "exact"),
    [
        pytest.param("ark:12345/x6np1", True, id="one component"),
        pytest.param("ark:/12345/x6np1", True, id="classic"),
        pytest.param("urn:isbn:9780451450524", True, id="URN"),
        pytest.param("ark:12345/x6np1/history", True, id="operation"),
        pytest.param("ark:12345/a/b", False, id="slash"),
        pytest.param("ark:12345/a%2Fb", False, id="encoded slash"),
        pytest.param("ark:12345/a/b/history", False, id="slash and operation"),
        pytest.param("ark:12345/a.b", False, id="dot"),
        pytest.param("ark:12345/%C3%A9", False, id="percent-encoded"),
        pytest.param("urn:example:a%2Cb", False, id="URN with an encoded comma"),
    ],
)
def test_a_server_that_decodes_the_path_accepts_only_names_with_one_reading(below, exact):
    if exact:
        assert read(below, exact=False) == read(below)
    else:
        assert code(below, exact=False) == "path-inexact"


@pytest.mark.naughty
def test_every_identifier_is_read_or_refused(naughty):
    # No server accepts a longer request line.
    written = naughty.input[:10_000].encode("utf-8", "surrogatepass")
    for below in (quote(written, safe=""), quote(written, safe=":/%")):
        try:
            found = read(below)
        except (NotFound, HTTPRefusal):
            continue
        assert naming.assignable(found.name)


def test_a_prefix_is_read_in_its_stored_form():
    base = "/api/v1/prefixes/"
    for below in ("ark:/12345/x-5", "ark:12345/x5", "12345/x5", "ark%3A12345%2Fx5"):
        found = {"PATH_INFO": unquote_to_bytes(f"{base}{below}").decode(), "REQUEST_URI": f"{base}{below}"}
        assert name_paths.read_prefix(found, base) == "ark:12345/x5"
    with pytest.raises(HTTPRefusal):
        name_paths.read_prefix({"PATH_INFO": f"{base}ark:99999/x", "REQUEST_URI": f"{base}ark:99999/x"}, base)
