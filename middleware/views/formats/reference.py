"""The bibliographic reference of a name: the values that the citation formats share, from its recorded metadata. Each
part comes from the first source that has it: ERC, Dublin Core, single elements of DataCite, the DataCite record, the
schema.org object. A value that only has a code, such as ``(:unav)``, counts as missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from ....bindings.names.binding import NOTHING
from ....bindings.names.errors import BindingError
from ....bindings.names.metadata import datacite_and_schema_checks
from ....bindings.names.naming import is_test
from ....bindings.names.targets import location
from ..messages import TEST
from . import datacite_document
from .resource_types import ResourceType, resource_type

UNKNOWN = "(:unav)"
"""The code for a value that is not recorded (DataCite Metadata Schema 4.5, appendix 3)."""

SOURCES: Mapping[str, tuple[str, ...]] = {
    "title": ("erc.what", "dc.title", "dcterms.title", "datacite.title"),
    "creator": ("erc.who", "dc.creator", "dcterms.creator", "datacite.creator"),
    "date": ("erc.when", "dc.date", "dcterms.issued", "dcterms.date", "datacite.publicationyear"),
    "publisher": ("dc.publisher", "dcterms.publisher", "datacite.publisher"),
    "type": ("dc.type", "dcterms.type", "datacite.resourcetype"),
    "licence": ("dcterms.license", "dc.rights", "dcterms.rights"),
    "access": ("dcterms.accessRights",),
    "format": ("dc.format", "dcterms.format"),
    "language": ("dc.language", "dcterms.language"),
    "description": ("dc.description", "dcterms.description", "dcterms.abstract"),
    "subject": ("dc.subject", "dcterms.subject"),
}
"""The metadata elements that can have each part of a reference, the first preferred."""

_IN_DATACITE = {"date": "publicationyear", "type": "resourcetype", "licence": "rights"}
_IN_SCHEMA = {
    "title": "name",
    "creator": "author",
    "date": "datePublished",
    "publisher": "publisher",
    "type": "@type",
    "licence": "license",
    "access": "conditionsOfAccess",
    "format": "encodingFormat",
    "language": "inLanguage",
    "description": "description",
    "subject": "keywords",
}

RELATIONS: Mapping[str, tuple[str, str]] = {
    "dcterms.relation": ("References", "citation"),
    "dc.relation": ("References", "citation"),
    "dcterms.references": ("References", "citation"),
    "dcterms.isReferencedBy": ("IsReferencedBy", "subjectOf"),
    "dcterms.isPartOf": ("IsPartOf", "isPartOf"),
    "dcterms.hasPart": ("HasPart", "hasPart"),
    "dcterms.source": ("IsDerivedFrom", "isBasedOn"),
    "dc.source": ("IsDerivedFrom", "isBasedOn"),
}
"""The elements that name related things, each with its relation in DataCite and its member in schema.org."""

# Several values of an element are separated by semicolons (Dublin Core Kernel Metadata, section 4; EZID), or by lines.
_SEVERAL = frozenset({"creator", "subject"})
_SEPARATORS = re.compile("[;\r\n]")
_CODE = re.compile(r"\A\(:[a-z]+\)\s*")
_DATE = re.compile(r"([0-9]{4})(?:[-.]?([0-9]{2})(?:[-.]?([0-9]{2}))?)?(?![0-9])")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
# An era of several languages, or the sign of ISO 8601: no format has a field for a year before Christ.
_BEFORE_CHRIST = re.compile(
    r"\A[-\u2212][0-9]"
    r"|\b(?:B\.? ?C\.?(?: ?E\.?)?|v\. ?(?:Chr|u\. ?Z|C)\.|a\. ?C\.|av\. J\.?-?C\.?|p\. ?n\. ?e\.)(?!\w)",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:[T ][0-9:.,Z+-]*)?")
_ORCID = re.compile(r"[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")
_MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9.+-]+")
_SURROGATES = re.compile("[\ud800-\udfff]")

_MAX_ADDRESS = 1000
"""The maximum length of the URL of a licence or creator."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """The bibliographic reference of a name, or of a NAAN or shoulder. A part that is not known is None or empty.

    - ``address``: the URL of the name at this resolver. ``target``: the URL of the resource.
    - ``withdrawal``, ``hold``: sentences that it is withdrawn or on hold, with the reason.
    - ``issued``: the parts of the date: year, or year and month, or year, month and day.
    - ``access``: who can use the resource, such as "open access". ``format``: the format of its file.
    - ``relations``: related things, each with its metadata element. ``licence``, ``authors``: URLs.
    - ``statements``: the persistence statements, by short names. ``policy``: the address of the policy.
    - ``documents``: the recorded DataCite record and schema.org object, by the names of their metadata elements.
    - ``numbers``: the public numbers of the thing, the current one first.
    """

    identifier: str
    address: str
    target: str | None
    withdrawal: str | None
    hold: str | None
    title: str | None
    creators: tuple[str, ...]
    publisher: str | None
    date: str | None
    issued: tuple[int, ...]
    type: ResourceType | None
    licence: str | None
    access: str | None
    format: str | None
    relations: tuple[tuple[str, str], ...]
    language: str | None
    description: str | None
    subjects: tuple[str, ...]
    authors: tuple[str, ...]
    statements: Mapping[str, str]
    policy: str | None
    documents: Mapping[str, str]
    numbers: tuple[str, ...]

    @property
    def is_test(self) -> bool:
        """Whether the name of the reference is only for tests."""
        return is_test(self.identifier)

    @property
    def note(self) -> str | None:
        """The sentence that the name is only for tests, withdrawn or on hold. It is None for another name."""
        return " ".join(filter(None, (TEST if self.is_test else None, self.withdrawal, self.hold))) or None

    @property
    def status(self) -> str | None:
        """The status of the name: "withdrawn", "on hold" or "test". It is None for another name."""
        return "withdrawn" if self.withdrawal else "on hold" if self.hold else "test" if self.is_test else None

    @property
    def year(self) -> str | None:
        """The year of the publication date in four digits, or None."""
        return f"{self.issued[0]:04}" if self.issued else None

    @property
    def media_type(self) -> str | None:
        """The media type of the file, or None if its format is not one, such as "photograph"."""
        return self.format if self.format and _MEDIA_TYPE.fullmatch(self.format) else None

    @property
    def written_date(self) -> str | None:
        """The date as a person wrote it, such as "ca. 1890-1895", or None for a date that :attr:`issued` has whole."""
        if self.date is None:
            return None
        match = _DATE.match(self.date)
        is_whole = (
            match and _TIME.fullmatch(self.date, match.end()) and len(self.issued) == sum(map(bool, match.groups()))
        )
        return None if is_whole and self.issued else self.date

    @property
    def scheme(self) -> str:
        """The scheme of the identifier in capitals: "ARK" or "URN"."""
        return self.identifier.partition(":")[0].upper()


def reference(
    identifier: str,
    address: str,
    recorded: Mapping[str, str],
    *,
    target: str | None = None,
    withdrawal: str | None = None,
    hold: str | None = None,
    statements: Mapping[str, str] = NOTHING,
    policy: str | None = None,
    numbers: tuple[str, ...] = (),
) -> Reference:
    """Create the reference of a name from its recorded metadata and inherited ``statements``, which have full names
    (``erc.who``). ``withdrawal`` and ``hold`` are sentences that it is withdrawn or on hold, with the reason, or None.

    >>> atlas = reference("ark:12345/x", "", {"erc.who": "Noah; Sem", "dc.title": "The Ark", "erc.when": "20261123"})
    >>> atlas.creators, atlas.title, atlas.issued
    (('Noah', 'Sem'), 'The Ark', (2026, 11, 23))
    """
    values = _Values(recorded)
    when = values.first("date")
    return Reference(
        identifier=identifier,
        address=address,
        target=target,
        withdrawal=withdrawal,
        hold=hold,
        title=values.first("title"),
        creators=values.every("creator"),
        publisher=values.first("publisher"),
        date=when,
        issued=date_parts(when or ""),
        type=resource_type(values.first("type")),
        licence=next(filter(None, map(web_address, values.every("licence"))), None),
        access=values.first("access"),
        format=values.first("format"),
        relations=values.relations(),
        language=values.first("language"),
        description=values.first("description"),
        subjects=values.every("subject"),
        authors=values.authors(),
        statements=_statements({**statements, **recorded}),
        policy=policy,
        documents={name: recorded[name] for name in datacite_and_schema_checks.CHECKS if name in recorded},
        numbers=numbers,
    )


def _statements(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the persistence statements among metadata with full names, by their short names."""
    statements = {element: metadata.get(f"erc.{element}") for element in ("persistence", "availability", "variance")}
    return {element: text for element, text in statements.items() if text is not None}


class _Values:
    """The values of one name, by the part of the reference."""

    def __init__(self, recorded: Mapping[str, str]) -> None:
        self._recorded = recorded
        self._datacite = datacite_document.elements(recorded["datacite"]) if "datacite" in recorded else {}
        self._schema = schema_object(recorded.get("schema"))

    def first(self, part: str) -> str | None:
        return next(iter(self.every(part)), None)

    def every(self, part: str) -> tuple[str, ...]:
        """Return the values of the first source that has one."""
        return next((texts for values in self._sources(part) if (texts := tuple(_known(part, values)))), ())

    def authors(self) -> tuple[str, ...]:
        """Return the URLs of the creators."""
        numbers = self._datacite.get("creator_identifier", [])
        schema = [author.get("@id") for author in _as_list(self._schema.get("author")) if isinstance(author, dict)]
        texts = [*self.every("creator"), *numbers, *(text for text in schema if isinstance(text, str))]
        urls = (web_address(f"https://orcid.org/{text}" if _ORCID.fullmatch(text) else text) for text in texts)
        return tuple(dict.fromkeys(filter(None, urls)))

    def relations(self) -> tuple[tuple[str, str], ...]:
        """Return the related things, each with its metadata element. A thing in two elements occurs once."""
        found: dict[str, str] = {}
        for element in RELATIONS:
            for piece in _SEPARATORS.split(self._recorded.get(element, "")):
                if value := without_code(piece):
                    found.setdefault(value, element)
        return tuple((element, value) for value, element in found.items())

    def _sources(self, part: str) -> Iterator[list[str]]:
        for element in SOURCES[part]:
            if element in self._recorded:
                yield [self._recorded[element]]
        yield self._datacite.get(_IN_DATACITE.get(part, part), [])
        yield list(_texts(self._schema.get(_IN_SCHEMA[part])))


def _known(part: str, values: list[str]) -> Iterator[str]:
    for text in values:
        for piece in _SEPARATORS.split(text) if part in _SEVERAL else [text]:
            if value := without_code(piece):
                yield value


def without_code(text: str) -> str:
    """Return a metadata value without the code at its beginning, such as ``(:unkn)``, and without surrogates.

    >>> without_code("(:unav)"), without_code("(:tba) in 2030"), without_code("A map of (:x) places")
    ('', 'in 2030', 'A map of (:x) places')
    """
    return _SURROGATES.sub("\ufffd", _CODE.sub("", text.strip())).strip()


def schema_object(text: str | None) -> dict[str, Any]:
    """Parse the recorded schema.org object of a name. The result is {} without one, or if it is not a JSON object."""
    try:
        datacite_and_schema_checks.check_schema(text or "{}")
    except BindingError:
        return {}
    return json.loads(text or "{}")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value of a JSON-LD object: texts, and the names or addresses of objects."""
    for each in _as_list(value):
        text = each.get("name", each.get("@id")) if isinstance(each, dict) else each
        if isinstance(text, str):
            yield text


def date_parts(text: str) -> tuple[int, ...]:
    """Parse the year, month and day at the beginning of ``text``, or else the first year of four digits in it. Parts
    that are not a date are left out.

    >>> date_parts("2026-11-23T10:00:00Z"), date_parts("2026.13"), date_parts("19 BC"), date_parts("1999/2002")
    ((2026, 11, 23), (2026,), (), (1999,))
    >>> date_parts("ca. 1890-1895"), date_parts("Room 12345, 1901"), date_parts("1200 v. Chr."), date_parts("-1200")
    ((1890,), (1901,), (), ())
    """
    if _BEFORE_CHRIST.search(text):
        return ()
    match = _DATE.match(text)
    if match is None or match[1] == "0000":
        years = (found[0] for found in _YEAR.finditer(text))
        return next(((int(year),) for year in years if year != "0000"), ())
    year, month, day = (int(part or 0) for part in match.groups())
    if not 1 <= month <= 12:
        return (year,)
    try:
        date(year, month, day)
    except ValueError:
        return year, month
    return year, month, day


def web_address(text: str) -> str | None:
    """Return ``text`` if it is an http(s) URL that an HTTP header field can contain, otherwise None.

    >>> web_address("https://example.org/a"), web_address("/a"), web_address("javascript:alert(1)")
    ('https://example.org/a', None, None)
    """
    if not text.startswith(("https://", "http://")) or len(text) > _MAX_ADDRESS:
        return None
    try:
        return location(text)
    except BindingError:
        return None
