"""The elements of an identifier: its binding as EZID describes it, and the changes that a request states.
Source: EZID API, version 2, "Internal metadata", "Identifier status" and "Metadata profiles".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...bindings.holding import PublicAnswer
from ...bindings.imports.sources.ezid.element_names import (
    CITATION,
    DEFAULT_PROFILE,
    OWNER,
    PROFILE,
    element_name,
    metadata_name,
)
from ...bindings.imports.sources.ezid.elements import erc_elements, read_status, with_values
from ...bindings.names import naming, targets, validation
from ...bindings.names.binding import Binding, Status, rfc3339
from ...bindings.names.errors import BindingError
from ...bindings.names.metadata import metadata
from ...bindings.names.metadata.datacite_identifier import with_identifier
from ...bindings.names.passthrough import can_append
from ...middleware.views.formats import datacite_document
from ..management import Fields
from .answers import bad_request

PLACEHOLDER: Final = "${identifier}"
"""The text in a target that is replaced by the identifier."""

EMBARGO: Final = "ararat.embargo"
"""The element with the date from which a reserved identifier is public. EZID has none."""

HOLD: Final = "ararat.hold"
"""The element with the end and the reason of the hold that stops the redirect of an identifier now."""

_STATES: Mapping[str, Status] = {"public": "live", "reserved": "reserved", "unavailable": "withdrawn"}
_STATUSES = {state: status for status, state in _STATES.items()}
_LINE_ENDS = re.compile("[\t\r\n]+")


def classic(key: str) -> str:
    """Return the key of an ARK in the classic form, with a slash after the label. That of a URN is unchanged.

    >>> classic("ark:12345/x5"), classic("urn:isbn:9780451450524")
    ('ark:/12345/x5', 'urn:isbn:9780451450524')
    """
    return f"ark:/{key[4:]}" if key.startswith("ark:") else key


def describe_identifier(
    answer: PublicAnswer, prefix: str, owner: str | None = None, *, is_public: bool = False
) -> dict[str, str]:
    """Return the elements of an identifier by their names, in alphabetical order.
    Without ``owner``, this one is omitted. ``prefix`` is the resolver prefix of this site. ``is_public``: the request
    has no credentials. Then a name on hold or withdrawn has no target.
    """
    binding = answer.binding
    target = answer.target if is_public else binding.target
    status = _STATUSES[binding.status]
    elements = {
        "_created": str(int(binding.created.timestamp())),
        "_updated": str(int(binding.changed.timestamp())),
        "_status": f"{status} | {binding.reason}" if binding.reason else status,
        "_target": own_description(binding.identifier, prefix) if target is None else targets.location(target, prefix),
        "_profile": DEFAULT_PROFILE,
        "_export": "yes" if binding.listed else "no",
    }
    if binding.embargo is not None:
        elements[EMBARGO] = rfc3339(binding.embargo)
    if (hold := answer.hold) is not None:
        until = f"until {rfc3339(hold.until)}"
        elements[HOLD] = f"{until} | {hold.reason}" if hold.reason else until
    for element, value in binding.metadata.items():
        if element == "datacite":
            # EZID writes an ARK without its label there.
            shown = binding.identifier.removeprefix("ark:")
            elements[element] = with_identifier(value, binding.identifier, shown, refuses=False)
        elif element != OWNER and (name := element_name(element)):
            elements[name] = value
    if owner is not None:
        elements |= _owner_and_group(owner)
    return dict(sorted(elements.items()))


def own_description(key: str, prefix: str) -> str:
    """Return the URL of the description of a name below the resolver prefix of this site.
    EZID shows it as the target of an identifier without a target.

    >>> own_description("ark:12345/x5", "https://example.org")
    'https://example.org/ark:/12345/x5?info'
    """
    return f"{prefix}/{classic(key)}?info"


def owner_of(binding: Binding, actor: str | None) -> str | None:
    """Return the owner in the metadata of an identifier, or else ``actor``, the account that recorded it first."""
    return binding.metadata.get(OWNER, actor)


def _owner_and_group(owner: str) -> dict[str, str]:
    # An import writes the owner and the group of a dump as "owner (group)".
    name, space, group = owner.partition(" (")
    if space and group.endswith(")"):
        return {"_owner": name, "_ownergroup": group[:-1]}
    return {"_owner": owner}


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """The changes that a request asks for. None leaves a value unchanged; an empty text deletes an element.
    An empty ``target`` is the description of the name on this site. ``reason`` is that of a withdrawal. ``listed``:
    lists contain the name. ``embargo`` is the date from which a reserved name is public.
    """

    target: str | None = None
    state: Status | None = None
    reason: str | None = None
    owner: str | None = None
    listed: bool | None = None
    embargo: str | None = None
    metadata: Mapping[str, str]

    def fields(self, key: str, prefix: str, *, passthrough: str | None = None) -> Fields:
        """Return the fields of a binding that a request sets for the name with a key.
        The key replaces the text ``${identifier}`` in the target. The own page of the name below the resolver prefix is
        not recorded as the target. ``passthrough`` is that of a name that gets its first target: "no", "normal" or
        "given". None keeps the recorded passthrough. A target without a path gets no passthrough.
        """
        target = self.target
        if target:
            target = target.replace(PLACEHOLDER, classic(key))
        if target and _is_own_page(target, key, prefix):
            target = ""
        return Fields(
            target=target or None,
            passthrough=None if target is None else _passthrough(key, target, passthrough),
            kind="described" if target == "" else None,
            status=self.state,
            reason=self.reason,
            metadata=self.metadata,
            listed=self.listed,
            embargo=self.embargo,
        )


def _passthrough(key: str, target: str, wanted: str | None) -> Any:
    if key.startswith("urn:"):
        return "no"  # a URN does not contain other names
    try:
        checked = targets.check(target, "located") if target else None
    except BindingError:
        # The change is refused for its target.
        return None
    return wanted if checked is not None and can_append(checked) else "no"


def read_statement(elements: Mapping[str, str]) -> Statement:
    """Return the changes that the elements of :func:`~.anvl_body.read` ask for. Raises :class:`~.answers.Failed`
    (400).

    >>> found = read_statement({"_status": "unavailable | moved", "erc.who": "Noah"})
    >>> found.state, found.reason, found.metadata
    ('withdrawn', 'moved', {'erc.who': 'Noah'})
    """
    state, reason = _status(elements.get("_status"))
    return Statement(
        target=elements.get("_target"),
        state=state,
        reason=reason,
        owner=elements.get("_owner"),
        listed=_is_listed(elements.get("_export")),
        embargo=elements.get(EMBARGO),
        metadata=_metadata(elements),
    )


def _status(text: str | None) -> tuple[Status | None, str | None]:
    if text is None:
        return None, None
    name, reason = read_status(text)
    if name is None or (reason and name != "unavailable"):
        shown = validation.quote(text)
        raise bad_request(f"{shown or 'an empty text'} is not a status; expected public, reserved or unavailable")
    return _STATES[name], _one_line(reason) or None


def _is_listed(text: str | None) -> bool | None:
    """Return whether the name is listed. The default of EZID is yes; an empty value returns to it."""
    if text is None:
        return None
    if text.lower() not in ("", "yes", "no"):
        raise bad_request(f"the element _export has the value {validation.quote(text)}; expected yes or no")
    return text.lower() != "no"


def _metadata(elements: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in elements.items():
        match name:
            case "_target" | "_status" | "_owner" | "_export" | "erc" | "ararat.embargo":
                pass
            case "_profile":
                found[PROFILE] = "" if value == DEFAULT_PROFILE else value
            case "_crossref" if value.lower() in ("", "no"):
                pass
            case "_crossref":
                raise bad_request("_crossref: Only DOI identifiers may be registered with Crossref.")
            case _ if name.startswith("_") or name == HOLD:
                raise bad_request(f"{validation.quote(name)}: Field is not settable.")
            case _:
                element = metadata_name(name)
                if element is None:
                    shown = validation.quote(name)
                    raise bad_request(f"the element name {shown} is too long or has a control character")
                found[element] = value
    if "erc" in elements:
        # The same element can be beside the block. Neither replaces the other.
        for element, value in _erc(elements["erc"]).items():
            beside = found.get(element)
            found[element] = with_values(value, beside) if value and beside else beside or value
    return found


def _erc(value: str) -> dict[str, str]:
    """Return the elements of an element ``erc``, which replaces all elements of the kernel."""
    kernel, is_whole = erc_elements(value)
    if value and not is_whole:
        raise bad_request("the element erc is not an ERC record in ANVL; write one label, colon and value on each line")
    deleted = {f"erc.{element}": "" for element in metadata.KERNEL}
    return {**deleted, **kernel}


def _one_line(text: str) -> str:
    """Return the text of an element that has no line ends, as the import of a dump does."""
    return _LINE_ENDS.sub(" ", text)


def _is_own_page(target: str, key: str, prefix: str) -> bool:
    """Return whether a target is a page of the identifier itself at this site."""
    if not target.startswith(f"{prefix}/"):
        return False
    try:
        return naming.key_of(target[len(prefix) + 1 :].removesuffix("?info")) == key
    except BindingError:
        return False


_CITED = ("creator", "title", "publisher", "publicationyear", "resourcetype")


def mapped_citation(elements: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of the citation of an identifier.
    A part without a value is missing. The element ``_profile`` decides which elements are read; the default is "erc".

    >>> mapped_citation({"_profile": "dc", "dc.creator": "Noah", "erc.what": "The Ark"})
    {'_mappedCreator': 'Noah'}
    """
    profile = elements.get("_profile", "erc")
    if profile == "datacite" and "datacite" in elements:
        elements = {**_of_document(elements["datacite"]), **elements}
    found = {part: elements.get(by_profile.get(profile, "")) for part, by_profile in CITATION.items()}
    return {part: value for part, value in found.items() if value}


def _of_document(document: str) -> dict[str, str]:
    """Return the elements of a DataCite record in XML. Several creators or titles are separated by semicolons."""
    found = datacite_document.elements(document)
    joint = {"resourcetype": "/"}
    return {f"datacite.{name}": joint.get(name, "; ").join(found[name]) for name in _CITED if name in found}
