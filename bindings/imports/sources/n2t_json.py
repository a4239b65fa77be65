"""Read names of N2T as JSON: a map from identifiers to objects, or objects with the member ``id`` or ``identifier``.
Members are ``target``, ``created``, ``updated``, ``status``, elements such as ``erc.who``, an object ``erc``, and the
names of binders, such as ``_t`` (:mod:`.noid.elements`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from . import json_items
from .noid import elements as binder_elements
from .record import DumpRecord

_IDENTIFIERS = ("id", "identifier", "_id")
_RENAMED = {"target": "_t", "status": "_s", "owner": "_o"}
_GROUPS = ("erc", "dc", "datacite")


def records(stream: BinaryIO, file: str) -> Iterator[DumpRecord]:
    """Yield each name of a JSON dump of N2T. ``file`` is its name in messages. Raises :class:`TableError` if it is not
    valid.
    """
    for item in json_items.read(stream, file, keyed=True):
        members = dict(item.value)
        identifier = item.key or next(
            (json_items.as_text(members.pop(name)) for name in _IDENTIFIERS if name in members), ""
        )
        elements: list[tuple[str, str]] = []
        for name, value in members.items():
            if name in _GROUPS and isinstance(value, dict):
                elements += ((f"{name}.{part}", json_items.as_text(member)) for part, member in value.items())
            else:
                elements.append((_RENAMED.get(name, name), json_items.as_text(value)))
        yield binder_elements.record(item.line, identifier, elements)
