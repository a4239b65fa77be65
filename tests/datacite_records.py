"""DataCite records that fit the schema, for tests of everything that keeps or changes a record."""

from __future__ import annotations


def record(title: str = "T", first: str = "", creator: str = "C") -> str:
    """Return a record in XML with a title and a creator, both as markup. ``first`` is put before its elements."""
    return (
        f'<resource xmlns="http://datacite.org/schema/kernel-4">{first}<creators><creator>'
        f"<creatorName>{creator}</creatorName></creator></creators><titles><title>{title}</title></titles>"
        "<publisher>P</publisher><publicationYear>2020</publicationYear>"
        '<resourceType resourceTypeGeneral="Dataset"></resourceType></resource>'
    )
