"""The facts of the DataCite Metadata Schema, version 4.7, and the check of a record in XML against them. Of a record of
an older schema, such as kernel-3, only the required elements are checked. ``identifier`` can be missing, because each
record gets that of its name (:mod:`.datacite_identifier`). Source: XML schema of version 4.7; decision X-16.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, NoReturn

from ....identifiers.text import xml_text
from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError

NAMESPACE: Final = "http://datacite.org/schema/kernel-"
"""The beginning of the namespaces of all versions; the number of the version follows."""

_XML, _INSTANCE = "http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2001/XMLSchema-instance"

_SIGNS = "?*+"
_Text = Literal["none", "any", "some", "year", "language", "longitude", "latitude", "mixed"]


class _Rule(NamedTuple):
    """The content of an element: its ``children`` with ``?``, ``*`` or ``+`` for their number (once without a sign),
    and its attributes, with ``!`` for a required one.
    """

    children: str = ""
    attributes: str = ""
    text: _Text = "any"
    is_ordered: bool = False


def _child_names(rule: _Rule) -> list[str]:
    return [each.rstrip(_SIGNS) for each in rule.children.split()]


def _list(children: str) -> _Rule:
    return _Rule(children, text="none", is_ordered=True)


_LONGITUDES, _LATITUDES = "westBoundLongitude eastBoundLongitude", "southBoundLatitude northBoundLatitude"
_PERSON = "givenName? familyName? nameIdentifier* affiliation*"

_RULES: Final[Mapping[str, _Rule]] = {
    "resource": _Rule(
        "identifier? creators titles publisher publicationYear resourceType subjects? contributors? dates? language? "
        "alternateIdentifiers? relatedIdentifiers? sizes? formats? version? rightsList? descriptions? geoLocations? "
        "fundingReferences? relatedItems?",
        text="none",
    ),
    "identifier": _Rule(attributes="identifierType"),
    "creators": _list("creator+"),
    "creator": _list(f"creatorName {_PERSON}"),
    "creatorName": _Rule(attributes="nameType lang"),
    "givenName": _Rule(),
    "familyName": _Rule(),
    "nameIdentifier": _Rule(attributes="nameIdentifierScheme! schemeURI", text="some"),
    "affiliation": _Rule(attributes="affiliationIdentifier affiliationIdentifierScheme schemeURI", text="some"),
    "titles": _list("title+"),
    "title": _Rule(attributes="titleType lang"),
    "publisher": _Rule(attributes="publisherIdentifier publisherIdentifierScheme schemeURI lang", text="some"),
    "publicationYear": _Rule(text="year"),
    "resourceType": _Rule(attributes="resourceTypeGeneral!"),
    "subjects": _list("subject*"),
    "subject": _Rule(attributes="subjectScheme schemeURI valueURI classificationCode lang"),
    "contributors": _list("contributor*"),
    "contributor": _Rule(f"contributorName {_PERSON}", "contributorType!", "none", is_ordered=True),
    "contributorName": _Rule(attributes="nameType lang", text="some"),
    "dates": _list("date*"),
    "date": _Rule(attributes="dateType! dateInformation"),
    "language": _Rule(text="language"),
    "alternateIdentifiers": _list("alternateIdentifier*"),
    "alternateIdentifier": _Rule(attributes="alternateIdentifierType!"),
    "relatedIdentifiers": _list("relatedIdentifier*"),
    "relatedIdentifier": _Rule(
        attributes="resourceTypeGeneral relatedIdentifierType! relationType! relatedMetadataScheme schemeURI "
        "schemeType relationTypeInformation"
    ),
    "sizes": _list("size*"),
    "size": _Rule(),
    "formats": _list("format*"),
    "format": _Rule(),
    "version": _Rule(),
    "rightsList": _list("rights*"),
    "rights": _Rule(attributes="rightsURI rightsIdentifier rightsIdentifierScheme schemeURI lang"),
    "descriptions": _list("description*"),
    "description": _Rule("br*", "descriptionType! lang", "mixed"),
    "br": _Rule(text="none"),
    "geoLocations": _list("geoLocation*"),
    "geoLocation": _Rule("geoLocationPlace* geoLocationPoint* geoLocationBox* geoLocationPolygon*", text="none"),
    "geoLocationPlace": _Rule(),
    "geoLocationPoint": _Rule("pointLongitude pointLatitude", text="none"),
    "geoLocationBox": _Rule(f"{_LONGITUDES} {_LATITUDES}", text="none"),
    "geoLocationPolygon": _list("polygonPoint+ inPolygonPoint?"),
    "polygonPoint": _Rule("pointLongitude pointLatitude", text="none"),
    "inPolygonPoint": _Rule("pointLongitude pointLatitude", text="none"),
    **dict.fromkeys(("pointLongitude", *_LONGITUDES.split()), _Rule(text="longitude")),
    **dict.fromkeys(("pointLatitude", *_LATITUDES.split()), _Rule(text="latitude")),
    "fundingReferences": _list("fundingReference*"),
    "fundingReference": _Rule("funderName funderIdentifier? awardNumber? awardTitle?", text="none"),
    "funderName": _Rule(text="some"),
    "funderIdentifier": _Rule(attributes="funderIdentifierType! schemeURI"),
    "awardNumber": _Rule(attributes="awardURI"),
    "awardTitle": _Rule(),
    "relatedItems": _list("relatedItem*"),
    "relatedItem": _Rule(
        "relatedItemIdentifier? creators? titles? publicationYear? volume? issue? number? firstPage? lastPage? "
        "publisher? edition? contributors?",
        "relatedItemType! relationType! relationTypeInformation",
        "none",
        is_ordered=True,
    ),
    "relatedItemIdentifier": _Rule(attributes="relatedItemIdentifierType relatedMetadataScheme schemeURI schemeType"),
    "number": _Rule(attributes="numberType"),
    **dict.fromkeys(("volume", "issue", "firstPage", "lastPage", "edition"), _Rule()),
}
_OLDER: Final = _Rule("creators titles publisher publicationYear")
_IN_RELATED_ITEM: Final[Mapping[str, _Rule]] = {
    "creators": _list("creator*"),
    "titles": _list("title*"),
    "publisher": _Rule(),
    "contributorName": _Rule(attributes="nameType lang"),
}
"""The elements that have other rules below relatedItem."""


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line.split())


_RESOURCES = _words(
    "Audiovisual Award Book BookChapter Collection ComputationalNotebook ConferencePaper ConferenceProceeding",
    "DataPaper Dataset Dissertation Event Image Instrument InteractiveResource Journal JournalArticle Model",
    "OutputManagementPlan PeerReview PhysicalObject Poster Preprint Presentation Project Report Service Software",
    "Sound Standard StudyRegistration Text Workflow Other",
)
_IDENTIFIERS = _words(
    "ARK arXiv bibcode CSTR DOI EAN13 EISSN Handle IGSN ISBN ISSN ISTC LISSN LSID PMID PURL RAiD RRID SWHID UPC URL",
    "URN w3id",
)
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "nameType": ("Organizational", "Personal"),
    "titleType": ("AlternativeTitle", "Subtitle", "TranslatedTitle", "Other"),
    "contributorType": _words(
        "ContactPerson DataCollector DataCurator DataManager Distributor Editor HostingInstitution Producer",
        "ProjectLeader ProjectManager ProjectMember RegistrationAgency RegistrationAuthority RelatedPerson Researcher",
        "ResearchGroup RightsHolder Sponsor Supervisor Translator WorkPackageLeader Other",
    ),
    "dateType": _words(
        "Accepted Available Collected Copyrighted Coverage Created Issued Submitted Updated Valid Withdrawn Other"
    ),
    "resourceTypeGeneral": _RESOURCES,
    "relatedItemType": _RESOURCES,
    "relatedIdentifierType": _IDENTIFIERS,
    "relatedItemIdentifierType": _IDENTIFIERS,
    "relationType": _words(
        "IsCitedBy Cites IsSupplementTo IsSupplementedBy IsContinuedBy Continues Describes IsDescribedBy HasMetadata",
        "IsMetadataFor HasVersion IsVersionOf IsNewVersionOf IsPreviousVersionOf IsPartOf HasPart IsPublishedIn",
        "IsReferencedBy References IsDocumentedBy Documents IsCompiledBy Compiles IsVariantFormOf IsOriginalFormOf",
        "IsIdenticalTo Reviews IsReviewedBy IsDerivedFrom IsSourceOf Requires IsRequiredBy Obsoletes IsObsoletedBy",
        "Collects IsCollectedBy HasTranslation IsTranslationOf Other",
    ),
    "descriptionType": ("Abstract", "Methods", "SeriesInformation", "TableOfContents", "TechnicalInfo", "Other"),
    "funderIdentifierType": ("Crossref Funder ID", "GRID", "ISNI", "ROR", "Other"),
    "numberType": ("Article", "Chapter", "Report", "Other"),
}
_YEAR = re.compile(r"\s*\d{4}\s*")
_LANGUAGE = re.compile(r"\s*[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*\s*")
_NUMBER = re.compile(r"\s*[+-]?(?:\d++\.?\d*+|\.\d++)(?:[Ee][+-]?\d{1,3})?\s*")


class _Open(NamedTuple):
    """An element that has not ended: its name, its rule, its line, the names of its elements, and its texts."""

    name: str
    rule: _Rule
    line: int
    children: list[str]
    texts: list[str]


def check_record(document: str) -> None:
    """Raise :class:`BindingError` (``metadata-document``) for the first part of a well-formed record in XML that does
    not fit the DataCite schema. The message has its line.
    """
    from xml.parsers import expat  # only an XML document needs it

    stack: list[_Open] = []
    namespace = ""

    def refuse() -> NoReturn:
        raise _fault("has a document type declaration")

    parser = xml_text.parser(refuse, "utf-8")

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal namespace
        space, _, local = name.rpartition(" ")
        line = parser.CurrentLineNumber
        shown = validation.quote(local)
        if not stack:
            namespace = space
            rule = _RULES["resource"] if _is_current(space) else _OLDER
        elif not _is_current(namespace):
            stack[-1].children.append(local)
            rule = _Rule()
        else:
            parent = stack[-1]
            if space != namespace or local not in _child_names(parent.rule):
                raise _fault(f"has the element {shown} in line {line}, which cannot be in {parent.name}")
            rule = _rule(local, any(each.name == "relatedItem" for each in stack))
            parent.children.append(local)
        opened = _Open(local, rule, line, [], [])
        stack.append(opened)
        if _is_current(namespace):
            for why in _attribute_faults(opened, attributes):
                raise _fault(why)

    def end(_: str) -> None:
        ended = stack.pop()
        for why in (*_child_faults(ended), *_text_faults(ended)):
            raise _fault(why)

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: stack[-1].texts.append(text)
    try:
        parser.Parse(document.encode(), True)
    except expat.ExpatError as error:
        raise _fault(f"is not valid XML in line {error.lineno}") from None


def _is_current(namespace: str) -> bool:
    return namespace.startswith(f"{NAMESPACE}4")


def _rule(name: str, in_related_item: bool) -> _Rule:
    return (_IN_RELATED_ITEM.get(name) if in_related_item else None) or _RULES[name]


def _child_faults(element: _Open) -> Iterator[str]:
    rule, children = element.rule, element.children
    for each in rule.children.split():
        name, sign = each.rstrip(_SIGNS), each[-1] if each[-1] in _SIGNS else ""
        if name not in children and sign in ("", "+"):
            yield f"lacks the element {name} in {element.name} (line {element.line})"
        if children.count(name) > 1 and sign in ("", "?"):
            yield f"has the element {name} twice in {element.name} (line {element.line})"
    order = _child_names(rule)
    if rule.is_ordered and (places := [order.index(name) for name in children]) != sorted(places):
        yield f"has a wrong order in {element.name} (line {element.line}); expected {', '.join(order)}"
    if element.name == "geoLocationPolygon" and children.count("polygonPoint") < 4:
        yield f"has a polygon of fewer than four points in line {element.line}"


def _attribute_faults(element: _Open, attributes: Mapping[str, str]) -> Iterator[str]:
    place = f"of {element.name} in line {element.line}"
    permitted = {each.rstrip("!"): each.endswith("!") for each in element.rule.attributes.split()}
    present: dict[str, str] = {}
    for name, value in attributes.items():
        space, _, local = name.rpartition(" ")
        if space == _INSTANCE or (space == _XML and (local != "lang" or "lang" in permitted)):
            continue
        if space or local not in permitted:
            yield f"has the attribute {validation.quote(local)} {place}, which the schema does not have"
        present[local] = value
        values = _VALUES.get(local)
        if values is not None and value not in values:
            yield f"has {local} {validation.quote(value)} {place}; expected {', '.join(values)}"
    for name, is_required in permitted.items():
        if is_required and name not in present:
            yield f"lacks the attribute {name} {place}"


def _text_faults(element: _Open) -> Iterator[str]:
    text, place = "".join(element.texts), f"in line {element.line}"
    match element.rule.text:
        case "none" if text.strip():
            yield f"has the text {validation.quote(text.strip())} {place}, which cannot be in {element.name}"
        case "some" if not text:
            yield f"has no text in {element.name} {place}"
        case "year" if not _YEAR.fullmatch(text):
            yield f"has the year {validation.quote(text.strip())} {place}; expected four digits"
        case "language" if not _LANGUAGE.fullmatch(text):
            yield f"has the language {validation.quote(text.strip())} {place}; expected a code such as en"
        case "longitude" | "latitude" as kind:
            most = 180 if kind == "longitude" else 90
            if not _NUMBER.fullmatch(text) or abs(float(text)) > most:
                yield f"has the {kind} {validation.quote(text.strip())} {place}; expected -{most} to {most}"
        case _:
            pass


def _fault(why: str) -> BindingError:
    return BindingError("metadata-document", Translatable("the metadata element datacite %(why)s", why=why))
