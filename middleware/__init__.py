"""A resolver for ARKs and URNs in front of any WSGI or ASGI site, and the bindings it resolves by.

>>> import tempfile
>>> from ararat.middleware import ResolverMiddleware, open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> bindings.bind("ark:12345/x6np1", "https://example.org/map")
'bound'
>>> def site(environ, start_response):
...     start_response("200 OK", [("Content-Type", "text/plain")])
...     return [b"The site itself"]
>>> application = ResolverMiddleware(site, bindings, prefix="https://example.org")
>>> from werkzeug.test import Client
>>> answer = Client(application).get("/ark:/12345/x6-np1")
>>> answer.status, answer.location
('302 Found', 'https://example.org/map')
>>> Client(application).get("/anything/else").text
'The site itself'
>>> bindings.close(); folder.cleanup()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..bindings.collection import Bindings
    from ..bindings.creation import mint_one
    from ..bindings.imports.importing import import_table
    from ..bindings.minting import mint
    from ..bindings.names.actor import Actor
    from ..bindings.names.binding import Binding
    from ..bindings.names.errors import (
        BindingConflict,
        BindingError,
        BindingsUnavailable,
        ReadOnlyBindings,
        Stale,
        TableError,
    )
    from ..bindings.names.fields import Fields
    from ..bindings.names.selection import Selection, select
    from ..bindings.open import open_bindings
    from ..bindings.operations.relocation import relocate_prefix
    from ..bindings.operations.undo import undo_operation
    from .access_log import log_resolutions
    from .asgi import ResolverASGIMiddleware
    from .resolution.custom_scheme import OwnScheme
    from .resolution.destination import resolve
    from .resolution.result import Resolution
    from .resolution.source import BindingSource
    from .wsgi import ResolverMiddleware

__all__ = [
    "Actor",
    "Binding",
    "BindingConflict",
    "BindingError",
    "BindingSource",
    "Bindings",
    "BindingsUnavailable",
    "Fields",
    "OwnScheme",
    "ReadOnlyBindings",
    "Resolution",
    "ResolverASGIMiddleware",
    "ResolverMiddleware",
    "Selection",
    "Stale",
    "TableError",
    "import_table",
    "log_resolutions",
    "mint",
    "mint_one",
    "open_bindings",
    "relocate_prefix",
    "resolve",
    "select",
    "undo_operation",
]

# The module of each name. It is loaded on first use: most commands need few of them.
_MODULES = {
    **dict.fromkeys(
        ("BindingConflict", "BindingError", "BindingsUnavailable", "ReadOnlyBindings", "Stale", "TableError"),
        ".bindings.names.errors",
    ),
    "Bindings": ".bindings.collection",
    "open_bindings": ".bindings.open",
    **dict.fromkeys(("Selection", "select"), ".bindings.names.selection"),
    "Actor": ".bindings.names.actor",
    "Binding": ".bindings.names.binding",
    "Fields": ".bindings.names.fields",
    "OwnScheme": "resolution.custom_scheme",
    "Resolution": "resolution.result",
    "BindingSource": "resolution.source",
    "ResolverASGIMiddleware": "asgi",
    "ResolverMiddleware": "wsgi",
    "import_table": ".bindings.imports.importing",
    "log_resolutions": "access_log",
    "mint": ".bindings.minting",
    "mint_one": ".bindings.creation",
    "relocate_prefix": ".bindings.operations.relocation",
    "resolve": "resolution.destination",
    "undo_operation": ".bindings.operations.undo",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
