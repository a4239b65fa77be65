"""Distinguish ASGI from WSGI applications, because each middleware can call only one of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..identifiers.text import display

REMEDY = "Use ResolverASGIMiddleware with the same arguments."
"""The advice for a site that is an ASGI application."""


def is_asgi(app: object) -> bool:
    """Return whether ``app`` is an ASGI application: a coroutine function, or a callable that needs three arguments. Of
    an object, its ``__call__`` is examined; nothing is called. If this is unclear, the result is False: a WSGI
    application must never be refused.
    """
    try:
        inner = app
        while isinstance(inner, functools.partial):
            inner = inner.func
        # A class can be a WSGI application. The result of calling it is unknown.
        if inspect.isclass(inner):
            return False
        called = inner if inspect.isroutine(inner) else type(inner).__call__
        return inspect.iscoroutinefunction(called) or _takes_three(app)
    except Exception:  # noqa: BLE001 - inspecting an unknown object can raise any exception
        return False


def is_wsgi(app: object) -> bool:
    """Return whether ``app`` is surely a WSGI application: it takes two arguments, but not three."""
    try:
        if is_asgi(app) or not callable(app):
            return False
        signature = inspect.signature(app, follow_wrapped=False)
        return _binds(signature.bind, 2) and not _binds(signature.bind, 3)
    except Exception:  # noqa: BLE001 - inspecting an unknown object can raise any exception
        return False


def describe_application(app: object) -> str:
    """Return the module and the function or class of an application, for a message, in printable ASCII of limited
    length.

    >>> describe_application({})
    'builtins.dict'
    """
    kind = app if inspect.isfunction(app) else type(app)
    return display.escape(f"{kind.__module__}.{kind.__qualname__}"[:200])


def _takes_three(app: Any) -> bool:
    """Return whether ``app`` needs three arguments, as ASGI does. Compiled coroutine functions have no other mark."""
    signature = inspect.signature(app, follow_wrapped=False)
    return _binds(signature.bind, 3) and not _binds(signature.bind, 2)


def _binds(bind: Callable[..., Any], number: int) -> bool:
    try:
        bind(*range(number))
    except TypeError:
        return False
    return True
