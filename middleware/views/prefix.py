"""Describe a prefix record: the answer to ``ark:12345/``, ``ark:12345/x5`` or ``urn:nbn:se:uu:`` in several formats.
The actor of the last change is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...bindings.names.binding import Hold, rfc3339
from ...bindings.names.branding.model import contact_address
from ...bindings.names.metadata import metadata, persistence
from ...bindings.names.prefixes.patterns import read_form
from ...bindings.names.prefixes.prefixes import NO_STATEMENTS, InheritedStatements, PrefixRecord, kind_of
from ...identifiers.text import display
from . import templates
from .description import hold_lines, hold_sentence, source_members, sources
from .formats import erc
from .formats.reference import UNKNOWN, Reference, reference
from .formatted import Formatted
from .messages import NO_STATEMENT, TEST
from .presentation import PLAIN, Presentation
from .signposting import Link, Signposts


@dataclass(frozen=True)
class PrefixDescription(Formatted):
    """The description of a NAAN, shoulder or beginning of URNs, for people and programs. ``address`` is that of its
    record, and ``root`` the beginning of links. ``inherited`` are the persistence statements of shorter prefixes, and
    ``hold`` is the hold of the names below it that lasts now.
    """

    record: PrefixRecord
    address: str
    inherited: InheritedStatements
    root: str
    hold: Hold | None = None

    @property
    def kind(self) -> str:
        """The kind of the prefix, such as "NAAN" or "URN namespace"."""
        return kind_of(self.record.prefix)

    @property
    def document_title(self) -> str:
        """The text of the element ``title`` of the page, in one line without hidden characters."""
        return display.visible(" ".join(f"{self.record.what or ''} {self.record.prefix}".split()))

    @property
    def statement(self) -> str:
        """The persistence of the names below the prefix: its statement, an inherited one, or "no statement known"."""
        return self.elements.get("persistence") or self.elements.get("availability", NO_STATEMENT)

    @property
    def has_statement(self) -> bool:
        """True if a statement of persistence is recorded for the prefix or a shorter one. An availability alone does
        not count.
        """
        return "persistence" in self.elements

    @property
    def elements(self) -> dict[str, str]:
        """The persistence statements of the prefix, and those of shorter prefixes, by short names."""
        return metadata.shorten_names({**self.inherited.texts, **self.record.statements})

    @property
    def meanings(self) -> dict[str, str]:
        """The definitions of the terms in the statements, by their short names."""
        return persistence.definitions(self.elements)

    @property
    def sources(self) -> dict[str, str]:
        """The shorter prefixes whose records have the inherited statements, each with its address."""
        return sources(self.inherited, self.root)

    @property
    def policy(self) -> str | None:
        """The address of the policy: that of this record, or of the shorter prefix that has one, or None."""
        if self.record.has_policy:
            return self.address
        return self.inherited.policy and f"{self.root}/{self.inherited.policy}"

    @property
    def contact(self) -> str | None:
        """The address of the link to the contact of the institution. It is None for a contact that is another text."""
        return contact_address(self.record.contact or "")

    @property
    def pattern(self) -> str | None:
        """A description in words of the names that are minted below the prefix, or None."""
        form = read_form(self.record.pattern or "")
        return form and form.words

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON object. The member "persistence" is always present; others without a value are omitted."""
        record = self.record
        members = {
            "prefix": record.prefix,
            "address": self.address,
            "test": self.reference.is_test or None,
            "who": record.who,
            "what": record.what,
            "contact": record.contact,
            "persistence": self.statement,
            "availability": self.elements.get("availability"),
            "variance": self.elements.get("variance"),
            "may_change": record.may_change,
            "at_end": record.at_end,
            "policy": self.policy,
            **source_members(self.inherited),
            "state": record.state,
            "resolver": record.resolver,
            "minter": record.minter,
            "about": record.about,
            "predecessors": [{k: v for k, v in each.as_dict().items() if v} for each in record.predecessors] or None,
            "pattern": record.pattern,
            "characters": record.characters,
            "rule": record.rule and record.rule.template,
            "hold": self.hold and self.hold.as_dict(),
            "changed": rfc3339(record.changed),
        }
        return {name: value for name, value in members.items() if value is not None}

    @cached_property
    def reference(self) -> Reference:
        """The bibliographic reference of the collection of names, from which the formats for programs are made."""
        texts = {"erc.who": self.record.who, "erc.what": self.record.what, "dc.type": "Collection"}
        recorded = {name: text for name, text in texts.items() if text is not None}
        statements = {**self.inherited.texts, **self.record.statements}
        return reference(
            self.record.prefix,
            self.address,
            recorded,
            hold=hold_sentence(self.hold),
            statements=statements,
            policy=self.policy,
        )

    @property
    def signposts(self) -> Signposts:
        """The links from the description of the prefix to related resources, for programs."""
        longest = next(iter(self.sources.values()), None)
        further = (Link("terms-of-service", self.policy),) if self.policy else ()
        return Signposts(self.reference, self.formats, collection=longest, further=further)

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("prefix.html", site, view=self)

    def as_text(self) -> bytes:
        """Return the description as an ERC record: the metadata, then the other members, one on each line."""
        members = self.as_dict()
        members.pop("hold", None)
        members |= hold_lines(self.hold)
        if self.reference.is_test:
            members["test"] = TEST
        if before := self.record.predecessors:
            members["predecessors"] = "; ".join(f"{each.who or UNKNOWN}, until {each.until}" for each in before)
        return erc.serialize(members, self.address, members).encode()


def describe_prefix(
    record: PrefixRecord, root: str, inherited: InheritedStatements = NO_STATEMENTS, hold: Hold | None = None
) -> PrefixDescription:
    """Create the description of a prefix from its record."""
    return PrefixDescription(record, f"{root}/{record.prefix}", inherited, root, hold)
