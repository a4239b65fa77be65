"""Read the official files of the registries of NAANs, URN namespaces and URI schemes, in all their forms. They are
untrusted: size is limited, a document type is refused, hidden characters and persons are dropped. Each error contains
the file and, if known, line and column.
"""

from __future__ import annotations

import re

from . import iana_files, naan_files, source
from .source import RegistryFile
from .tables import AnyTable, RegistryError

LARGEST = 32 * 1024 * 1024
"""The maximum size in bytes: about twenty times the largest registry."""


def read(octets: bytes, *, name: str, date: str | None = None) -> list[AnyTable]:
    """Parse an official file of the registries of NAANs, URN namespaces or URI schemes, and return the tables in it.

    The file is JSON or text of the NAAN registry, or XML of IANA, of at most :data:`LARGEST` bytes. ``name`` is for
    errors. ``date`` (YYYY-MM-DD) is for a file that does not contain its date. Raises
    :class:`~ararat.identifiers.registries.tables.RegistryError` if it has no valid table, and ValueError for an invalid
    ``date``.

    >>> [table] = read(b"erc:\\nwhen: 2020.01.29\\n\\nnaa:\\nwho: The Museum\\nwhat: 10101\\n", name="naan.txt")
    >>> table.registry.name, table.records["10101"].name
    ('naan', 'The Museum')
    """
    if len(octets) > LARGEST:
        raise RegistryError(f"the file is larger than {LARGEST:,} bytes", name)
    try:
        text = octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = octets[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise RegistryError("this byte is not UTF-8", name, line, column) from None
    file = RegistryFile(name, text, source.day(date) if date else None)
    start = text.lstrip()[:1]
    if start == "{":
        return [*naan_files.read_json(file)]
    if start == "<":
        return [iana_files.read_xml(file)]
    if re.search(r"^(?:erc|naa):", text, re.MULTILINE):
        return [naan_files.read_anvl(file)]
    expected = "the NAAN registry as JSON or text, or a registry of IANA as XML"
    raise file.error(f"the file is not in an official form of a registry; expected {expected}", 1, 1)
