"""The elements of binders (noid, egg and N2T), and what becomes of each.

| element | becomes |
|---|---|
| ``_t``, ``_target``, ``goto`` | the target |
| ``_s``, ``_is``, ``_status`` | the state, and the reason of ``unavailable \\| reason`` |
| ``_c``, ``__mc``, ``_,ec``, ``_u`` | the times of creation and of the last change |
| ``_o``, ``_owner`` | the actor in the history |
| ``:/c``, ``:/h`` | the circulation record and the hold of noid: without a target, the name is reserved |
| ``who``, ``what``, ``when``, ``where``, ``how`` | metadata ``erc.who`` and so on |
| ``PREFIX.NAME``, ``datacite`` | metadata |
| ``_g``, ``_p``, ``_x: yes``, ``__mp``, ``_,ep`` | nothing: profile, export and permissions of the binder |
| ``NAME`` without a dot | metadata ``noid.NAME`` |
| any other name | metadata (:mod:`..ezid.element_names`) |

Every other element that begins with an underscore is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from ..ezid import elements as ezid_elements
from ..record import DumpRecord, kernel_element

_EZID = {
    **dict.fromkeys(("_t", "_target", "goto"), "_target"),
    **dict.fromkeys(("_s", "_is", "_status"), "_status"),
    **dict.fromkeys(("_c", "__mc", "_,ec", "_created", "created"), "_created"),
    **dict.fromkeys(("_u", "_updated", "updated"), "_updated"),
    **dict.fromkeys(("_o", "_owner"), "_owner"),
    **dict.fromkeys(("_g", "_p", "_profile"), "_id"),
    **dict.fromkeys(("__mp", "_,ep", ":/p"), "_id"),
    **dict.fromkeys(("_x",), "_export"),
    **{name: name for name in ("erc", "datacite")},
}
# noid writes the moment of minting as 20060508112522.
_MOMENT = re.compile(r"[0-9]{14}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,90}")
_LABELS = ("ark:", "urn:", "doi:", "uuid:", "http:", "https:")


def identifier_of(text: str) -> str:
    """Return the identifier for a key in a binder of noid or egg. A key without a label, such as 13030/xf9, is an
    ARK.
    """
    return text if text.lower().startswith(_LABELS) else f"ark:/{text}"


def record(line: int, identifier: str, elements: Iterable[tuple[str, str]]) -> DumpRecord:
    """Convert an identifier of noid or egg and its elements to a record. ``line`` is where it begins in the file.

    >>> name = record(1, "13030/xf93gt2q", [("_t", "https://example.org/1"), ("_c", "1435680779"), ("who", "Noah")])
    >>> name.target, name.created.year, name.elements
    ('https://example.org/1', 2015, {'erc.who': 'Noah'})
    """
    circulated: datetime | None = None
    held = False
    renamed: list[tuple[str, str]] = []
    names: set[str] = set()
    for name, value in elements:
        if name == ":/c":
            held, circulated = True, _circulation_time(value)
        elif name == ":/h":
            held = True
        else:
            ours = _EZID.get(name) or kernel_element(name) or (f"noid.{name}" if _NAME.fullmatch(name) else name)
            # A binder can have one time under two names.
            if ours != "_id" and (ours not in names or ours == name or ours.startswith("erc.")):
                renamed.append((ours, value))
            names.add(ours)
    converted = ezid_elements.record(line, identifier_of(identifier), renamed)
    if converted.created is None and circulated is not None:
        converted = converted._replace(created=circulated)
    is_bound = bool({"_target", "_status"} & names or converted.elements)
    return converted._replace(state="reserved") if held and not is_bound else converted


def _circulation_time(value: str) -> datetime | None:
    """Return the time in a circulation record such as ``i|20060508112522|jak/noid|1``."""
    moment = value.split("|")[1:2]
    if not moment or not _MOMENT.fullmatch(moment[0]):
        return None
    try:
        return datetime.strptime(moment[0], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
