"""Make any WSGI or ASGI site answer for its ARKs and URNs, and read, compare and find these identifiers.

>>> import ararat
>>> ararat.normalize("ark:/12345/x-5-4")
'ark:12345/x54'
>>> ararat.equivalent("ark:12345/x54", "ARK:/12345/x-5-4")
True

The names here are the most used ones of :mod:`ararat.identifiers` (identifiers as text) and :mod:`ararat.middleware`
(the resolver and the bindings). Each is loaded when it is first used. :mod:`ararat.webapp` is the inspector.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import identifiers, middleware, webapp
    from .identifiers import (
        Ark,
        EmbeddedArk,
        IdentifierError,
        Match,
        Report,
        Urn,
        equivalent,
        examine,
        find,
        normalize,
        parse,
    )
    from .middleware import (
        BindingError,
        BindingsUnavailable,
        ResolverASGIMiddleware,
        ResolverMiddleware,
        open_bindings,
        resolve,
    )

__version__ = "0.1.0"

__all__ = [
    "Ark",
    "BindingError",
    "BindingsUnavailable",
    "EmbeddedArk",
    "IdentifierError",
    "Match",
    "Report",
    "ResolverASGIMiddleware",
    "ResolverMiddleware",
    "Urn",
    "__version__",
    "equivalent",
    "examine",
    "find",
    "identifiers",
    "middleware",
    "normalize",
    "open_bindings",
    "parse",
    "resolve",
    "webapp",
]

_PACKAGES = ("identifiers", "middleware", "webapp")
_OF_MIDDLEWARE = (
    "BindingError",
    "BindingsUnavailable",
    "ResolverASGIMiddleware",
    "ResolverMiddleware",
    "open_bindings",
    "resolve",
)


def __getattr__(name: str) -> object:
    # On first use, so that `import ararat` loads no other module.
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in __all__:
        return getattr(import_module(".middleware" if name in _OF_MIDDLEWARE else ".identifiers", __name__), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    # pytest loads this file also under the name of its folder, and asks it for setUpModule.
    if not name.startswith("_") and __name__ == "ararat":
        for package in _PACKAGES:
            if name in import_module(f".{package}", __name__).__all__:
                message += f"; it is in {__name__}.{package}"
    # Python itself suggests a similar name of this module in a traceback.
    raise AttributeError(message, name=name, obj=modules.get(__name__))


def __dir__() -> list[str]:
    return __all__
