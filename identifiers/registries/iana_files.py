"""Read the URN namespaces and URI schemes registries of IANA (XML). References to documents are kept, those to persons
are dropped. Source: RFC 8141, section 6; RFC 7595, section 3.8; SCH-001, SCH-002, SCH-005.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from xml.parsers import expat

from ..text import xml_text
from .source import RegistryFile, collect, day_of, text_of, visible
from .tables import NAMESPACES, SCHEMES, RegisteredNamespace, Scheme, Table, TableOrigin

STATUSES = ("permanent", "provisional", "historical")

_HOME = "https://www.iana.org/assignments"
_XML_NAMESPACE = "http://www.iana.org/assignments"
_MAX_DEPTH = 32
_MAX_ELEMENTS = 200_000

# RFC 8141, section 2:  NID = (alphanum) 0*30(ldh) (alphanum)
_NID = re.compile("[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]")
# RFC 3986, section 3.1:  scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{0,63})(?: \(OBSOLETE\))?")
_ADDRESS = re.compile("https?://[!-~]{1,500}")
_TEMPLATE = re.compile(r"[a-z]+/[A-Za-z0-9+.\-]+")
_RFC = re.compile(r"rfc ?([0-9]{1,5})\b.*", re.IGNORECASE)
_DRAFT = re.compile("(?:draft|RFC)-([a-z0-9-]{1,100})", re.IGNORECASE)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """An entry in an XML file of a registry of IANA, as written, at a line (from 1). ``template`` is the
    address of its registration, and ``references`` are documents. A text that the file does not contain is None.
    """

    line: int
    name: str | None
    references: tuple[str, ...]
    template: str | None = None
    kind: str | None = None
    status: str | None = None
    description: str | None = None
    notes: str | None = None
    since: str | None = None
    updated: str | None = None


def read_xml(file: RegistryFile) -> Table[RegisteredNamespace] | Table[Scheme]:
    """Read the table of URN namespaces or of URI schemes in an XML file of IANA. Raises RegistryError for a document
    type, a fault of the XML, another registry, and an invalid or repeated entry.
    """
    root = _tree(file)
    registries = {each.attributes.get("id"): each for each in root.children("registry")}
    updated = root.child("updated")
    day = _at(file, updated.line, day_of, updated.text) if updated else None
    formal, informal = registries.get("urn-namespaces-1"), registries.get("urn-namespaces-2")
    if formal or informal:
        entries = [*_from_xml(formal, "formal"), *_from_xml(informal, "informal")]
        return _namespaces(file, entries, file.snapshot(day, f"{_HOME}/urn-namespaces/urn-namespaces.xml"))
    if "uri-schemes-1" in registries:
        entries = _from_xml(registries["uri-schemes-1"], None)
        return _schemes(file, entries, file.snapshot(day, f"{_HOME}/uri-schemes/uri-schemes.xml"))
    raise file.error("expected the registry of URN namespaces or of URI schemes of IANA", root.line)


# From entries to records ----------------------------------------------------------------------------------------------


def _namespaces(
    file: RegistryFile, entries: Iterable[RegistryEntry], snapshot: TableOrigin
) -> Table[RegisteredNamespace]:
    records = ((entry.line, _at(file, entry.line, _namespace, entry)) for entry in entries)
    return Table.of(NAMESPACES, snapshot, collect(file, records, _line))


def _schemes(file: RegistryFile, entries: Iterable[RegistryEntry], snapshot: TableOrigin) -> Table[Scheme]:
    records = ((entry.line, _at(file, entry.line, _scheme, entry)) for entry in entries)
    return Table.of(SCHEMES, snapshot, collect(file, records, _line))


def _namespace(entry: RegistryEntry) -> RegisteredNamespace:
    name = text_of(entry.name) or ""
    if not _NID.fullmatch(name):
        raise ValueError(f"{name!r} is not a namespace identifier")
    return RegisteredNamespace(
        key=name.lower(),
        kind=entry.kind or "formal",
        references=entry.references,
        template=_template(entry.template, "urn-namespaces"),
        since=day_of(entry.since),
        updated=day_of(entry.updated),
    )


def _scheme(entry: RegistryEntry) -> Scheme:
    name = text_of(entry.name) or ""
    match = _SCHEME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a scheme name")
    status = (text_of(entry.status) or "").lower()
    if status not in STATUSES:
        raise ValueError(f"{status!r} is not a status; expected one of {', '.join(STATUSES)}")
    key = match[1].lower()
    return Scheme(
        key=key,
        status=status,
        description=text_of(entry.description),
        references=entry.references,
        template=_template(entry.template, "uri-schemes"),
        since=day_of(entry.since),
        updated=day_of(entry.updated),
        name=None if name == key else name,
        notes=text_of(entry.notes),
    )


def _template(written: str | None, registry: str) -> str | None:
    """Return the URL of a registration template. For a scheme the file has a path below the registry."""
    text = text_of(written) or ""
    if _TEMPLATE.fullmatch(text):
        return f"{_HOME}/{registry}/{text}"
    return text if _ADDRESS.fullmatch(text) else None


def _at(file: RegistryFile, line: int, read: Callable[[Any], Result], value: object) -> Result:
    try:
        return read(value)
    except ValueError as error:
        raise file.error(str(error), line) from None


def _line(line: int) -> tuple[int, None]:
    return line, None


def _document(text: str) -> str | None:
    """Return the normal form of a reference to a document, or None for another text, such as a person's name."""
    if rfc := _RFC.fullmatch(text):
        return f"RFC{rfc[1]}"
    if draft := _DRAFT.fullmatch(text):
        return f"draft-{draft[1]}"
    return text if _ADDRESS.fullmatch(text) else None


# XML ------------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class XMLElement:
    """An XML element, at a line (from 1). ``content`` has its texts and child elements in the order of the
    file. ``name`` is without the XML namespace of IANA.
    """

    name: str
    attributes: Mapping[str, str]
    line: int
    content: list[XMLElement | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the element and of those inside. A reference (``xref``) without text is its target in brackets. A
        reference to a person is omitted.
        """
        return "".join(part if isinstance(part, str) else part._shown for part in self.content)

    @property
    def _shown(self) -> str:
        kind, data = self.attributes.get("type"), self.attributes.get("data")
        if kind == "person" or not data:
            return "" if kind == "person" else self.text
        return self.text or f"[{data.upper() if kind == 'rfc' else data}]"

    def children(self, *names: str) -> list[XMLElement]:
        """Return the child elements whose name is one of ``names``, in the order of the file."""
        return [part for part in self.content if isinstance(part, XMLElement) and part.name in names]

    def child(self, name: str) -> XMLElement | None:
        """Return the first child element with this name, or None."""
        return next(iter(self.children(name)), None)


def _from_xml(registry: XMLElement | None, kind: str | None) -> list[RegistryEntry]:
    return [_entry(record, kind) for record in (registry.children("record") if registry else ())]


def _entry(record: XMLElement, kind: str | None) -> RegistryEntry:
    def text(name: str) -> str | None:
        element = record.child(name)
        return element.text if element else None

    # The reference of urn-7 is one of its contacts.
    places = [record, *record.children("contact")]
    references = (_xref(xref) for place in places for xref in place.children("xref"))
    template = record.child("template")
    linked = template.child("xref") if template else None
    return RegistryEntry(
        record.line,
        text("name") or text("value"),
        tuple(dict.fromkeys(reference for reference in references if reference)),
        linked.attributes.get("data") if linked else text("file"),
        kind,
        text("status"),
        text("description"),
        text("notes"),
        record.attributes.get("date"),
        record.attributes.get("updated"),
    )


def _xref(xref: XMLElement) -> str | None:
    data = visible(xref.attributes.get("data", ""))
    match xref.attributes.get("type"):
        case "rfc" | "draft":
            return _document(data)
        case "rfc-errata":
            return f"RFC Errata {data}" if data.isdecimal() else None
        case "registry":
            return f"IANA registry {data}" if re.fullmatch("[a-z0-9-]{1,64}", data) else None
        case "uri" if _ADDRESS.fullmatch(data):
            label = visible(xref.text).replace("<", "").replace(">", "")[:200]
            return f"{label} <{data}>" if label else data
        case _:
            return None


def _tree(file: RegistryFile) -> XMLElement:
    top = XMLElement("", {}, 1)
    open_elements = [top]
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(open_elements) > _MAX_DEPTH or count > _MAX_ELEMENTS:
            raise file.error("the file has too many elements, or they are nested too deeply", parser.CurrentLineNumber)
        space, _, local = name.rpartition(" ")
        element = XMLElement(local if space == _XML_NAMESPACE else name, attributes, parser.CurrentLineNumber)
        open_elements[-1].content.append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    def refuse() -> NoReturn:
        raise file.error("the file has a document type, which is not allowed", parser.CurrentLineNumber)

    def characters(text: str) -> None:
        open_elements[-1].content.append(text)

    parser = xml_text.parser(refuse)
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(file.text, True)
    except expat.ExpatError as error:
        raise file.error(
            f"the file is not XML: {expat.ErrorString(error.code)}", error.lineno, error.offset + 1
        ) from None
    [root] = (part for part in top.content if isinstance(part, XMLElement))
    return root
