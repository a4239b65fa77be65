"""The formats of a description: their names, media types and inflections. The field Accept selects a format at
``?info``, and ``?info&format=NAME`` is the URL of each (decision I-06). Only these queries are added to ``?``, ``??``
and ``?info``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...identifiers.ark.grammar import METADATA_INFLECTIONS


class Format(NamedTuple):
    """A format in which a description of a name is sent, such as JSON or BibTeX.

    ``name`` is its name in a URL, and ``others`` are further media types by which clients request it. ``serializer`` is
    a function in :mod:`ararat.middleware.views.formats`, such as "bibtex.serialize". It is None if each description
    writes it itself. ``has_charset``: whether Content-Type states the charset.
    """

    name: str
    media_type: str
    title: str
    others: tuple[str, ...] = ()
    serializer: str | None = None
    has_charset: bool = False

    @property
    def inflection(self) -> str:
        """The inflection that requests a description in this format, such as ``?info&format=json``."""
        return f"?info&format={self.name}"

    @property
    def content_type(self) -> str:
        """The value of the header field Content-Type for descriptions in this format."""
        return f"{self.media_type}; charset=utf-8" if self.has_charset else self.media_type


FORMATS = (
    Format("html", "text/html", "HTML", has_charset=True),
    Format("json", "application/json", "JSON"),
    Format("erc", "text/plain", "ERC", has_charset=True),
    Format("jsonld", "application/ld+json", "JSON-LD (schema.org)", (), "schema_org.serialize"),
    Format(
        *("csl", "application/vnd.citationstyles.csl+json", "CSL-JSON", ("application/citeproc+json",)),
        serializer="csl.serialize",
    ),
    Format("bibtex", "application/x-bibtex", "BibTeX", ("text/x-bibtex",), "bibtex.serialize", has_charset=True),
    Format(
        *("datacite-json", "application/vnd.datacite.datacite+json", "DataCite JSON"),
        *(("application/x-datacite+json",), "datacite.serialize_json"),
    ),
    Format(
        *("datacite-xml", "application/vnd.datacite.datacite+xml", "DataCite XML"),
        *(("application/x-datacite+xml",), "datacite.serialize_xml"),
    ),
    Format("linkset", "application/linkset+json", "Links (RFC 9264)"),
)
"""All formats, the default first. A wildcard in Accept selects the first format that fits."""

BY_INFLECTION: Mapping[str, Format | None] = MappingProxyType(
    {**dict.fromkeys(METADATA_INFLECTIONS), **{form.inflection: form for form in FORMATS}}
)
"""The inflections of a description, in normal form. The value is the format, or None if Accept selects it."""

BY_NAME: Mapping[str, Format] = MappingProxyType({form.name: form for form in FORMATS})
"""The formats by their names."""
