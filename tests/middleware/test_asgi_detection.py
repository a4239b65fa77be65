"""ASGI applications are recognized and refused, and all WSGI applications are accepted."""

from __future__ import annotations

import functools
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask, current_app
from werkzeug.middleware.proxy_fix import ProxyFix

from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware
from ararat.middleware.asgi_detection import is_asgi, is_wsgi


async def coroutine(scope: Any, receive: Any, send: Any) -> None: ...


def function(environ: Any, start_response: Any) -> list[bytes]:
    return []


class Framework:
    """An object like those of FastAPI, Starlette, Quart and Litestar."""

    def __init__(self) -> None:
        self.added: list[tuple[Any, dict[str, Any]]] = []

    def add_middleware(self, kind: Any, **settings: Any) -> None:
        self.added.append((kind, settings))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        app: Any = Framework()
        for kind, settings in self.added:
            app = kind(app, **settings)


class Compiled:
    """A function like a compiled coroutine function: three arguments, and no coroutine flag."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Any: ...


class Site:
    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        return []

    def method(self, environ: Any, start_response: Any, *rest: Any, color: str = "") -> list[bytes]:
        return []


class PerRequest:
    """A class that is a WSGI application itself, as in PEP 3333."""

    def __init__(self, environ: Any, start_response: Any) -> None: ...

    def __iter__(self) -> Any:
        return iter([])


def configured(settings: Any, environ: Any, start_response: Any) -> list[bytes]:
    return []


@functools.wraps(coroutine)
def wrapper(environ: Any, start_response: Any) -> list[bytes]:
    return []


class Unfriendly:
    """An object that raises an exception on every access except a call."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError

    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        return []


def of_django(kind: str) -> Any:
    if kind == "asgi":
        from django.core.handlers.asgi import ASGIHandler as Handler
    else:
        from django.core.handlers.wsgi import WSGIHandler as Handler
    return Handler.__new__(Handler)


ASGI = [
    pytest.param(coroutine, id="coroutine function"),
    pytest.param(Framework(), id="object"),
    pytest.param(Framework().__call__, id="bound method"),
    pytest.param(functools.partial(coroutine), id="partial"),
    pytest.param(functools.partial(functools.partial(Framework())), id="partial of an object"),
    pytest.param(Compiled(), id="compiled"),
    pytest.param(of_django("asgi"), id="Django"),
]
WSGI = [
    pytest.param(function, id="function"),
    pytest.param(lambda *_: [], id="lambda"),
    pytest.param(Site(), id="object"),
    pytest.param(Site().__call__, id="bound method"),
    pytest.param(Site().method, id="bound method with options"),
    pytest.param(PerRequest, id="class"),
    pytest.param(functools.partial(configured, {}), id="partial of three arguments"),
    pytest.param(wrapper, id="wraps a coroutine function"),
    pytest.param(Flask("site"), id="Flask"),
    pytest.param(Flask("site").wsgi_app, id="Flask.wsgi_app"),
    pytest.param(ProxyFix(function), id="ProxyFix"),
    pytest.param(current_app, id="LocalProxy"),
    pytest.param(of_django("wsgi"), id="Django"),
    pytest.param(Mock(), id="Mock"),
    pytest.param(map, id="builtin class"),
    pytest.param(print, id="builtin function"),
    pytest.param(Unfriendly(), id="raises when inspected"),
]


@pytest.mark.parametrize("app", ASGI)
def test_an_asgi_application_is_refused_with_the_fix(app: Any) -> None:
    assert is_asgi(app)
    with pytest.raises(
        TypeError, match=r"is an ASGI application\. Use ResolverASGIMiddleware with the same arguments"
    ) as raised:
        ResolverMiddleware(app, Mock())
    assert str(raised.value).isascii()
    assert not is_wsgi(app)
    assert ResolverASGIMiddleware(app, Mock()).app is app


@pytest.mark.parametrize("app", WSGI)
def test_a_wsgi_application_is_accepted(app: Any) -> None:
    assert not is_asgi(app)
    assert ResolverMiddleware(app, Mock()).app is app


@pytest.mark.parametrize("app", [function, Site(), Flask("site"), ProxyFix(function), wrapper, of_django("wsgi")])
def test_an_application_that_is_surely_wsgi_is_recognized(app: Any) -> None:
    assert is_wsgi(app)


@pytest.mark.parametrize("app", [lambda *_: [], Mock(), map, print, Site().method, 17, None])
def test_an_application_that_can_be_asgi_is_not_refused(app: Any) -> None:
    assert not is_wsgi(app)


def test_add_middleware_of_an_asgi_framework_raises_the_same_error() -> None:
    framework = Framework()
    framework.add_middleware(ResolverMiddleware, bindings=Mock(), prefix="https://example.org")
    with pytest.raises(TypeError, match=r"test_asgi_detection\.Framework is an ASGI application"):
        framework({}, None, None).send(None)
