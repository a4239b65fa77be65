"""Describe a prefix record: the answer to ``ark:12345/``, ``ark:12345/x5`` or ``urn:nbn:se:uu:`` in several formats.

The actor of the last change is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...bindings.names.binding import Hold, rfc3339
from ...bindings.names.branding.model import contact_address
from ...bindings.names.prefixes.patterns import read_form
from ...bindings.names.prefixes.prefixes import Inherited, PrefixRecord, kind_of
from ...identifiers.text import display
from . import templates
from .description import hold_lines, hold_sentence
from .formats import erc
from .formats.reference import Reference, reference
from .formatted import Formatted
from .messages import NO_STATEMENT, TEST
from .presentation import PLAIN, Presentation
from .signposting import Signposts


@dataclass(frozen=True)
class PrefixDescription(Formatted):
    """The description of a prefix.

    - ``record``: its record; ``address``: its address at this resolver.
    - ``inherited``: the statement of persistence of a shorter prefix, or None.
    - ``root``: the beginning of links.
    - ``hold``: the hold of the names below the prefix that lasts now, or None.
    """

    record: PrefixRecord
    address: str
    inherited: Inherited | None
    root: str
    hold: Hold | None = None

    @property
    def kind(self) -> str:
        """The kind of the prefix, such as "NAAN" or "URN namespace"."""
        return kind_of(self.record.prefix)

    @property
    def document_title(self) -> str:
        """The title for the title of the document, in one line without hidden characters."""
        return display.visible(" ".join(f"{self.record.what or ''} {self.record.prefix}".split()))

    @property
    def statement(self) -> str:
        """The statement of persistence for all names below the prefix: its own, the inherited one, or "no statement
        known".
        """
        return self.record.statement or (self.inherited.text if self.inherited else NO_STATEMENT)

    @property
    def has_statement(self) -> bool:
        """True if a statement of persistence is recorded for the prefix or a shorter one."""
        return bool(self.record.statement or self.inherited)

    @property
    def source(self) -> str | None:
        """The address of the shorter prefix whose statement of persistence is inherited; None without one."""
        return self.inherited and f"{self.root}/{self.inherited.prefix}"

    @property
    def contact(self) -> str | None:
        """The address of a link to the recorded contact. It is None if the contact is neither a URL nor an e-mail
        address.
        """
        return contact_address(self.record.contact or "")

    @property
    def pattern(self) -> str | None:
        """A description in words of the names that are minted below the prefix; None if no pattern is recorded."""
        form = read_form(self.record.pattern or "")
        return form and form.words

    def as_dict(self) -> dict[str, Any]:
        """Return the description as a JSON object.

        The member "persistence" is always present. Other members without a value are omitted.
        """
        record = self.record
        known = {
            "prefix": record.prefix,
            "address": self.address,
            "test": self.reference.is_test or None,
            "who": record.who,
            "what": record.what,
            "contact": record.contact,
            "persistence": self.statement,
            "persistence_source": self.inherited and self.inherited.prefix,
            "pattern": record.pattern,
            "characters": record.characters,
            "rule": record.rule and record.rule.template,
            "hold": self.hold and self.hold.as_dict(),
            "changed": rfc3339(record.changed),
        }
        return {name: value for name, value in known.items() if value is not None}

    @cached_property
    def reference(self) -> Reference:
        """The bibliographic reference of the collection of names, from which the formats for programs are made."""
        texts = {"erc.who": self.record.who, "erc.what": self.record.what, "dc.type": "Collection"}
        recorded = {name: text for name, text in texts.items() if text is not None}
        return reference(self.record.prefix, self.address, recorded, hold=hold_sentence(self.hold))

    @property
    def signposts(self) -> Signposts:
        """The links of the prefix for programs."""
        return Signposts(self.reference, self.formats, collection=self.source)

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("prefix.html", site, view=self)

    def as_text(self) -> bytes:
        """Return the description as an ERC record: the metadata, then the other members, one on each line."""
        members = self.as_dict()
        members.pop("hold", None)
        members |= hold_lines(self.hold)
        if self.reference.is_test:
            members["test"] = TEST
        return erc.serialize(members, self.address, members).encode()


def describe_prefix(
    record: PrefixRecord, root: str, inherited: Inherited | None, hold: Hold | None = None
) -> PrefixDescription:
    """Create the description of a prefix from its record.

    ``root`` is the beginning of links: the resolver prefix, or SCRIPT_NAME. ``inherited`` is the statement of
    persistence of a shorter prefix, or None. ``hold`` is the hold that lasts now, or None.
    """
    return PrefixDescription(record, f"{root}/{record.prefix}", inherited, root, hold)
