"""The description as CSL-JSON, which reference managers read.

Source: the schema csl-data.json of the Citation Style Language, version 1.0.2.
"""

from __future__ import annotations

import json
from typing import Any

from .reference import Reference
from .resource_types import OTHER


def as_item(reference: Reference) -> dict[str, Any]:
    """Return a bibliographic ``reference`` as an item of CSL-JSON.

    Names are literal: metadata does not state which part of a name is the family name, or if it is an organization.
    """
    written = reference.written_date
    issued = {"date-parts": [list(reference.issued)]} if reference.issued and not written else None
    item: dict[str, Any] = {
        "id": reference.identifier,
        "type": (reference.type or OTHER).csl,
        "title": reference.title,
        "author": [{"literal": name} for name in reference.creators] or None,
        "issued": issued or (written and {"literal": written}),
        "publisher": reference.publisher,
        "language": reference.language,
        "abstract": reference.description,
        "keyword": ", ".join(reference.subjects) or None,
        "URL": reference.address,
        "status": reference.status,
        "note": reference.note,
    }
    return {name: value for name, value in item.items() if value is not None}


def serialize(reference: Reference) -> str:
    """Return a bibliographic ``reference`` as CSL-JSON: a list of one item, as reference managers import it."""
    return json.dumps([as_item(reference)], indent=1) + "\n"
