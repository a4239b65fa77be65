"""Look up NAANs, shoulders, URN namespaces and URI schemes in registry tables, without a network. The tables are in
folders: those that :func:`use` sets, and that of the package. A table is read at its first lookup.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from . import tables, target_templates
from .tables import (
    NAANS,
    NAMESPACES,
    SCHEMES,
    SHOULDERS,
    Authority,
    Record,
    RegisteredNamespace,
    Registry,
    RegistryError,
    Scheme,
    Table,
)

BUNDLED = resources.files(__spec__.parent.rpartition(".")[0]) / "data"
"""The folder of the tables that ship with the package."""


class Registries:
    """The registry tables in a list of folders. The first folder with a table takes precedence, and the last must have
    all. A table that cannot be read is skipped, so that lookups never fail. ``passed_over`` contains the errors.
    """

    def __init__(self, *folders: Traversable) -> None:
        self.folders = folders
        self.passed_over: list[RegistryError] = []
        self._tables: dict[str, Table[Any]] = {}

    def table(self, registry: Registry[Record]) -> Table[Record]:
        """Return the table of a registry, from the first folder with a valid one. It is read at the first call. Raises
        :class:`~.tables.RegistryError` without a valid table.
        """
        table = self._tables.get(registry.name)
        if table is None:
            # Two threads can both read it, with the same result.
            table = self._tables[registry.name] = self._read(registry)
        return table

    @functools.cached_property
    def longest_shoulder(self) -> int:
        """The number of characters of the longest registered shoulder (beginning of names), without its NAAN."""
        return max((len(key.partition("/")[2]) for key in self.table(SHOULDERS).records), default=0)

    @functools.cached_property
    def shoulders(self) -> Mapping[str, tuple[Authority, ...]]:
        """The records of the registered shoulders (beginnings of names) by NAAN, in the order of their keys. A NAAN
        without one is missing.
        """
        by_naan: dict[str, list[Authority]] = {}
        for key, record in self.table(SHOULDERS).records.items():
            by_naan.setdefault(key.partition("/")[0], []).append(record)
        return {naan: tuple(records) for naan, records in by_naan.items()}

    def shoulder(self, path: str) -> Authority | None:
        """Return the record of the longest registered shoulder that ``path`` starts with, or None. The path is NAAN,
        slash and Name, without hyphens.
        """
        records = self.table(SHOULDERS).records
        start = path.find("/") + 1
        for end in range(min(start + self.longest_shoulder, len(path)), start, -1):
            if record := records.get(path[:end]):
                return record
        return None

    def _read(self, registry: Registry[Record]) -> Table[Record]:
        for folder in self.folders:
            file = folder / registry.file
            try:
                return tables.read(file.read_text("utf-8"), registry, file=str(file))
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                self.passed_over.append(RegistryError(f"this table cannot be read: {error}", str(file)))
            except RegistryError as error:
                self.passed_over.append(error)
        raise RegistryError("no folder has this table", registry.file)


_current = Registries(BUNDLED)


def use(*folders: Traversable) -> None:
    """Set the folders in which this process looks up registry tables before that of the package. Without a folder, only
    that of the package is used. Call it at the start of a program. A missing folder is not an error.
    """
    global _current
    _current = Registries(*folders, BUNDLED)


def current() -> Registries:
    """Return the tables that all lookups of this process use. :func:`use` replaces them."""
    return _current


def authority(naan: str) -> Authority | None:
    """Return the organization that holds a NAAN in normal form (without hyphens and percent-encoding), or None if it is
    not registered (ARK-013).

    >>> authority("12148").name, authority("bbbbb")
    ('National Library of France', None)
    """
    return _current.table(NAANS).records.get(naan)


def namespace(nid: str) -> RegisteredNamespace | None:
    """Return the record of a URN namespace in the registry of IANA, or None. Its identifier can be in any case.
    :mod:`ararat.identifiers.namespaces` has the rules of namespaces.

    >>> namespace("ISBN").kind, namespace("no-such-nid")
    ('formal', None)
    """
    return _current.table(NAMESPACES).records.get(nid.lower())


def scheme(name: str) -> Scheme | None:
    """Return the record of a URI scheme, in any case and without its colon, in the registry of IANA, or None.

    >>> scheme("DOI").status, scheme("no-such-scheme")
    ('permanent', None)
    """
    return _current.table(SCHEMES).records.get(name.lower())


class Disagreement(NamedTuple):
    """A difference between a setting of the site and the registry of NAANs. ``field`` is "naan", "prefix" or "name",
    ``here`` the setting, and ``registered`` the value in the registry or None.
    """

    field: str
    here: str | None
    registered: str | None


def disagreements(naan: str, prefixes: Sequence[str], *, name: str | None = None) -> Iterator[Disagreement]:
    """Yield the differences between the settings of a site and the record of its NAAN in the registry (ARK-022).
    Without the ``name`` of the organization, it is not compared.

    >>> list(disagreements("12148", ["https://ark.bnf.fr/", "https://gallica.bnf.fr"]))
    [Disagreement(field='prefix', here='https://gallica.bnf.fr', registered='https://ark.bnf.fr')]
    """
    holder = authority(naan)
    if holder is None:
        yield Disagreement("naan", naan, None)
        return
    registered = target_templates.read(holder.template).prefix if holder.template else None
    for prefix in prefixes:
        if prefix.removesuffix("/") != registered:
            yield Disagreement("prefix", prefix, registered)
    if name is not None and name not in (holder.name, holder.native_name, holder.acronym):
        yield Disagreement("name", name, holder.name)
