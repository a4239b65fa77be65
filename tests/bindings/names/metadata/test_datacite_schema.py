"""DataCite records against the facts of the schema: what fits is kept, and the first misfit is named with its line."""

from __future__ import annotations

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.metadata.datacite_schema import NAMESPACE, check_record

REQUIRED = {
    "creators": "<creators><creator><creatorName>Noah</creatorName></creator></creators>",
    "titles": "<titles><title>The Ark</title></titles>",
    "publisher": "<publisher>Ararat</publisher>",
    "publicationYear": "<publicationYear>2026</publicationYear>",
    "resourceType": '<resourceType resourceTypeGeneral="Dataset"/>',
}
PERSON = (
    "<givenName>N</givenName><familyName>N</familyName>"
    '<nameIdentifier schemeURI="https://orcid.org" nameIdentifierScheme="ORCID">0000-0002-1825-0097</nameIdentifier>'
    '<affiliation affiliationIdentifier="a" affiliationIdentifierScheme="ROR" schemeURI="https://ror.org">A</affiliation>'
)
POINT = "<{0}><pointLatitude>31.2</pointLatitude><pointLongitude>-67.5e0</pointLongitude></{0}>"
ALL = (
    '<identifier identifierType="ARK">ark:12345/x</identifier>'
    f'<creators><creator><creatorName nameType="Personal" xml:lang="en">N</creatorName>{PERSON}</creator></creators>'
    '<titles><title titleType="Subtitle" xml:lang="de">T</title><title/></titles>'
    '<publisher publisherIdentifier="p" publisherIdentifierScheme="ROR" schemeURI="s" xml:lang="en">P</publisher>'
    "<publicationYear>\n 2026 </publicationYear>"
    '<resourceType resourceTypeGeneral="Presentation">Talk</resourceType><subjects/>'
    f'<contributors><contributor contributorType="Translator"><contributorName>C</contributorName>'
    f"{PERSON}</contributor>"
    '</contributors><dates><date dateType="Coverage" dateInformation="i">2020/2021</date></dates>'
    "<language>pt-BR</language>"
    '<alternateIdentifiers><alternateIdentifier alternateIdentifierType="x">1</alternateIdentifier>'
    '</alternateIdentifiers><relatedIdentifiers><relatedIdentifier relatedIdentifierType="ARK" relationType="Other" '
    'relationTypeInformation="r">'
    "ark:1</relatedIdentifier></relatedIdentifiers><sizes><size>1</size></sizes><formats><format>f</format></formats>"
    '<version>1</version><rightsList><rights rightsURI="https://a.example/">R</rights></rightsList>'
    '<descriptions><description descriptionType="Abstract">a<br/>b</description></descriptions>'
    "<geoLocations><geoLocation><geoLocationPlace>P</geoLocationPlace>"
    f"{POINT.format('geoLocationPoint')}<geoLocationBox><westBoundLongitude>-180</westBoundLongitude>"
    "<eastBoundLongitude>180</eastBoundLongitude><southBoundLatitude>-90</southBoundLatitude>"
    "<northBoundLatitude>90</northBoundLatitude></geoLocationBox>"
    f"<geoLocationPolygon>{POINT.format('polygonPoint') * 4}{POINT.format('inPolygonPoint')}</geoLocationPolygon>"
    "</geoLocation></geoLocations><fundingReferences><fundingReference><awardTitle>A</awardTitle>"
    '<funderName>F</funderName><funderIdentifier funderIdentifierType="Crossref Funder ID">1</funderIdentifier>'
    '<awardNumber awardURI="https://a.example/">1</awardNumber></fundingReference></fundingReferences>'
    '<relatedItems><relatedItem relationType="IsPublishedIn" relatedItemType="Book">'
    '<relatedItemIdentifier relatedItemIdentifierType="ISBN">0-12</relatedItemIdentifier><creators/><titles/>'
    '<publicationYear>2016</publicationYear><number numberType="Chapter">4</number><publisher/></relatedItem>'
    "</relatedItems>"
)


def record(content: str = "", kernel: str = "4", **changed: str) -> str:
    return f'<resource xmlns="{NAMESPACE}{kernel}">\n{content}{"".join((REQUIRED | changed).values())}</resource>'


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(record(), id="the required elements"),
        pytest.param(f'<resource xmlns="{NAMESPACE}4">{ALL}</resource>', id="all elements"),
        pytest.param(record().replace("<resource ", "<!-- c --><resource "), id="a comment"),
        pytest.param(
            f'<d:resource xmlns:d="{NAMESPACE}4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            'xsi:schemaLocation="a b">'
            + "".join(REQUIRED.values()).replace("</", "</d:").replace("<", "<d:").replace("<d:/d:", "</d:")
            + "</d:resource>",
            id="a prefix and a location",
        ),
        pytest.param(
            record(kernel="3", resourceType="", more="<geoLocationPoint>1 2</geoLocationPoint>"), id="kernel-3"
        ),
        pytest.param(record("<lastMetadataUpdate/>", kernel="2.2", resourceType=""), id="kernel-2.2"),
    ],
)
def test_a_record_that_fits_is_accepted(document: str) -> None:
    check_record(document)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        *(
            pytest.param(record(**{name: ""}), f"lacks the element {name} in resource (line 1)", id=f"no {name}")
            for name in REQUIRED
        ),
        pytest.param(record(titles="", kernel="3"), "lacks the element titles", id="kernel-3 without a title"),
        pytest.param(
            record("<tiltes/>"), "has the element tiltes in line 2, which cannot be in resource", id="unknown"
        ),
        pytest.param(record('<x xmlns="urn:x"/>'), "has the element x in line 2", id="another namespace"),
        pytest.param(record("<publisher>B</publisher>"), "has the element publisher twice", id="twice"),
        pytest.param(record(creators="<creators/>"), "lacks the element creator in creators (line 2)", id="no creator"),
        pytest.param(
            record(creators="<creators><creator><givenName/><creatorName/></creator></creators>"),
            "has a wrong order in creator (line 2); expected creatorName, givenName",
            id="wrong order",
        ),
        pytest.param(record(publisher="<publisher/>"), "has no text in publisher in line 2", id="no publisher"),
        pytest.param(
            record(publicationYear="\n<publicationYear>20</publicationYear>"), "has the year 20 in line 3", id="year"
        ),
        pytest.param(
            record("<language>English language</language>"), "has the language English language", id="language"
        ),
        pytest.param(record(resourceType="<resourceType/>"), "lacks the attribute resourceTypeGeneral", id="no type"),
        pytest.param(
            record(resourceType='<resourceType resourceTypeGeneral="Map"/>'),
            "has resourceTypeGeneral Map of resourceType in line 2; expected Audiovisual, Award",
            id="a value that does not exist",
        ),
        pytest.param(record('<version lang="en">1</version>'), "has the attribute lang of version", id="an attribute"),
        pytest.param(record("text"), "has the text text in line 1, which cannot be in resource", id="text"),
        pytest.param(
            record(
                f"<geoLocations><geoLocation>{POINT.format('geoLocationPoint')}</geoLocation></geoLocations>"
            ).replace("31.2", "131.2"),
            "has the latitude 131.2 in line 2; expected -90 to 90",
            id="a latitude",
        ),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_its_line(document: str, message: str) -> None:
    with pytest.raises(BindingError) as refused:
        check_record(document)
    assert refused.value.code == "metadata-document"
    assert refused.value.message.startswith(f"the metadata element datacite {message}")


def test_only_a_new_record_is_checked(bindings: Bindings) -> None:
    with pytest.raises(BindingError, match="lacks the element creators"):
        bindings.bind("ark:12345/x", "/1", metadata={"datacite": f'<resource xmlns="{NAMESPACE}4"/>'})
    bindings.bind("ark:12345/x", "/1", metadata={"datacite": record()})
    assert bindings.bind("ark:12345/x", "/1", metadata={"datacite": record()}) == "unchanged"
