"""The elements of EZID, version 2 of its API, and what becomes of each.

| element | becomes |
|---|---|
| ``_target`` | the target; an address of the identifier at EZID itself becomes the description |
| ``_status`` | the state, and the reason of ``unavailable \\| reason`` |
| ``_created``, ``_updated`` | the times of creation and of the last change |
| ``_owner``, ``_ownergroup`` | the actor in the history |
| ``erc``, ``erc.*``, ``dc.*``, ``datacite``, ``datacite.*`` | metadata; ``erc`` is split into its elements |
| ``_profile`` with a label other than ``erc`` | metadata of the EZID API (:mod:`.element_names`) |
| ``_export: no`` | the name is not listed for harvesters and search engines |
| ``_profile: erc``, ``_export: yes``, ``_id`` | nothing: they are the defaults, or in the other elements |
| ``_mapped*`` | metadata, if the record has no other metadata |
| any other element | metadata (:mod:`.element_names`) |

``crossref`` and every other element that begins with an underscore are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from .....identifiers.text import anvl
from ....names import naming, validation
from ....names.errors import BindingError
from ..record import DumpRecord, Omission, State, join_values, no_time, read_time
from .element_names import CITATION, DEFAULT_PROFILE, PROFILE, metadata_name

_AT_EZID = re.compile(r"https?://(?:[a-z0-9-]+\.)?(?:ezid\.cdlib\.org|n2t\.net)/(?:ezid/)?(?:id/)?(.+)", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[^/?#]++", re.IGNORECASE)
_LABEL = re.compile("/(?:ark|urn):[^?#]", re.IGNORECASE)
_KERNEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,90}")

MAPPED: Final[Mapping[str, str]] = {part: next(iter(by_profile.values())) for part, by_profile in CITATION.items()}
"""The metadata elements for the elements that EZID derives from the others for a CSV file."""

_DOCUMENTS = ("erc", "datacite", "crossref", "ararat.embargo", "ararat.hold")
"""Elements whose values cannot be joined. Labels that a block ``erc`` repeats are joined (:func:`erc_elements`)."""

_STATES: Mapping[str, State] = {"public": "public", "reserved": "reserved", "unavailable": "unavailable"}
_NO_COUNTERPART = "keep the dump, or bind the value as a metadata element with a prefix, such as ezid.value"


def record(line: int, identifier: str, elements: Iterable[tuple[str, str]]) -> DumpRecord:
    """Convert an identifier of EZID and its elements to a record for the import. ``line`` is where it begins in the
    file.

    >>> name = record(1, "ark:/12345/x5", [("_target", "https://example.org/"), ("_status", "unavailable | moved")])
    >>> name.state, name.reason
    ('unavailable', 'moved')
    """
    reading = _Reading()
    several: dict[str, list[str]] = {}
    for name, value in elements:
        if value and not value.isspace():
            several.setdefault(name, []).append(value)
    for name, values in several.items():
        is_joined = not name.startswith("_") and name not in _DOCUMENTS
        if len(values) > 1 and not is_joined:
            reading.omit(name, "the element occurs twice; the first value is imported", "remove one of the two values")
        reading.read(name, join_values(values) if len(values) > 1 and is_joined else values[0])
    if not reading.metadata:
        reading.metadata = reading.mapped
    reading.metadata |= reading.settings
    owner = " ".join(filter(None, (reading.owner, reading.group and f"({reading.group})")))
    target = None if _leads_to_itself(identifier, reading.target) else reading.target
    return DumpRecord(
        line,
        identifier,
        target,
        reading.state,
        reading.reason,
        reading.created,
        reading.updated,
        owner=owner or None,
        listed=reading.listed,
        elements=reading.metadata,
        omitted=tuple(reading.omitted),
        is_stated=reading.is_stated,
        embargo=reading.embargo,
    )


def _leads_to_itself(identifier: str, target: str | None) -> bool:
    """Return whether a target is the page of the identifier at EZID, or its description at a resolver like this one. A
    batch download has it for an identifier without a target.
    """
    if not target:
        return False
    at_ezid = _AT_EZID.fullmatch(target)
    if at_ezid is not None and at_ezid[1].lower() == identifier.lower():
        return True
    described = _name_of_description(target)
    try:
        return described is not None and naming.key_of(described) == naming.key_of(identifier)
    except BindingError:
        return False


def _name_of_description(target: str) -> str | None:
    """Return the name whose description has the address, such as https://n2t.net/ark:/12345/x?info."""
    origin = _ORIGIN.match(target)
    path = target.removesuffix("?info")
    if origin is None or path == target or "?" in path or "#" in path:
        return None
    labels = [found.start() for found in _LABEL.finditer(path, origin.end())]
    return path[labels[-1] + 1 :] if labels else None


class _Reading:
    """The state while the elements of one record are read."""

    def __init__(self) -> None:
        self.target: str | None = None
        self.state: State = "public"
        self.is_stated = False
        self.reason: str | None = None
        self.created: datetime | None = None
        self.updated: datetime | None = None
        self.owner = self.group = ""
        self.listed = True
        self.embargo: str | None = None
        self.metadata: dict[str, str] = {}
        self.mapped: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.omitted: list[Omission] = []
        self.unnamed = 0

    def read(self, name: str, value: str) -> None:
        match name:
            case "_target":
                self.target = value
            case "_status":
                self._read_status(value)
            case "_created":
                self.created = self._read_time(name, value)
            case "_updated":
                self.updated = self._read_time(name, value)
            case "_owner":
                self.owner = value
            case "_ownergroup":
                self.group = value
            case "_id" | "ararat.hold":
                pass
            case "_profile" if value == DEFAULT_PROFILE:
                pass
            case "_profile":
                self.settings[PROFILE] = value
            case "ararat.embargo":
                self.embargo = value
            case "_export" if value.lower() in ("yes", "no"):
                self.listed = value.lower() == "yes"
            case "erc":
                self._read_erc(value)
            case "crossref":
                self.omit(name, "a deposit for Crossref is not metadata of a name", _NO_COUNTERPART)
            case _ if name in MAPPED:
                self.mapped[MAPPED[name]] = value
            case _ if name.startswith("_"):
                self.omit(name, "this element of EZID has no counterpart", _NO_COUNTERPART)
            case _ if element := metadata_name(name):
                self._add(element, value)
            case _:
                self.unnamed += 1
                kept = f"dump.element-{self.unnamed}"
                self.metadata[kept] = f"{name}: {value}"
                why = f"the name of the element is too long or has a control character, so it is in {kept}"
                self.omit(name, why, "correct the name in the dump")

    def omit(self, name: str, reason: str, remedy: str) -> None:
        self.omitted.append(Omission(name, reason, remedy))

    def _read_status(self, value: str) -> None:
        state, reason = read_status(value)
        if state is None:
            message = f"{validation.quote(value)} is not a status of EZID, so the name is imported as reserved"
            self.omit("_status", message, "correct the status to public, reserved or unavailable")
            self.state = "reserved"
            return
        self.state, self.is_stated = state, True
        self.reason = reason or None

    def _read_time(self, name: str, value: str) -> datetime | None:
        time = read_time(value)
        if time is None:
            self.omitted.append(no_time(name, value))
        return time

    def _add(self, element: str, value: str) -> None:
        recorded = self.metadata.get(element)
        self.metadata[element] = value if recorded is None else with_values(recorded, value)

    def _read_erc(self, value: str) -> None:
        kernel, is_whole = erc_elements(value)
        for element, text in kernel.items():
            self._add(element, text)
        if not is_whole:
            self.omit(
                "erc", "a part of the value is not an ERC record in ANVL", "split it into erc.who, erc.what and so on"
            )


def read_status(value: str) -> tuple[State | None, str]:
    """Return the state and the reason in a value of ``_status``. The state is None if it is not one of EZID.

    >>> read_status("unavailable | moved"), read_status("hidden")
    (('unavailable', 'moved'), (None, ''))
    """
    state, _, reason = (part.strip() for part in value.partition("|"))
    return _STATES.get(state), reason


def with_values(recorded: str, value: str) -> str:
    """Return a value with those of a second one, such as of a block ``erc`` and of the same element ``erc.who``.

    >>> with_values("Smith, A; Jones, B", "Jones, B; Ng, T")
    'Smith, A; Jones, B; Ng, T'
    """
    return join_values(each for text in (recorded, value) for each in text.split("; "))


def erc_elements(value: str) -> tuple[dict[str, str], bool]:
    r"""Parse a value of the element ``erc``. Return its elements, and whether all of it is an ERC record. The values of
    a repeated label, in any case, are joined.

    >>> erc_elements("who: Noah\nwhat: The Ark\nWho: Shem"), erc_elements("Noah")
    (({'erc.who': 'Noah; Shem', 'erc.what': 'The Ark'}, True), ({}, False))
    """
    try:
        parsed_elements = [element for block in anvl.parse(value) for element in block.elements]
    except anvl.AnvlError:
        return {}, False
    labelled = [(element.label.lower(), element.value) for element in parsed_elements]
    kernel = [(label, value) for label, value in labelled if _KERNEL.fullmatch(label) and label != "erc"]
    is_whole = bool(parsed_elements) and len(kernel) == sum(label != "erc" or bool(value) for label, value in labelled)
    several: dict[str, list[str]] = {}
    for label, value in kernel:
        if value:
            several.setdefault(f"erc.{label}", []).append(value)
    return {element: join_values(values) for element, values in several.items()}, is_whole
