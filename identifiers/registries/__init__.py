"""What the registries know: who holds a NAAN and where its ARKs are sent, which URN namespace and scheme there is.

Tables of facts ship with the package (``data/*.jsonl``); whoever has newer ones, made by ``ararat registry update``,
names their folder once, in :func:`use`. A table is read at its first lookup, and every lookup after that is the hit of
a dictionary. Nobody is asked: an answer says of which day it is, and what was registered since is not in it.

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
    "NR": "A name is never given to another thing.",
    "OP": "Names tell nothing of what they name.",
    "CC": "Names have a check character.",
    # What these stand for is said nowhere; so the letters read.
    "LC": "Letters in names are lower case.",
    "UC": "Letters in names are upper case.",
    "MC": "Letters in names are of either case.",
}
"""What a holder says of its names, by code (NAAN registry, ``how``)."""

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
    """The registries as the tables in some folders say, the first folder that has one before the others.

    A folder is anything that is read like one: a ``pathlib.Path``, or what ``importlib.resources`` gives. A table that
    cannot be read is passed over, for lookups never fail; ``passed_over`` has the errors, for who can tell somebody.
    The last folder has to have all tables.
    """

    def __init__(self, *folders: Traversable) -> None:
        self.folders = folders
        self.passed_over: list[RegistryError] = []
        self._tables: dict[str, Table[Any]] = {}

    def table(self, registry: Registry[Record]) -> Table[Record]:
        """The table of a registry, read on first use. Raises RegistryError where no folder has one."""
        found = self._tables.get(registry.name)
        if found is None:
            # Two threads may both read it; they read the same.
            found = self._tables[registry.name] = self._read(registry)
        return found

    @functools.cached_property
    def longest_shoulder(self) -> int:
        """Characters of the longest shoulder there is, without its NAAN."""
        return max((len(key.partition("/")[2]) for key in self.table(SHOULDERS).records), default=0)

    @functools.cached_property
    def shoulders(self) -> Mapping[str, tuple[Authority, ...]]:
        """The shoulders there are, by NAAN, in the order of the table."""
        found: dict[str, list[Authority]] = {}
        for key, record in self.table(SHOULDERS).records.items():
            found.setdefault(key.partition("/")[0], []).append(record)
        return {naan: tuple(records) for naan, records in found.items()}

    def shoulder(self, path: str) -> Authority | None:
        """The longest shoulder that ``path`` (NAAN, slash, Name without hyphens) begins with, or None."""
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
    """Look into the tables of these folders, in their order, before those of the package; of none: the package's alone.

    For the whole process, from now on: the composition of a program calls it once, at its start. A folder that does not
    exist is no error: it may be there tomorrow, at the next start.
    """
    global _current
    _current = Registries(*folders, BUNDLED)


def current() -> Registries:
    """The registries that every lookup goes to."""
    return _current


def authority(naan: str) -> Authority | None:
    """Who holds a NAAN (in normal form), or None where the registry does not have it: at most one (ARK-013).

    >>> authority("bbbbb") is None
    True
    """
    return _current.table(NAANS).records.get(naan)


def namespace(nid: str) -> Namespace | None:
    """The URN namespace with this identifier, in either case, or None where it is not registered."""
    return _current.table(NAMESPACES).records.get(nid.lower())


def scheme(name: str) -> Scheme | None:
    """The URI scheme of this name, in either case, or None where it is not registered."""
    return _current.table(SCHEMES).records.get(name.lower())


# Answers for a report -------------------------------------------------------------------------------------------------


def of_ark(ark: Ark) -> dict[str, Any]:
    """What the NAAN registry knows of an ARK: holder, shoulder, and the address its resolver would be sent to.

    ``registry`` is "naan", ``key`` the NAAN in normal form, ``registered`` whether it is in the snapshot. ``holder``
    has name, native_name, acronym, since, where, organization, policy (a sentence by code) and policy_url; ``shoulder``
    has the shoulder and the first five of these, where one matches. ``resolver`` has the template that counts, the
    status, the address that it gives for this ARK, or None, and problems that say why not. ``explanation`` is a
    sentence on a NAAN that is not like others. All values are those of JSON.

    >>> from ararat.identifiers.ark import model as ark
    >>> of_ark(ark.parse("ark:12148/bpt6-k1"))["resolver"]["address"]
    'https://ark.bnf.fr/ark:/12148/bpt6k1'
    """
    key = ark.basic[4:].partition("/")[0]
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
    """What the NAAN registry knows of a NAAN (in normal form), whatever the ARK: holder, resolver, shoulders.

    As :func:`of_ark` has it, but that ``resolver`` has the resolver prefix that the template announces (or None) in
    place of an address, and ``shoulders`` all that are registered below the NAAN, each with a resolver of its own.

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
    """What IANA's registry knows of a URN's namespace: ``kind`` ("formal" or "informal"), references, dates.

    >>> from ararat.identifiers.urn import model as urn
    >>> known = of_urn(urn.parse("urn:ISBN:0451450523"))
    >>> known["key"], known["kind"], known["references"][0]["url"]
    ('isbn', 'formal', 'https://www.isbn-international.org')
    """
    return of_namespace(urn.nid)


def of_namespace(nid: str) -> dict[str, Any]:
    """What IANA's registry knows of a namespace identifier, in either case: the same as of a URN in it.

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
    """What IANA's registry knows of the scheme that ``text`` begins with, or None where it begins with none.

    >>> known = of_scheme("doi:10.1000/182")
    >>> known["key"], known["status"], known["registered"], of_scheme("no scheme")
    ('doi', 'permanent', True, None)
    """
    written = _SCHEME.match(text)
    if written is None or len(written[1]) > _LONGEST_SCHEME:
        return None
    return of_scheme_name(written[1])


def of_scheme_name(name: str) -> dict[str, Any]:
    """What IANA's registry knows of a scheme by its name, in either case: the same as of a text that begins with it.

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
    """What a site says of itself and the registry does not say, or says otherwise; None is nothing at all."""

    field: str
    here: str | None
    registered: str | None


def disagreements(naan: str, prefixes: Sequence[str], *, name: str | None = None) -> Iterator[Disagreement]:
    """Where the resolver prefixes of a site, and the name of who runs it, are not what the registry has (ARK-022).

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
    """A reference as text and, where there is one, address.

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


def explanations() -> tuple[str, ...]:
    """Everything that is explained of reserved entries, in the order of the registries.

    >>> explanations()[0][:16]
    'The example NAAN'
    """
    return tuple(entry["text"] for entries in _explanations().values() for entry in entries.values())


def _explanation(registry: Registry[Any], key: str) -> Mapping[str, Any]:
    return _explanations()[registry.name].get(key, {})


@functools.cache
def _explanations() -> dict[str, dict[str, dict[str, Any]]]:
    return json.loads((BUNDLED / "explanations.json").read_text("utf-8"))
