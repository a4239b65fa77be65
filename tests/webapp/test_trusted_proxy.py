"""The user and the address that a proxy reports count only with its secret, under each server and for each spelling."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ararat.webapp import trusted_proxy
from ararat.webapp.trusted_proxy import ForwardedFields, ProxySecret, RemoteUser

SECRET = "0123456789abcdef0123456789abcdef"
KNOWN = ProxySecret(SECRET)
USER = RemoteUser.of_setting("X-Remote-User", KNOWN)


def replaced(fields: list[tuple[str, str]]) -> dict[str, str]:
    """The environ of granian, uWSGI and cheroot: a field with an underscore is kept, and the last one wins."""
    return {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in fields}


def joined(fields: list[tuple[str, str]]) -> dict[str, str]:
    """The environ of wsgiref: a field with an underscore is kept, and all are joined."""
    environ: dict[str, str] = {}
    for name, value in fields:
        key = f"HTTP_{name.upper().replace('-', '_')}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def dropped(fields: list[tuple[str, str]]) -> dict[str, str]:
    """The environ of gunicorn, waitress and gevent: a field with an underscore is dropped."""
    return joined([(name, value) for name, value in fields if "_" not in name])


SPELLINGS = ("X-Remote-User", "x-remote-user", "X_Remote_User", "X-Remote_User", "X_Remote-User", "HTTP_X_REMOTE_USER")


@pytest.mark.parametrize("server", [replaced, joined, dropped])
@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("guess", [None, "", "0" * 32, SECRET[:-1], f"{SECRET} "])
def test_no_client_is_a_user_without_the_secret(server: Any, name: str, guess: str | None) -> None:
    fields = [(name, "adam")]
    for secret in ("X-Ararat-Secret", "X_Ararat_Secret", "X_Ararat-Secret"):
        assert USER.of(server(fields if guess is None else [*fields, (secret, guess)])) is None


@pytest.mark.parametrize("server", [replaced, joined, dropped])
def test_the_user_of_the_proxy_counts(server: Any) -> None:
    assert USER.of(server([("X-Remote-User", "jane"), ("X-Ararat-Secret", SECRET)])) == "jane"


@pytest.mark.parametrize("server", [joined, dropped])
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_second_user_never_replaces_that_of_the_proxy(server: Any, name: str) -> None:
    for fields in ([(name, "adam"), ("X-Remote-User", "jane")], [("X-Remote-User", "jane"), (name, "adam")]):
        assert USER.of(server([*fields, ("X-Ararat-Secret", SECRET)])) in ("jane", None)


def test_a_name_without_hyphens_has_one_spelling() -> None:
    assert trusted_proxy.other_spellings("RemoteUser") == []
    assert trusted_proxy.removal("RemoteUser") == ""
    user = RemoteUser.of_setting("RemoteUser", KNOWN)
    fields = [("RemoteUser", "jane"), ("Remote_User", "adam"), ("Remote-User", "adam"), ("X-Ararat-Secret", SECRET)]
    assert user.of(replaced(fields)) == "jane"


def test_the_lines_remove_each_other_spelling() -> None:
    key = trusted_proxy.environ_key("X-Forwarded-For", "x")
    spelled = trusted_proxy.other_spellings("X-Forwarded-For")
    assert len(spelled) == 3
    assert {trusted_proxy.environ_key(each.replace("_", "-"), "x") for each in spelled} == {key}
    # Twenty hyphens have a million spellings.
    assert trusted_proxy.other_spellings("a" + "-a" * 20) == ["a" + "_a" * 20]


def test_the_secret_is_not_in_the_text_of_its_object() -> None:
    assert SECRET not in repr(KNOWN) + repr(USER)


@pytest.mark.parametrize("secret", [None, KNOWN], ids=["without a secret", "with a secret"])
@pytest.mark.parametrize("given", ["", SECRET[:-1], SECRET])
def test_forwarded_fields_count_only_with_the_secret(secret: ProxySecret | None, given: str) -> None:
    seen: dict[str, Any] = {}

    def app(environ: Any, start_response: Any) -> list[bytes]:
        seen.update(environ)
        return []

    environ = {"REMOTE_ADDR": "192.0.2.9", "wsgi.url_scheme": "http", "HTTP_HOST": "a.example"}
    forged = [("X-Forwarded-Host", "b.example"), ("X-Forwarded-Prefix", "/b"), ("Forwarded", "for=192.0.2.1")]
    forged += [("X-Script-Name", "/b"), ("X-Forwarded-Port", "81"), ("X-Real-Ip", "192.0.2.1")]
    fields = [("X_Forwarded_For", "198.51.100.1"), ("X-Forwarded-Proto", "https"), ("X-Ararat-Secret", given), *forged]
    ForwardedFields(app, 1, secret)(environ | replaced(fields), lambda *_: lambda _: None)
    counts = secret is None or given == SECRET
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == (
        ("198.51.100.1", "https") if counts else ("192.0.2.9", "http")
    )
    assert (seen["HTTP_HOST"], seen.get("SCRIPT_NAME", ""), seen.get("SERVER_PORT")) == ("a.example", "", None)


@pytest.mark.parametrize(
    ("loaded", "found"),
    [
        ((), None),
        (("granian",), "granian"),
        (("uwsgi",), "uWSGI"),
        (("cheroot",), "cheroot"),
        (("wsgiref.simple_server",), "wsgiref"),
        (("wsgiref.simple_server", "gunicorn"), None),
        (("gunicorn", "waitress"), None),
    ],
)
def test_the_server_of_the_process_is_known(monkeypatch: Any, loaded: tuple[str, ...], found: str | None) -> None:
    for name in (*trusted_proxy._KEEPING, *trusted_proxy._DROPPING):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in loaded:
        monkeypatch.setitem(sys.modules, name, sys)
    assert trusted_proxy.server_that_keeps_underscores() == found
