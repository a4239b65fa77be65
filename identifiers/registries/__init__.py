"""Look up NAANs, shoulders, URN namespaces and URI schemes in registry tables, without a network.

The package contains tables (``data/*.jsonl``). ``ararat registry update`` makes newer ones; :func:`use` sets their
folder. A table is read at its first lookup. Each answer contains the date of its table.

>>> authority("12148").name
'National Library of France'
>>> namespace("ISBN").kind, scheme("DOI").status
('formal', 'permanent')
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from ..ark import embedded
from ..ark.model import Ark
from ..urn.model import Urn
from . import tables, target_templates
from .tables import (
    NAANS,
    NAMESPACES,
    SCHEMES,
    SHOULDERS,
    Authority,
    Namespace,
    Record,
    Registry,
    RegistryError,
    Scheme,
    Snapshot,
    Table,
)
from .target_templates import Asked

BUNDLED = resources.files(__spec__.parent.rpartition(".")[0]) / "data"
"""The folder of the tables that ship with the package."""

POLICIES = {
    "NR": "A name is never reassigned to another thing.",
    "OP": "Names are opaque.",
    "CC": "Names have a check character.",
    # The registry does not define these codes. The meanings are guessed from the letters.
    "LC": "Letters in names are lower case.",
    "UC": "Letters in names are upper case.",
    "MC": "Letters in names are of either case.",
}
"""The promises of a holder about its names, by code (NAAN registry, ``how``)."""

HAS_CHECK_CHARACTER = "CC"
"""The code of :data:`POLICIES` for names with a check character."""

ORGANIZATIONS = {"NP": "non-profit", "FP": "for-profit"}

_LONGEST_SCHEME = 64
_SCHEME = re.compile(f"({embedded.SCHEME}):")
_ADDRESS = re.compile("https?://[!-~]+")
_NAMED = re.compile("(.*) <(https?://[!-~]+)>")
_DOCUMENTS = {
    "RFC Errata ": "https://www.rfc-editor.org/errata/eid",
    "RFC": "https://www.rfc-editor.org/rfc/rfc",
    "draft-": "https://datatracker.ietf.org/doc/draft-",
    "IANA registry ": "https://www.iana.org/assignments/",
}


class Registries:
    """The registry tables in a list of folders. The first folder that contains a table takes precedence.

    A folder is a ``pathlib.Path`` or a ``Traversable`` of ``importlib.resources``. The last folder must contain all
    tables. A table that cannot be read is skipped, so that lookups never fail; ``passed_over`` contains the errors.
    """

    def __init__(self, *folders: Traversable) -> None:
        self.folders = folders
        self.passed_over: list[RegistryError] = []
        self._tables: dict[str, Table[Any]] = {}

    def table(self, registry: Registry[Record]) -> Table[Record]:
        """Return the table of a registry, read on first use. Raises RegistryError if no folder contains it."""
        found = self._tables.get(registry.name)
        if found is None:
            # Two threads can both read it, with the same result.
            found = self._tables[registry.name] = self._read(registry)
        return found

    @functools.cached_property
    def longest_shoulder(self) -> int:
        """The number of characters of the longest shoulder, without its NAAN."""
        return max((len(key.partition("/")[2]) for key in self.table(SHOULDERS).records), default=0)

    @functools.cached_property
    def shoulders(self) -> Mapping[str, tuple[Authority, ...]]:
        """The shoulders by NAAN, in the order of the table."""
        found: dict[str, list[Authority]] = {}
        for key, record in self.table(SHOULDERS).records.items():
            found.setdefault(key.partition("/")[0], []).append(record)
        return {naan: tuple(records) for naan, records in found.items()}

    def shoulder(self, path: str) -> Authority | None:
        """Return the longest shoulder at the start of ``path`` (NAAN, slash, Name without hyphens), or None."""
        records = self.table(SHOULDERS).records
        start = path.find("/") + 1
        for end in range(min(start + self.longest_shoulder, len(path)), start, -1):
            if found := records.get(path[:end]):
                return found
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
    """Use the tables in these folders, in this order, before those of the package. Default: only the latter.

    This applies to the whole process. Call it once at the start of a program. A missing folder is not an error.
    """
    global _current
    _current = Registries(*folders, BUNDLED)


def current() -> Registries:
    """Return the registries that all lookups use."""
    return _current


def authority(naan: str) -> Authority | None:
    """Return the holder of a NAAN (in normal form), or None if it is not registered (ARK-013).

    >>> authority("bbbbb") is None
    True
    """
    return _current.table(NAANS).records.get(naan)


def namespace(nid: str) -> Namespace | None:
    """Return the URN namespace with this identifier, in any case, or None if it is not registered."""
    return _current.table(NAMESPACES).records.get(nid.lower())


def scheme(name: str) -> Scheme | None:
    """Return the URI scheme with this name, in any case, or None if it is not registered."""
    return _current.table(SCHEMES).records.get(name.lower())


# Answers for a report -------------------------------------------------------------------------------------------------


def of_ark(ark: Ark) -> dict[str, Any]:
    """Describe the registration of an ARK in JSON values.

    - ``registry``: "naan". ``key``: the NAAN in normal form. ``registered``: whether the table contains it.
    - ``holder``: name, native_name, acronym, since, where, organization, policy (a sentence by code) and policy_url.
    - ``shoulder``: the matching shoulder and the first five of these, or None.
    - ``resolver``: the template, the status, the address of this ARK or None, and the problems that prevent one.
    - ``explanation``: a sentence about a special NAAN, or None.

    >>> from ararat.identifiers.ark import model as ark
    >>> of_ark(ark.parse("ark:12148/bpt6-k1"))["resolver"]["address"]
    'https://ark.bnf.fr/ark:/12148/bpt6k1'
    """
    key = ark.normal_naan
    holder = authority(key)
    asked = Asked.of(ark)
    shoulder = _current.shoulder(asked.path) if holder else None
    explanation = _explanation(NAANS, key)
    return {
        **_answer(NAANS, key, holder is not None, explanation),
        "holder": holder and _holder(holder),
        "shoulder": shoulder and {"shoulder": shoulder.key.partition("/")[2], **_names(shoulder)},
        "resolver": _resolver(shoulder or holder, asked, resolved=explanation.get("resolved", True)),
    }


def of_naan(naan: str) -> dict[str, Any]:
    """Describe the registration of a NAAN (in normal form): holder, resolver and shoulders.

    The result is like that of :func:`of_ark`. But ``resolver`` contains the resolver prefix of the template (or None)
    instead of an address, and ``shoulders`` lists all registered shoulders of the NAAN, each with its resolver.

    >>> known = of_naan("99152")
    >>> known["registered"], known["shoulders"][0]["shoulder"], known["shoulders"][0]["resolver"]["prefix"]
    (True, 'b4', 'https://id.cci.drexel.edu')
    """
    holder = authority(naan)
    below = _current.shoulders.get(naan, ()) if holder else ()
    return {
        **_answer(NAANS, naan, holder is not None, _explanation(NAANS, naan)),
        "holder": holder and _holder(holder),
        "resolver": _announced(holder),
        "shoulders": [
            {"shoulder": each.key.partition("/")[2], **_names(each), "resolver": _announced(each)} for each in below
        ],
    }


def of_urn(urn: Urn) -> dict[str, Any]:
    """Describe the namespace of a URN: ``kind`` ("formal" or "informal"), references and dates.

    >>> from ararat.identifiers.urn import model as urn
    >>> known = of_urn(urn.parse("urn:ISBN:0451450523"))
    >>> known["key"], known["kind"], known["references"][0]["url"]
    ('isbn', 'formal', 'https://www.isbn-international.org')
    """
    return of_namespace(urn.nid)


def of_namespace(nid: str) -> dict[str, Any]:
    """Describe a URN namespace by its identifier, in any case, like :func:`of_urn`.

    >>> of_namespace("EXAMPLE")["explanation"]["reference"]
    'RFC 6963'
    """
    key = nid.lower()
    found = namespace(key)
    return {
        **_answer(NAMESPACES, key, found is not None, _explanation(NAMESPACES, key)),
        "kind": found and found.kind,
        **_registration(found),
    }


def of_scheme(text: str) -> dict[str, Any] | None:
    """Describe the URI scheme at the start of ``text``, or return None if there is none.

    >>> known = of_scheme("doi:10.1000/182")
    >>> known["key"], known["status"], known["registered"], of_scheme("no scheme")
    ('doi', 'permanent', True, None)
    """
    written = _SCHEME.match(text)
    if written is None or len(written[1]) > _LONGEST_SCHEME:
        return None
    return of_scheme_name(written[1])


def of_scheme_name(name: str) -> dict[str, Any]:
    """Describe a URI scheme by its name, in any case, like :func:`of_scheme`.

    >>> of_scheme_name("DOI")["since"]
    '2020-05-14'
    """
    key = name.lower()
    found = scheme(key)
    return {
        **_answer(SCHEMES, key, found is not None, _explanation(SCHEMES, key)),
        "name": found and (found.name or found.key),
        "status": found and found.status,
        "description": found and found.description,
        "notes": found and found.notes,
        **_registration(found),
    }


class Disagreement(NamedTuple):
    """A difference between a setting of the site and the registry. None means that there is no value."""

    field: str
    here: str | None
    registered: str | None


def disagreements(naan: str, prefixes: Sequence[str], *, name: str | None = None) -> Iterator[Disagreement]:
    """Compare the resolver prefixes and the name of a site with the NAAN registry (ARK-022).

    "Every NAA MUST contact the ARK Maintenance Agence when necessary to keep up to date the prefix of its authoritative
    resolver and in the same way SHOULD keep up to date the other information kept in the registry."

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


def _answer(registry: Registry[Any], key: str, registered: bool, explanation: Mapping[str, Any]) -> dict[str, Any]:
    snapshot: Snapshot = _current.table(registry).snapshot
    return {
        "registry": registry.name,
        "key": key,
        "registered": registered,
        "snapshot": snapshot.as_dict(),
        "explanation": {name: explanation[name] for name in ("text", "reference")} if explanation else None,
    }


def _names(holder: Authority) -> dict[str, Any]:
    return {name: getattr(holder, name) for name in ("name", "native_name", "acronym", "since", "where")}


def _holder(holder: Authority) -> dict[str, Any]:
    return {
        **_names(holder),
        "organization": ORGANIZATIONS.get(holder.organization or ""),
        "policy": {code: POLICIES.get(code) for code in holder.policy},
        "policy_url": holder.policy_url,
    }


def _resolver(matched: Authority | None, asked: Asked, *, resolved: bool) -> dict[str, Any] | None:
    if matched is None or matched.template is None:
        return None
    template = target_templates.read(matched.template)
    address, problems = template.expand(asked, matched.key.partition("/")[2])
    if not resolved:
        address, problems = None, ("reserved-naan",)
    return {
        "template": matched.template,
        "status": matched.status,
        "address": address,
        "problems": [{"code": code, "message": target_templates.FLAWS[code]} for code in problems],
    }


def _announced(holder: Authority | None) -> dict[str, Any] | None:
    if holder is None or holder.template is None:
        return None
    template = target_templates.read(holder.template)
    return {
        "template": holder.template,
        "status": holder.status,
        "prefix": template.prefix,
        "problems": [{"code": code, "message": target_templates.FLAWS[code]} for code in template.flaws],
    }


def _registration(found: Namespace | Scheme | None) -> dict[str, Any]:
    return {
        "references": [_reference(text) for text in found.references] if found else [],
        "template": found and found.template,
        "since": found and found.since,
        "updated": found and found.updated,
    }


def _reference(text: str) -> dict[str, str | None]:
    """Return a reference as text and, if known, URL.

    >>> _reference("RFC8141"), _reference("C2PA <https://c2pa.org/>")["url"]
    ({'text': 'RFC 8141', 'url': 'https://www.rfc-editor.org/rfc/rfc8141'}, 'https://c2pa.org/')
    """
    if named := _NAMED.fullmatch(text):
        return {"text": named[1], "url": named[2]}
    for start, address in _DOCUMENTS.items():
        if text.startswith(start):
            number = text.removeprefix(start)
            return {"text": f"RFC {number}" if start == "RFC" else text, "url": address + number}
    return {"text": text, "url": text if _ADDRESS.fullmatch(text) else None}


def _explanation(registry: Registry[Any], key: str) -> Mapping[str, Any]:
    return _explanations()[registry.name].get(key, {})


@functools.cache
def _explanations() -> dict[str, dict[str, dict[str, Any]]]:
    return json.loads((BUNDLED / "explanations.json").read_text("utf-8"))
