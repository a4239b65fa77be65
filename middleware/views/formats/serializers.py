"""Select the serializer of a format that is made from the reference of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...resolution.description_formats import FORMATS, Format
from . import bibtex, csl, datacite, schema_org
from .reference import Reference

_SERIALIZERS: Mapping[str, Callable[[Reference], str]] = {
    "jsonld": schema_org.serialize,
    "csl": csl.serialize,
    "bibtex": bibtex.serialize,
    "datacite-json": datacite.serialize_json,
    "datacite-xml": datacite.serialize_xml,
}


def available(reference: Reference) -> tuple[Format, ...]:
    """Return the formats of a description: all, or all but DataCite if too little metadata is recorded."""
    missing = set() if datacite.is_known(reference) else {"datacite-json"}
    if missing and not datacite.has_document(reference):
        missing.add("datacite-xml")
    return tuple(form for form in FORMATS if form.name not in missing) if missing else FORMATS


def serialize(form: Format, reference: Reference) -> bytes:
    """Return the reference in a format. ``form`` must be one with a serializer in this module.

    A surrogate, which has no UTF-8 encoding, becomes a question mark. Only a recorded document can contain one.
    """
    return _SERIALIZERS[form.name](reference).encode("utf-8", "replace")
