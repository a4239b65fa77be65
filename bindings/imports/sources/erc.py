r"""Read ERC records (Electronic Resource Citation) in ANVL, as resolvers of ARKs answer ``?info``, also this one.

| label | becomes |
|---|---|
| ``erc`` | the beginning of a record; the short form has ``who \| what \| when \| where`` after it |
| ``spelling``, ``identifier``, or the first ``where`` with an ARK or URN | the name |
| ``target``, or the first ``where`` without an ARK or URN | the target |
| ``status``, ``reason``, ``created``, ``changed`` | the state and the times |
| ``who``, ``what``, ``when``, ``how`` and the statements | metadata ``erc.who`` and so on |
| ``PREFIX.NAME`` | metadata |
| ``address``, ``citation``, ``kind``, and the inflections | nothing: they follow from the name |
| any other label | metadata ``erc.LABEL`` |

A value that is not known, such as ``(:unav)``, is left out. Source: Dublin Core Kernel Metadata, section 5;
draft-kunze-anvl.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....identifiers.extraction import in_running_text
from ....identifiers.text import anvl
from ...names.metadata import metadata
from ...tables.text_stream import Lines
from . import anvl_blocks
from .noid import elements as binder_elements
from .record import DumpRecord, Omission, SkippedPart, kernel_element

_KERNEL = ("who", "what", "when", "where")
_FOLLOWS = frozenset(("address", "citation", "kind", "spelling", "identifier", "reason", "?", "??", "?info"))
_RENAMED = {"target": "_t", "created": "created", "changed": "updated"}
_STATES = {"live": "public", "reserved": "reserved", "withdrawn": "unavailable"}
_DOCUMENTS = frozenset(("datacite", "schema"))
_NOTHING = frozenset(("", "(:unav)", "(:unkn)", "no statement known"))


def records(lines: Lines) -> Iterator[DumpRecord | SkippedPart]:
    """Yield each ERC record of a file. Raises :class:`TableError` for a line that is not ANVL or precedes the first
    ``erc:``.
    """
    for block in anvl_blocks.read(lines, _beginning, "erc:"):
        short = zip(_KERNEL, map(str.strip, block.identifier.split("|")), strict=False) if block.identifier else ()
        elements = [
            (_label(label), value if label in _DOCUMENTS else anvl.fold_spaces(value))
            for label, value in (*short, *block.elements)
        ]
        yield _record(block.line, [(label, value) for label, value in elements if value not in _NOTHING])


def _label(label: str) -> str:
    """Return a label of the kernel in lower case, without its prefix, and another one as it is written."""
    element = kernel_element(label)
    return label if element is None else element.removeprefix("erc.")


def _beginning(line: str) -> str | None:
    return line[4:].strip() if line[:4].lower() == "erc:" else None


def _record(line: int, elements: list[tuple[str, str]]) -> DumpRecord | SkippedPart:
    first: dict[str, str] = {}
    for label, value in elements:
        first.setdefault(label, value)
    places = [value for label, value in elements if label == "where"]
    named = next((each for each in places if _names(each)), None)
    name = first.get("spelling") or first.get("identifier") or named
    if name is None:
        remedy = "add a line where: with the ARK or URN"
        return SkippedPart(line, "", Omission("where", "the record names no ARK and no URN", remedy))
    renamed: list[tuple[str, str]] = []
    if "target" not in first and (target := next((each for each in places if not _names(each)), None)):
        renamed.append(("_t", target))
    if (status := first.get("status")) is not None:
        state, reason = _STATES.get(status, status), first.get("reason")
        renamed.append(("_s", f"{state} | {reason}" if reason else state))
    for label, value in elements:
        if label in _RENAMED:
            renamed.append((_RENAMED[label], value))
        elif label not in _FOLLOWS and label not in ("where", "status"):
            is_full = "." in label or label in _DOCUMENTS or not metadata.is_name(f"erc.{label}")
            renamed.append((label if is_full else f"erc.{label}", value))
    return binder_elements.record(line, name, renamed)


def _names(place: str) -> bool:
    """Return whether the value of ``where`` has an ARK or a URN."""
    return bool(in_running_text(place))
