"""The user and the address that a proxy reports count only with its secret, under each server and for each spelling."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ararat.middleware.http import trusted_proxy
from ararat.middleware.http.trusted_proxy import ForwardedFields, ProxySecret, RemoteUser

pytestmark = pytest.mark.usefixtures("few_objects")

SECRET = "0123456789abcdef0123456789abcdef"
KNOWN = ProxySecret(SECRET)
USER = RemoteUser.of_setting("XRemoteUser", KNOWN)


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


SPELLINGS = ("XRemoteUser", "xremoteuser", "X-Remote-User", "X_Remote_User", "XRemote_User", "HTTP_XREMOTEUSER")


@pytest.mark.parametrize("server", [replaced, joined, dropped])
@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("guess", [None, "", "0" * 32, SECRET[:-1], f"{SECRET} "])
def test_no_client_is_a_user_without_the_secret(server: Any, name: str, guess: str | None) -> None:
    fields = [(name, "adam")]
    for secret in ("X-Ararat-Secret", "X_Ararat_Secret", "X_Ararat-Secret"):
        assert USER.of(server(fields if guess is None else [*fields, (secret, guess)])) is None


@pytest.mark.parametrize("server", [replaced, joined, dropped])
def test_the_user_of_the_proxy_counts(server: Any) -> None:
    assert USER.of(server([("XRemoteUser", "jane"), ("X-Ararat-Secret", SECRET)])) == "jane"


@pytest.mark.parametrize("server", [replaced, joined, dropped])
@pytest.mark.parametrize("name", SPELLINGS[2:])
@pytest.mark.parametrize("own", ["jane", ""])
def test_no_other_spelling_replaces_the_user_of_the_proxy(server: Any, name: str, own: str) -> None:
    for fields in ([(name, "adam"), ("XRemoteUser", own)], [("XRemoteUser", own), (name, "adam")]):
        assert USER.of(server([*fields, ("X-Ararat-Secret", SECRET)])) == (own or None)


@pytest.mark.parametrize("name", SPELLINGS[:2])
def test_two_users_in_one_field_are_no_user(name: str) -> None:
    for fields in ([(name, "adam"), ("XRemoteUser", "jane")], [("XRemoteUser", "jane"), (name, "adam")]):
        assert USER.of(joined([*fields, ("X-Ararat-Secret", SECRET)])) is None


def test_a_name_without_hyphens_has_one_spelling() -> None:
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


@pytest.mark.parametrize("field", ["X_FORWARDED_PROTO", "X_FORWARDED_PROTOCOL", "X_FORWARDED_SSL"])
@pytest.mark.parametrize("given", ["", SECRET])
def test_the_scheme_that_a_server_has_taken_from_a_field_needs_the_secret(field: str, given: str) -> None:
    schemes = []

    def app(environ: Any, start_response: Any) -> list[bytes]:
        schemes.append(environ["wsgi.url_scheme"])
        return []

    environ = {"wsgi.url_scheme": "https", f"HTTP_{field}": "https", "HTTP_X_ARARAT_SECRET": given}
    ForwardedFields(app, 1, KNOWN)(environ, lambda *_: lambda _: None)
    # A request over TLS without the field keeps its scheme.
    ForwardedFields(app, 1, KNOWN)({"wsgi.url_scheme": "https"}, lambda *_: lambda _: None)
    assert schemes == ["https" if given else "http", "https"]


class _Config:
    """The configuration of a server, or a module of it."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


GUNICORN, UVICORN, WAITRESS = "gunicorn.config", "uvicorn.config", "waitress.adjustments"


@pytest.mark.parametrize("is_late", [False, True], ids=["at the start", "at the first request"])
@pytest.mark.parametrize(
    ("module", "values", "words"),
    [
        (GUNICORN, {"forwarded_allow_ips": ["10.0.0.1", "::1"]}, ["of 10.0.0.1, ::1", "--forwarded-allow-ips ''"]),
        (GUNICORN, {"forwarded_allow_ips": []}, []),
        (UVICORN, {"proxy_headers": True, "forwarded_allow_ips": "*"}, ["of *,", "--no-proxy-headers"]),
        (UVICORN, {"proxy_headers": False, "forwarded_allow_ips": "*"}, []),
        (UVICORN, {"proxy_headers": True, "forwarded_allow_ips": ""}, []),
        (WAITRESS, {"trusted_proxy": "127.0.0.1"}, ["X-Forwarded-For", "omit --trusted-proxy"]),
        (WAITRESS, {"trusted_proxy": None}, []),
        ("uwsgi", {}, ["X-Forwarded-Proto of all clients", "only the proxy"]),
    ],
)
def test_a_server_that_trusts_fields_itself_is_named_once(
    monkeypatch: Any, caplog: Any, module: str, values: dict[str, Any], words: list[str], is_late: bool
) -> None:
    for each in ("uwsgi", *(other for other, _, _ in trusted_proxy._SETTINGS.values())):
        monkeypatch.delitem(sys.modules, each, raising=False)
    kind, loaded = type("Kind", (_Config,), {}), []

    def load() -> None:
        loaded.append(kind(**values))
        monkeypatch.setitem(sys.modules, module, _Config(Config=kind, Adjustments=kind))

    if not is_late:
        load()
    app = ForwardedFields(lambda environ, start_response: [], 1, KNOWN)
    assert bool(caplog.text) is (bool(words) and not is_late)
    if is_late:
        load()
    for _ in range(2):
        app({"wsgi.url_scheme": "http"}, lambda *_: lambda _: None)
    assert len(caplog.records) == bool(words)
    assert [word for word in words if word not in caplog.text] == []


def test_without_a_secret_the_settings_of_the_server_are_not_read(monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setattr(trusted_proxy, "warn_of_trusting_server", None)
    ForwardedFields(lambda environ, start_response: [], 1)({}, lambda *_: lambda _: None)
    assert caplog.text == ""


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
