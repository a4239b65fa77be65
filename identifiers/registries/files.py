"""The official forms of registries: which one a file has, and the tables that are in it.

Files come from elsewhere and are believed in nothing: their size is bounded, an XML file with a document type is
refused, texts are stripped of what cannot be seen, and persons are left out. Every error names the file and, where
there is one, line and column.

Pure: octets in, :class:`~ararat.identifiers.registries.tables.Table` values out.
"""

from __future__ import annotations

import re

from . import iana_files, naan_files, source
from .source import RegistryFile
from .tables import AnyTable, RegistryError

LARGEST = 32 * 1024 * 1024
"""Octets of the largest file that is read: twenty times the largest registry there is."""


def read(octets: bytes, *, name: str, date: str | None = None) -> list[AnyTable]:
    """Read a registry file in any of its official forms: the tables in it, each of another registry.

    The forms: NAAN registry as JSON (version 1 or 2: NAANs and shoulders) and as text (ANVL: NAANs); IANA's registries
    of URN namespaces and of URI schemes as XML and as CSV. ``name`` is the file's, for errors; ``date`` the day of the
    snapshot as YYYY-MM-DD, which a CSV file cannot say.

    Raises :class:`~ararat.identifiers.registries.tables.RegistryError`, and nothing else, where no table can be made; a
    ValueError for a ``date`` that is none.

    >>> [table] = read(b"URN Namespace,Template,Reference\\nisbn,,[RFC8254]\\n", name="formal.csv", date="2026-08-13")
    >>> table.registry.name, table.records["isbn"].references
    ('urn-namespaces', ('RFC8254',))
    """
    if len(octets) > LARGEST:
        raise RegistryError(f"the file is larger than {LARGEST:,} octets", name)
    try:
        text = octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = octets[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise RegistryError("this octet is not UTF-8", name, line, column) from None
    file = RegistryFile(name, text, source.day(date) if date else None)
    start = text.lstrip()[:1]
    if start == "{":
        return [*naan_files.read_json(file)]
    if start == "<":
        return [iana_files.read_xml(file)]
    if iana_files.HEADER.match(text):
        return [iana_files.read_csv(file)]
    if re.search(r"^(?:erc|naa):", text, re.MULTILINE):
        return [naan_files.read_anvl(file)]
    expected = "the NAAN registry as JSON or text, or a registry of IANA's as XML or CSV"
    raise file.error(f"this is no official form of a registry; expected {expected}", 1, 1)
