"""Read the name in the path of a request: ``/api/v1/names/NAME`` or ``/api/v1/names/NAME/OPERATION``.
A client can write the name as it is (``ark:12345/x6np1``). Then the percent-encoding of the path is that of the name.
The last segment is an operation if it is one of :data:`OPERATIONS`. A client can also percent-encode the whole name
(``ark%3A12345%2Fx6np1``), as generated clients do. Then the name has one segment, and can end with any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from werkzeug.exceptions import NotFound

from ...bindings.names import naming
from ...bindings.names.errors import BindingError
from ...bindings.names.naming import NO_RULES, NamingRules
from ...bindings.names.prefixes import prefixes
from ...identifiers.text import display
from ...middleware.http import request_target
from ...middleware.http.request_target import Target
from ..errors import HTTPRefusal
from .schemas import MAX_NAME

OPERATIONS = ("history", "withdraw", "restore", "relocate")

# A name that has the same octets before and after percent-decoding, and after encoding each octet that has a meaning.
_UNAMBIGUOUS = re.compile(r"(?:(?i:ark):/?[A-Za-z0-9-]+/|(?i:urn):[A-Za-z0-9-]+:)[A-Za-z0-9_~-]*")


class Addressed(NamedTuple):
    """The ``name`` in a path as the client wrote it, and the ``operation`` after it, such as "history", or None."""

    name: str
    operation: str | None


def read_name(environ: Mapping[str, Any], base: str) -> Addressed:
    """Return the name in the path of a request below ``base``, and the operation after it.
    Raises :class:`HTTPRefusal` (400) for a path that cannot be read, and NotFound for another path.

    >>> def read(path):
    ...     return read_name({"PATH_INFO": unquote(path), "REQUEST_URI": path, "QUERY_STRING": ""}, "/names/")
    >>> read("/names/ark:12345/a%2Fb/history")
    Addressed(name='ark:12345/a%2Fb', operation='history')
    >>> read("/names/ark%3A12345%2Fa%2Fhistory")
    Addressed(name='ark:12345/a/history', operation=None)
    """
    target = _target(environ, base)
    below = target.path[len(base) :]
    first, _, last = below.partition("/")
    if ":" in first:
        name, _, last = below.rpartition("/")
        found = Addressed(name, last) if last in OPERATIONS else Addressed(below, None)
    elif last and last not in OPERATIONS:
        raise NotFound
    else:
        found = Addressed(_decode(first), last or None)
    _require_exact(target, found.name)
    return found


def require_assignable(name: str, rules: NamingRules = NO_RULES) -> None:
    """Raise :class:`HTTPRefusal` (400, with the code of the reason) for a text that cannot be bound as a name."""
    try:
        naming.assignable(name, rules)
    except BindingError as error:
        raise HTTPRefusal(
            400, error.code, f"The name in the path is refused: {error.message}.{error.question}"
        ) from None


def read_prefix(environ: Mapping[str, Any], base: str, rules: NamingRules = NO_RULES) -> str:
    """Return the NAAN or shoulder in the path of a request below ``base`` in its stored form. Raises
    :class:`HTTPRefusal` (400) for a prefix that cannot be read, and NotFound for another path.
    """
    target = _target(environ, base)
    found = _decode(target.path[len(base) :])
    _require_exact(target, found)
    try:
        return prefixes.check_prefix(found, rules)
    except BindingError as error:
        raise HTTPRefusal(400, error.code, f"The prefix in the path is refused: {error.message}.") from None


def _target(environ: Mapping[str, Any], base: str) -> Target:
    target = request_target.recover(environ)
    if not target.path.startswith(base) or len(target.path) == len(base):
        raise NotFound
    if target.query is not None:
        raise HTTPRefusal(400, "query", "This URL has no query. Write a question mark in a name as %3F.")
    if target.dotted:
        sentence = "The path has a segment of dots, which clients and proxies remove. No name has one."
        raise HTTPRefusal(400, "dot-segment", sentence)
    return target


def _require_exact(target: Target, name: str) -> None:
    """Refuse a name that is too long, and one that the server can have decoded to another one."""
    if len(name) > MAX_NAME:
        raise HTTPRefusal(400, "name-too-long", "The name in the path is too long. A name has at most 255 characters.")
    if not target.exact and not _UNAMBIGUOUS.fullmatch(name):
        sentence = (
            "This server does not report the path as the client sent it, so %2F and / cannot be distinguished. "
            "Use a server of the list in docs/request-targets.md, or send the name in the body of POST /api/v1/names."
        )
        raise HTTPRefusal(400, "path-inexact", sentence)


def _decode(text: str) -> str:
    if ":" in text.partition("/")[0]:
        return text
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        sentence = f"{display.escape(text[:100])} is not percent-encoded UTF-8."
        raise HTTPRefusal(400, "not-utf-8", sentence) from None
