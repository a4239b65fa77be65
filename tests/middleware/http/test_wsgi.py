"""The site answers at one of its own paths: its environ, and changes of its answer."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from werkzeug.test import create_environ

from ararat.middleware.http.handover import local_target
from ararat.middleware.http.wsgi import add_fields, local_environ


def environ(**changes):
    return create_environ("/ark:12345/page", environ_overrides={"wsgi.input": "the body", "HTTP_X": "y", **changes})


@pytest.mark.parametrize(
    ("target", "query", "path_info", "query_string", "raw"),
    [
        pytest.param("/page", None, "/page", "", "/page", id="path"),
        pytest.param("/page", "page=2&a[b]=%41", "/page", "page=2&a[b]=%41", "/page?page=2&a[b]=%41", id="query"),
        pytest.param("/show?id=3", None, "/show", "id=3", "/show?id=3", id="query of the target"),
        pytest.param("/show?id=3", "page=2", "/show", "id=3&page=2", "/show?id=3&page=2", id="both"),
        pytest.param("/page?", None, "/page", "", "/page", id="empty query"),
        pytest.param("/page#part", None, "/page", "", "/page", id="fragment"),
        pytest.param("/a%2Fb%20c", None, "/a/b c", "", "/a%2Fb%20c", id="encoded slash"),
        pytest.param("/%D0%B1%FF", None, "/\xd0\xb1\xff", "", "/%D0%B1%FF", id="octets"),
        pytest.param("/", None, "/", "", "/", id="root"),
    ],
)
def test_all_environ_keys_of_the_path_are_replaced(target, query, path_info, query_string, raw):
    local = local_environ(environ(), *local_target(target, query))
    assert (local["PATH_INFO"], local["QUERY_STRING"], local["REQUEST_URI"], local["RAW_URI"]) == (
        path_info,
        query_string,
        raw,
        raw,
    )


def test_the_raw_target_is_below_the_mount_point():
    local = local_environ(environ(SCRIPT_NAME="/a pp"), "/page", "x=1")
    assert (local["SCRIPT_NAME"], local["PATH_INFO"], local["REQUEST_URI"]) == ("/a pp", "/page", "/a%20pp/page?x=1")


def test_other_environ_keys_are_kept_and_the_original_is_not_changed():
    original = environ()
    before = dict(original)
    local = local_environ(original, "/page", "")
    assert original == before
    assert type(local) is dict
    changed = {key for key in local if local[key] != original.get(key)}
    assert changed == {"PATH_INFO", "REQUEST_URI", "RAW_URI"}


class Server:
    arguments: tuple[Any, ...] = ()

    def __call__(self, *arguments):
        self.arguments = arguments
        return self.write

    def write(self, data): ...


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        ("200 OK", "200 OK"),
        ("301 Moved Permanently", "302 Found"),
        ("308 Permanent Redirect", "307 Temporary Redirect"),
        ("301", "302 Found"),
        ("302 Found", "302 Found"),
        ("404 Nope", "404 Nope"),
    ],
)
def test_a_link_is_added_and_permanent_redirects_become_temporary(status, sent):
    server, headers = Server(), [("Link", "</css>; rel=preload"), ("Location", "/x"), ("Set-Cookie", "a=b")]
    write = add_fields(server, [("Link", '</ark:12345/page?info>; rel="describedby"')])(status, headers)
    assert server.arguments == (sent, [*headers, ("Link", '</ark:12345/page?info>; rel="describedby"')])
    assert len(headers) == 3
    assert write == server.write


def test_exc_info_is_passed_only_if_given():
    server = Server()
    start = add_fields(server, [("Link", "</x>; rel=item")])
    start("200 OK", [])
    assert server.arguments[2:] == ()
    try:
        raise ValueError
    except ValueError:
        start("500 Oh", [], sys.exc_info())
    assert server.arguments[2][0] is ValueError
    start("200 OK", [], None)  # type: ignore[arg-type]
    assert server.arguments[2] is None
