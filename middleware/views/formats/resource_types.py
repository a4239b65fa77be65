"""The types of resources of DataCite and the DCMI, and the types of other formats for the same things. Source: DataCite
Metadata Schema 4.5, appendix 1, resourceTypeGeneral; DCMI Type Vocabulary.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class ResourceType(NamedTuple):
    """A type of resources, with its terms in the vocabularies of DataCite, schema.org, CSL and BibTeX."""

    datacite: str
    schema: str = "CreativeWork"
    csl: str = "document"
    bibtex: str = "misc"

    @property
    def zotero(self) -> str | None:
        """The type of Zotero that its reader of web pages takes from ``DC.type``, or None for a web page."""
        return _OF_ZOTERO.get(self.csl)


_OF_ZOTERO = {
    "article": "preprint",
    "article-journal": "journalArticle",
    "book": "book",
    "chapter": "bookSection",
    "dataset": "dataset",
    "graphic": "artwork",
    "motion_picture": "videoRecording",
    "paper-conference": "conferencePaper",
    "report": "report",
    "software": "computerProgram",
    "song": "audioRecording",
    "standard": "standard",
    "thesis": "thesis",
}
"""The types of Zotero by those of CSL. Zotero maps them in the other direction for its citations."""

OTHER = ResourceType("Other")
"""The type of a resource whose type is not recorded, or not in a vocabulary."""

_TYPES = (
    OTHER,
    ResourceType("Audiovisual", "VideoObject", "motion_picture"),
    ResourceType("Book", "Book", "book", "book"),
    ResourceType("BookChapter", "Chapter", "chapter", "incollection"),
    ResourceType("Collection", "Collection", "collection"),
    ResourceType("ComputationalNotebook", "SoftwareSourceCode", "software"),
    ResourceType("ConferencePaper", "ScholarlyArticle", "paper-conference", "inproceedings"),
    ResourceType("ConferenceProceeding", "Book", "book", "proceedings"),
    ResourceType("DataPaper", "ScholarlyArticle", "article-journal", "article"),
    ResourceType("Dataset", "Dataset", "dataset"),
    ResourceType("Dissertation", "Thesis", "thesis", "phdthesis"),
    ResourceType("Event", "Event", "event"),
    ResourceType("Image", "ImageObject", "graphic"),
    ResourceType("Instrument"),
    ResourceType("InteractiveResource"),
    ResourceType("Journal", "Periodical", "periodical"),
    ResourceType("JournalArticle", "ScholarlyArticle", "article-journal", "article"),
    ResourceType("Model"),
    ResourceType("OutputManagementPlan"),
    ResourceType("PeerReview", "Review", "review"),
    ResourceType("PhysicalObject", "Thing"),
    ResourceType("Preprint", "ScholarlyArticle", "article"),
    ResourceType("Report", "Report", "report", "techreport"),
    ResourceType("Service", "Service"),
    ResourceType("Software", "SoftwareApplication", "software"),
    ResourceType("Sound", "AudioObject", "song"),
    ResourceType("Standard", "CreativeWork", "standard"),
    ResourceType("StudyRegistration"),
    ResourceType("Text", "CreativeWork"),
    ResourceType("Workflow"),
)

# Types of the DCMI that have another name in DataCite's list.
_SYNONYMS = {"movingimage": "Audiovisual", "stillimage": "Image"}

_BY_NAME = MappingProxyType({each.datacite.lower(): each for each in _TYPES})


def resource_type(text: str | None) -> ResourceType | None:
    """Return the type of resources that a metadata value states, or None if it is not in the vocabulary. Case, spaces
    and the address of the DCMI's vocabulary make no difference. A part after a slash is a detail.

    >>> resource_type("http://purl.org/dc/dcmitype/StillImage").csl, resource_type("text/letter").datacite
    ('graphic', 'Text')
    """
    name = (text or "").removeprefix("http://purl.org/dc/dcmitype/").partition("/")[0]
    name = "".join(name.split()).lower()
    return _BY_NAME.get(_SYNONYMS.get(name, name).lower())
