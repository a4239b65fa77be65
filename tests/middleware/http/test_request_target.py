"""The request target from the environ of each kind of server."""

from __future__ import annotations

import string
from itertools import product
from urllib.parse import unquote, unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.ark import normalization
from ararat.middleware.http.request_target import PLAIN_PATH, Target, mount_path, recover, reserved_labels, with_colon


def reserved(path: str, schemes: tuple[str, ...] = ("ark", "urn")) -> bool:
    return path[:5] in reserved_labels(schemes)


@pytest.mark.vectors("reserved-path")
def test_reserved_paths_agree_with_the_vectors(vector):
    path = with_colon(vector.input)
    assert reserved(path) is vector.expect["match"]
    if scheme := vector.expect["scheme"]:
        assert reserved(path, (scheme,))


@pytest.mark.parametrize(
    ("raw", "identifier"),
    [
        ("/ark%3A12345/a%3Ab", "ark:12345/a%3Ab"),
        ("/ARK%3a12345/a%3ab?info", "ARK:12345/a%3ab?info"),
        ("http://h/urn%3Aisbn%3A1", "urn:isbn:1"),
        ("http://h/urn:isbn%3a1%3A2", "urn:isbn:1%3A2"),
        ("/atlas%3A1", "atlas%3A1"),
    ],
)
def test_an_encoded_colon_of_the_label_is_a_colon(raw, identifier):
    path, _, query = raw.removeprefix("http://h").partition("?")
    target = recover({"PATH_INFO": unquote(path), "RAW_URI": raw, "QUERY_STRING": query})
    assert (target.identifier, target.exact) == (identifier, True)


@pytest.mark.parametrize(
    "path",
    ["/ar\u212a:12345/x", "/\uff41rk:12345/x", "/\u0430rk:12345/x", "/ark\uff1a12345/x", "ark:12345/x", "/arkx:1/x"],
)
def test_only_ascii_letters_form_a_label(path):
    assert not reserved(path)


@pytest.mark.vectors("recover-raw-target")
def test_the_raw_target_restores_what_wsgi_decodes(vector):
    target = recover(vector.input)
    assert target.path[1:] == vector.expect["request_core"]
    assert target.query is not None
    assert f"?{target.query}" == vector.expect["inflection"]
    assert target.exact


# The environs were recorded from real servers. `raw` is REQUEST_URI or RAW_URI.
@pytest.mark.parametrize(
    ("path_info", "raw", "identifier"),
    [
        pytest.param("/ark:12345/x", "/ark:12345/x", "ark:12345/x", id="plain"),
        pytest.param("/ark:12345/x", "/ark:12345/x?", "ark:12345/x?", id="bare question mark"),
        pytest.param("/ark:12345/x", "/ark:12345/x#f?q", "ark:12345/x", id="fragment"),
        pytest.param(
            "/ark:12345/a/b", "/ark:12345/a%2Fb", "ark:12345/a%2Fb", id="encoded slash, decoded by the server"
        ),
        pytest.param(
            "/ark:12345/a%2Fb", "/ark:12345/a%2fb", "ark:12345/a%2fb", id="encoded slash, kept by cheroot in upper case"
        ),
        pytest.param(
            "/ark:12345/a%2fb.c",
            "/ark:12345/a%2fb%2Ec",
            "ark:12345/a%2fb%2Ec",
            id="encoded slash, kept by Apache as it is",
        ),
        pytest.param("/ark:12345/\xff", "/ark:12345/%ff", "ark:12345/%ff", id="no UTF-8"),
        pytest.param("/ark:12345/\xef\xbf\xbd", "/ark:12345/%ff", "ark:12345/%ff", id="no UTF-8, replaced by werkzeug"),
        pytest.param("/ark:12345/\xd0\xb1", "/ark:12345/\xd0\xb1", "ark:12345/%D0%B1", id="raw UTF-8"),
        pytest.param("/ark:12345/x\0y", "/ark:12345/x%00y", "ark:12345/x%00y", id="encoded NUL"),
        pytest.param("/ark:12345/%2D", "/ark:12345/%252D", "ark:12345/%252D", id="encoded percent sign"),
        pytest.param("/ark:12345/x", "http://evil.example/ark:12345/x", "ark:12345/x", id="absolute-form"),
        pytest.param("/ark:12345/x", "HTTPS://evil.example/ark:12345/x", "ark:12345/x", id="absolute-form in capitals"),
        pytest.param(
            "http://h/ark:12345/x",
            "http://h/ark:12345/x",
            "ark:12345/x",
            id="absolute-form, left in PATH_INFO by uWSGI",
        ),
    ],
)
@pytest.mark.parametrize("key", ["REQUEST_URI", "RAW_URI"])
def test_the_raw_target_is_used_if_it_agrees_with_path_info(key, path_info, raw, identifier):
    target = recover({"PATH_INFO": path_info, "QUERY_STRING": "", key: raw})
    assert target.identifier == identifier
    assert target.exact


@pytest.mark.parametrize(
    ("path_info", "raw"),
    [
        pytest.param("/ark:12345/x", "/%61rk:12345/x", id="encoded letter"),
        pytest.param("/ark:12345/x", "//ark:12345/x", id="two slashes, made one by waitress"),
        pytest.param("//ark:12345/x", "//ark:12345/x", id="two slashes"),
        pytest.param("/ark:12345/x", "http://h//ark:12345/x", id="two slashes in an absolute-form"),
        pytest.param("*", "*", id="asterisk-form"),
        pytest.param("", "urn:isbn:1", id="address of another scheme"),
        pytest.param("12345/x", "ark:12345/x", id="identifier without a slash"),
    ],
)
def test_other_paths_belong_to_the_site(path_info, raw):
    assert not reserved(recover({"PATH_INFO": path_info, "RAW_URI": raw}).path)


@pytest.mark.parametrize(
    ("script_name", "path_info", "raw", "path"),
    [
        pytest.param("/app", "/ark:12345/x", "/app/ark:12345/x?", "/ark:12345/x", id="as mounted"),
        pytest.param("/app", "/ark:12345/x", "/%61pp/ark:12345/x?", "/ark:12345/x", id="a letter of the mount encoded"),
        pytest.param("/a pp", "/ark:12345/x", "/a%20pp/ark:12345/x?", "/ark:12345/x", id="mount with a space"),
        pytest.param("/a/b", "/ark:12345/x", "/a%2Fb/ark:12345/x?", "/ark:12345/x", id="a slash of the mount encoded"),
        pytest.param(
            "/app", "/ark:12345/x", "/app%2Fark:12345/x?", "%2Fark:12345/x", id="the slash before the label encoded"
        ),
        pytest.param(
            "/app", "/ark:12345/x", "/ark:12345/x?", "/ark:12345/x", id="mount named by a proxy that had cut it off"
        ),
    ],
)
def test_the_mount_point_is_removed_in_any_spelling(script_name, path_info, raw, path):
    assert recover(
        {"SCRIPT_NAME": script_name, "PATH_INFO": path_info, "REQUEST_URI": raw, "QUERY_STRING": ""}
    ) == Target(path, "")


@pytest.mark.parametrize(
    ("path_info", "raw"),
    [
        pytest.param("/ark:12345/public", "/ark:12345/secret", id="another name"),
        pytest.param("/ark:12345/a/b", "/ark:12345/a//b", id="slashes merged by a front server"),
        pytest.param("/ark:12345/b", "/ark:12345/a/../b", id="dot-segments removed by a front server"),
        pytest.param("/ark:12345/a%2Fb", "/ark:12345/a/b", id="a slash that was never encoded"),
        pytest.param("/ark:12345/a", "/ark:12345/%2561", id="decoded twice"),
        pytest.param("/ark:12345/x", "/ark:12345//x", id="slashes merged further on"),
        pytest.param("/ark:12345/\xef\xbf\xbd", "/ark:12345/a", id="U+FFFD for what is UTF-8"),
        pytest.param("/ark:12345/x", "/elsewhere/ark:12345/x", id="below another mount"),
    ],
)
def test_path_info_is_used_if_the_raw_target_differs(path_info, raw):
    target = recover({"PATH_INFO": path_info, "REQUEST_URI": f"{raw}?info", "QUERY_STRING": "info"})
    assert not target.exact
    assert unquote_to_bytes(target.path) == path_info.encode("latin-1")
    assert target.query == "info"


def test_the_query_string_is_used_if_the_raw_query_differs():
    target = recover({"PATH_INFO": "/ark:12345/a/b", "QUERY_STRING": "x=1", "REQUEST_URI": "/ark:12345/a%2Fb?x=2"})
    assert target == Target("/ark:12345/a%2Fb", "x=1", exact=False)


def test_request_uri_takes_precedence_over_raw_uri():
    environ = {
        "PATH_INFO": "/ark:12345/a/b",
        "QUERY_STRING": "",
        "REQUEST_URI": "/stale?",
        "RAW_URI": "/ark:12345/a%2Fb?",
    }
    assert recover(environ) == Target("/ark:12345/a%2Fb", "")
    assert recover(environ | {"REQUEST_URI": "/ark:12345/a/b"}) == Target("/ark:12345/a/b", None)


@pytest.mark.parametrize(
    ("path_info", "path"),
    [
        pytest.param("/ark:12345/x", "/ark:12345/x", id="plain"),
        pytest.param("/ark:12345/a%2Fb", "/ark:12345/a%252Fb", id="percent sign"),
        pytest.param("/ark:12345/a?b#c d", "/ark:12345/a%3Fb%23c%20d", id="characters that end a path"),
        pytest.param("/ark:12345/\xd0\xb1\xff", "/ark:12345/%D0%B1%FF", id="bytes outside ASCII"),
        pytest.param("/urn:isbn:0-1", "/urn:isbn:0-1", id="colons stay"),
        pytest.param("/ark:12345/;@!$&'()*+,=~", "/ark:12345/;@!$&'()*+,=~", id="characters of a path stay"),
    ],
)
def test_without_a_raw_target_the_path_is_quoted_and_a_bare_question_mark_lost(path_info, path):
    assert recover({"PATH_INFO": path_info, "QUERY_STRING": ""}) == Target(path, None, exact=False)
    assert recover({"PATH_INFO": path_info, "QUERY_STRING": "?"}).query == "?"


@pytest.mark.parametrize("segment", [".", "..", "%2e", "%2E%2e", ".%2E"])
@pytest.mark.parametrize("where", ["/{}/ark:12345/x", "/ark:12345/{}/x", "/ark:12345/x/{}"])
def test_dot_segments_of_the_raw_target_are_detected_even_if_the_server_removed_them(segment, where):
    assert recover({"PATH_INFO": "/ark:12345/x", "REQUEST_URI": where.format(segment)}).dotted


@pytest.mark.parametrize(
    ("path_info", "raw", "dotted"),
    [
        pytest.param("/ark:12345/a/../b", "/ark:12345/a%2F..%2Fb", True, id="between encoded slashes"),
        pytest.param("/ark:12345/a..", "/ark:12345/a%2E%2E", False, id="at the end of a longer segment"),
        pytest.param("/ark:12345/...", "/ark:12345/...", False, id="three dots"),
        pytest.param("/ark:12345/%2E%2E", "/ark:12345/%252E%252E", False, id="encoded twice"),
        pytest.param("/ark:12345/x", "/ark:12345/x?/../", False, id="in the query"),
    ],
)
def test_only_complete_segments_are_dot_segments(path_info, raw, dotted):
    assert recover({"PATH_INFO": path_info, "REQUEST_URI": raw}).dotted is dotted


anything = st.one_of(
    st.none(),
    st.integers(),
    st.binary(max_size=20),
    st.text(max_size=60),
    st.text("/.%2FfeEark:?#\xff\u212a\ud800", max_size=40),
)
keys = st.sampled_from(["PATH_INFO", "SCRIPT_NAME", "QUERY_STRING", "REQUEST_URI", "RAW_URI"])


@given(st.dictionaries(keys, anything))
def test_every_environ_gives_an_ascii_target(environ):
    target = recover(environ)
    assert target.identifier.isascii()
    assert mount_path(environ).isascii()
    assert mount_path(environ)[:2] != "//"


@given(st.text(string.printable + "\xe9", max_size=30), st.sampled_from(["", "?", "?a=b", "??"]))
def test_a_decoded_path_is_restored(name, query):
    raw = "/ark:12345/" + "".join(
        char if char.isalnum() and char.isascii() else "".join(f"%{octet:02x}" for octet in char.encode())
        for char in name
    )
    path_info = unquote_to_bytes(raw).decode("latin-1")
    target = recover({"PATH_INFO": path_info, "QUERY_STRING": query[1:], "RAW_URI": raw + query})
    assert (target.path, target.exact) == (raw, True)
    assert target.identifier == raw[1:] + query


@given(st.text("/:.-_~%?#aA1 é", max_size=12), st.sampled_from(["", "/m"]))
def test_an_absolute_request_target_has_the_same_path(path, mount):
    environ = {"PATH_INFO": f"/{path}", "QUERY_STRING": "", "SCRIPT_NAME": mount}
    assert recover(environ | {"RAW_URI": f"/{path}"}) == recover(environ | {"RAW_URI": f"http://a/{path}"})


@pytest.mark.parametrize("text", ["ark:{}2345/x", "ark:12345{}x", "ark:12345/{}", "ark:/12345/x/{}b", "ark:12345/x.{}"])
def test_the_path_of_a_plain_ark_has_only_one_spelling(text):
    # A redirect is found by such a path, without recovering the request target.
    pairs = (text.format(a + b) for a, b in product(string.printable, repeat=2))
    plain = [each for each in pairs if normalization.plain(each)]
    assert all(PLAIN_PATH.fullmatch(f"/{each}") for each in plain)
    assert plain
