"""The columns of arklet's table of ARKs, and what becomes of each.

| column | becomes |
|---|---|
| ``ark``, or ``naan``, ``shoulder`` and ``assigned_name`` | the identifier |
| ``url`` | the target |
| ``title``, ``commitment`` | metadata ``erc.what``, ``erc.persistence`` |
| ``type``, ``rights``, ``format``, ``relation``, ``source``, ``identifier`` | metadata ``dc.type`` and so on |
| ``metadata`` | metadata: the members of a JSON object, the elements of ANVL, or the text as ``arklet.metadata`` |
| ``created_at``, ``updated_at`` | the times of creation and of the last change |

An ARK without URL and metadata was minted and never used: it becomes a reserved name. Other columns are metadata
``arklet.COLUMN``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from .....identifiers.text import anvl
from ..record import KERNEL, DumpRecord, Omission, join_values, no_time, read_time

_IDENTIFIER = ("ark", "naan", "naan_id", "shoulder", "assigned_name")
_NAMED = {
    "title": "erc.what",
    "commitment": "erc.persistence",
    **{name: name for name in ("datacite", "schema")},
    **{name: f"dc.{name}" for name in ("type", "rights", "format", "relation", "source", "identifier")},
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,90}")
_FULL_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[.:]([A-Za-z][A-Za-z0-9_-]*)")
_REMEDY = "keep the dump, or rename the element to PREFIX.NAME"


def identifier_of(row: Mapping[str, str]) -> str:
    """Return the ARK of a row in arklet's table, or "" if it has no ARK.

    >>> identifier_of({"ark": "13960/t8s46h68t"}), identifier_of({"naan": "1", "shoulder": "/x", "assigned_name": "y"})
    ('ark:/13960/t8s46h68t', 'ark:/1/xy')
    """
    if written := row.get("ark", "").strip():
        return written if written.lower().startswith("ark:") else f"ark:/{written}"
    naan, shoulder = row.get("naan") or row.get("naan_id") or "", row.get("shoulder", "")
    name = row.get("assigned_name", "")
    return f"ark:/{naan}/{shoulder.removeprefix('/')}{name}" if naan and name else ""


def record(line: int, row: Mapping[str, str]) -> DumpRecord:
    """Convert a row of arklet's table to a record. ``row`` maps columns to texts, ``line`` is its line in the file."""
    elements: dict[str, str] = {}
    omitted: list[Omission] = []
    times: dict[str, datetime | None] = {"created_at": None, "updated_at": None}
    for column, text in row.items():
        if not text.strip() or column in (*_IDENTIFIER, "url"):
            continue
        if column in times:
            times[column] = read_time(text)
            if times[column] is None:
                omitted.append(no_time(column, text))
        elif column == "metadata":
            for name, value in _metadata(text):
                _add(elements, omitted, name, value)
        else:
            elements[_NAMED.get(column, f"arklet.{column}")] = text
    target = row.get("url", "").strip() or None
    unused = target is None and not elements
    return DumpRecord(
        line,
        identifier_of(row),
        target,
        "reserved" if unused else "public",
        None,
        times["created_at"],
        times["updated_at"],
        None,
        elements,
        tuple(omitted),
    )


def _metadata(text: str) -> list[tuple[str, str]]:
    """Return the elements in the column ``metadata``."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return _join_repeated(
            (name, member if isinstance(member, str) else _as_text(member)) for name, member in value.items()
        )
    try:
        records = list(anvl.parse(text))
    except anvl.AnvlError:
        records = []
    labelled = ((each.label, each.value) for block in records for each in block.elements)
    elements = _join_repeated((label, value) for label, value in labelled if label != "erc")
    if elements and all(_NAME.fullmatch(name) or _FULL_NAME.fullmatch(name) for name, _ in elements):
        return elements
    return [("arklet.metadata", text)]


def _join_repeated(elements: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return elements with the values of labels of the kernel that are repeated, in any case of their letters."""
    several: dict[str, list[str]] = {}
    for label, value in elements:
        several.setdefault(label.lower() if label.lower() in KERNEL else label, []).append(value)
    return [(label, join_values(values) if len(values) > 1 else values[0]) for label, values in several.items()]


def _as_text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return join_values(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _add(elements: dict[str, str], omitted: list[Omission], name: str, value: str) -> None:
    if not value.strip():
        return
    if name in KERNEL:
        full = f"erc.{name}"
    elif parts := _FULL_NAME.fullmatch(name):
        full = f"{parts[1].lower()}.{parts[2]}"
    elif _NAME.fullmatch(name):
        full = _NAMED.get(name.lower(), f"arklet.{name}")
    else:
        omitted.append(Omission(f"metadata: {name}"[:100], "this is not the name of an element", _REMEDY))
        return
    if full in elements:
        omitted.append(Omission(f"metadata: {name}"[:100], "the element has a value already; it is kept", _REMEDY))
    else:
        elements[full] = value
