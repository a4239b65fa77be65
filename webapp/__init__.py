"""The inspector: a Flask application with pages, an API and live traces. :func:`create_app` creates it.
Flask is imported at its first use, so that a command that shows no page starts without Flask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..middleware.http.trusted_proxy import ForwardedFields
    from .app import create_app

__all__ = ["ForwardedFields", "create_app"]


def __getattr__(name: str) -> object:
    if name == "create_app":
        from .app import create_app

        return create_app
    if name == "ForwardedFields":
        from ..middleware.http.trusted_proxy import ForwardedFields

        return ForwardedFields
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
