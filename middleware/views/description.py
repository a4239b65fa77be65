"""What is known of a bound identifier: the answer to ``?info``, ``??`` and ``?``, as a page, as JSON and as ERC text.

    "The ARK system reserves the inflection ?info to request metadata about the referent of an ARK and the association
    of the ARK with its referent, including any relevant persistence statement."      (ARK draft, section 3.4)

What is not known is left out, never filled in. Only whether persistence was promised is always said: where no
statement was made, that none is known (ARK-007). The description of a withdrawn name is its tombstone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...identifiers.text import characters
from ..bindings import metadata
from ..bindings.model import NOTHING, Binding, rfc3339
from ..bindings.targets import location
from ..errors import BindingError
from . import templates

NO_STATEMENT = "no statement known"

FORMS = {"text/html": "HTML", "application/json": "JSON", "text/plain": "ERC text"}
"""The media types of a description, the preferred one first, and what each is called."""

_ASSOCIATION = {
    "located": "The thing itself is at",
    "related": "A resource about the thing is at",
    "described": "The thing has no page of its own; this is its description.",
    "served": "The thing itself is at the address of the identifier, served by this site.",
}

_MEANINGS = {
    "persistence": "how long the name is to last, as stated by whoever gives it out",
    "availability": "how long the thing itself can be had",
    "variance": "what may change about it",
    "allocated": "when the name was given",
    "policy": "the rules by which such names are given and kept",
}
_NOTHING_PROMISED = "It can be asked for today; whether for long, nobody has said here."
_NOTHING_PROMISED_OF_IT = "Nobody had said for how long."


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of one binding: ``address`` is the identifier's own, ``place`` where it leads, if elsewhere;
    ``through`` is the container that leads there, where nothing is on record of the identifier itself; ``inflections``
    are the site's own, each with its description (ARK-044). ``rule`` is the NAAN or shoulder by whose rule it leads
    there, where nothing is on record of the identifier itself but that; then its date is that of the rule.
    """

    binding: Binding
    address: str
    place: str | None
    through: str | None = None
    inflections: Mapping[str, str] = field(default_factory=dict)
    rule: str | None = None

    @property
    def elements(self) -> dict[str, str]:
        """The metadata on record, in their order, and whether persistence was promised."""
        known = {"persistence": NO_STATEMENT, **self.binding.metadata}
        return {element: known[element] for element in metadata.ELEMENTS if element in known}

    @property
    def association(self) -> str:
        """How the identifier and the thing hang together, in words."""
        return _ASSOCIATION[self.binding.kind]

    @property
    def policy(self) -> str | None:
        """The address of the naming authority's policy, where what is on record of it is one (ARK-034)."""
        return _address(self.binding.metadata.get("policy", ""))

    @property
    def about(self) -> tuple[str, ...]:
        """The elements that tell of the thing, but for what it is called, which is the page's heading."""
        return tuple(element for element in self.elements if element in metadata.KERNEL and element != "what")

    @property
    def promised(self) -> tuple[str, ...]:
        """The elements that tell what was promised of the name, or that nothing was."""
        return tuple(element for element in self.elements if element in metadata.STATEMENTS)

    @property
    def meanings(self) -> Mapping[str, str]:
        """What an element is about, in words, for whoever reads it on a page."""
        if "persistence" in self.binding.metadata:
            return _MEANINGS
        return _MEANINGS | {"persistence": _NOTHING_PROMISED if self.binding.is_live else _NOTHING_PROMISED_OF_IT}

    @property
    def citation(self) -> str | None:
        """The sentence by which to cite the identifier; None where nobody promised that it persists (ARK-007, ARK-009).

        A withdrawn name is not recommended any more.
        """
        if not self.binding.is_live or "persistence" not in self.binding.metadata:
            return None
        return f"Please use the persistent identifier {self.binding.identifier} to reference this page."

    def as_dict(self) -> dict[str, Any]:
        """The description as JSON has it; a member that is not known is not there."""
        known = {
            "identifier": self.binding.identifier,
            "address": self.address,
            "status": self.binding.status,
            "reason": self.binding.reason,
            "kind": self.binding.kind,
            "target": self.place,
            "through": self.through,
            "rule": self.rule,
            "changed": rfc3339(self.binding.changed),
            "citation": self.citation,
            "metadata": self.elements,
            "inflections": dict(self.inflections) or None,
        }
        return {name: value for name, value in known.items() if value is not None}

    def as_html(self) -> bytes:
        """The page."""
        return templates.render("description.html", view=self, forms=FORMS)

    def as_json(self) -> bytes:
        """One JSON object, in ASCII."""
        return json.dumps(self.as_dict(), indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """An ERC record: the elements, then what is known of the binding, each on one line."""
        about = {name: value for name, value in self.as_dict().items() if name not in ("metadata", "inflections")}
        about |= {inflection: _shown(description) for inflection, description in self.inflections.items()}
        record = metadata.erc({element: _shown(value) for element, value in self.elements.items()})
        return (record + "".join(f"{name}: {_shown(value)}\n" for name, value in about.items())).encode()


def describe(
    binding: Binding,
    root: str,
    through: str | None = None,
    inflections: Mapping[str, str] = NOTHING,
    rule: str | None = None,
) -> Description:
    """The description of a binding; ``root`` is what links begin with: the resolver prefix, or the mount's path.

    ``through`` is the container that made the binding, or ``rule`` the prefix of the rule that did, where one did;
    ``inflections`` are the site's own.
    """
    return Description(binding, f"{root}/{binding.identifier}", _place(binding, root), through, inflections, rule)


def _place(binding: Binding, root: str) -> str | None:
    if not binding.is_live or binding.kind not in ("located", "related"):
        return None
    return _address(binding.target or "", root)


def _address(text: str, root: str = "") -> str | None:
    """An address as a link may hold it, or None for what nobody may be sent to."""
    try:
        return location(text, root)
    except BindingError:
        return None


def _shown(text: str) -> str:
    """Text for people and terminals: what cannot be seen, or moves what can, as its code point."""
    return characters.HIDDEN.sub(lambda found: "".join(f"\\u{{{ord(char):x}}}" for char in found[0]), text)
