"""The description of a bound identifier: the answer to ``?info``, ``??`` and ``?`` in several formats.

    "The ARK system reserves the inflection ?info to request metadata about the referent of an ARK and the association
    of the ARK with its referent, including any relevant persistence statement."      (ARK draft, section 3.4)

Only the element persistence is always present: without a statement its value is "no statement known" (ARK-007). The
description of a withdrawn name is its tombstone, a part of its error page (410, :mod:`.error_page`).
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup

from ...bindings.names.binding import NOTHING, Binding, Hold, Numbers, rfc3339
from ...bindings.names.errors import BindingError
from ...bindings.names.metadata import datacite_and_schema_checks, metadata, persistence
from ...bindings.names.prefixes.prefixes import NO_STATEMENTS, InheritedStatements
from ...bindings.names.targets import location
from ...identifiers.text import display
from . import messages, templates
from .formats import erc
from .formats.reference import Reference, reference, without_code
from .formatted import Formatted
from .messages import NO_STATEMENT
from .presentation import PLAIN, Presentation
from .signposting import Link, Signposts

if TYPE_CHECKING:
    from ...bindings.names.binding import LoggedName

_MAX_CREATORS = 6
_MAX_SUMMARY = 300
_MAX_DRAWN = 300


@dataclass(frozen=True)
class Description(Formatted):
    """The description of a name for people and programs: the answer to ``?info``.

    - ``address``: the URL of the identifier at this resolver; ``root``: the beginning of links.
    - ``place``: the address of its target, or None.
    - ``through``, ``rule``: the container, or the prefix of the rule, that made the binding, or None. With a rule, the
      date is the time of its last change.
    - ``inflections``: those of the site with their descriptions (ARK-044).
    - ``inherited``: the persistence statements of prefix records, for a name without its own.
    - ``logged``: the place of the name in the public log. ``has_numbers``: whether it shows the numbers of the thing.
    - ``hold``: the hold of the name, or of a name or prefix above it, that lasts now; or None.
    """

    binding: Binding
    address: str
    place: str | None
    through: str | None = None
    inflections: Mapping[str, str] = field(default_factory=dict)
    rule: str | None = None
    root: str = ""
    inherited: InheritedStatements = NO_STATEMENTS
    logged: LoggedName | None = None
    hold: Hold | None = None
    has_numbers: bool = False

    @property
    def numbers(self) -> Numbers:
        """The public numbers of the thing, without former ones. A withdrawn name, or one without a record, has none."""
        is_public = self.has_numbers and self.binding.is_live and self.through is None and self.rule is None
        return self.binding.thing_numbers._replace(former=()) if is_public else Numbers(None)

    @property
    def elements(self) -> dict[str, str]:
        """The metadata, with inherited statements, by short names such as ``who``. ``persistence`` is always present:
        by default the availability or "no statement known".
        """
        texts = {**self.inherited.texts, **self.binding.metadata}
        # An availability is a statement, too.
        implied = texts.get("erc.availability", NO_STATEMENT)
        return metadata.shorten_names({"erc.persistence": implied, **texts})

    @property
    def _with_kernel(self) -> dict[str, str]:
        """The elements with who, what and when from the other metadata, where ERC has none."""
        reference = self.reference
        derived = {"who": "; ".join(reference.creators), "what": reference.title or "", "when": reference.date or ""}
        return {name: text for name, text in derived.items() if text} | self.elements

    @property
    def title(self) -> str | None:
        """The title of the resource from any metadata, without a code such as ``(:unav)``; or None."""
        return metadata.without_code(self.elements.get("what", "")) or self.reference.title

    @property
    def citation_elements(self) -> list[tuple[str, str]]:
        """The names and contents of the elements ``meta`` that reference managers read. A content is one line, and
        hidden characters are escaped. A withdrawn name, a name for tests, and one without a title have none.
        """
        reference = self.reference
        if not reference.title or not self.binding.is_live or self.binding.is_test:
            return []
        elements = [("citation_title", reference.title), *(("citation_author", name) for name in reference.creators)]
        others = {
            "citation_publication_date": reference.written_date
            or "/".join([reference.year or "", *(f"{part:02}" for part in reference.issued[1:])]),
            "citation_publisher": reference.publisher,
            "citation_language": reference.language,
            "citation_public_url": self.address,
            "citation_abstract": reference.description,
            "DC.type": reference.type and reference.type.zotero,
            "DC.rights": reference.licence,
            "DCTERMS.accessRights": reference.access,
        }
        elements += [(name, text) for name, text in others.items() if text]
        elements += [("DC.relation", text) for _, text in reference.relations]
        elements += [("citation_keywords", subject) for subject in reference.subjects]
        return [(name, display.visible(" ".join(text.split()))) for name, text in elements]

    @property
    def has_statement(self) -> bool:
        """True if a statement of persistence or an availability is recorded for the name, or for its prefixes."""
        texts = {**self.inherited.texts, **self.binding.metadata}
        return "erc.persistence" in texts or "erc.availability" in texts

    @property
    def is_promised(self) -> bool:
        """True if the availability of the name, or its statement, promises that the name is persistent (ARK-007)."""
        elements = self.elements
        return persistence.is_promised(elements.get("availability"), elements["persistence"])

    @property
    def sources(self) -> dict[str, str]:
        """The NAANs and shoulders whose records have the inherited statements, each with its address."""
        return sources(self.inherited, self.root)

    @property
    def host(self) -> str:
        """The host name to which the link to the item leads, or "" if it is this resolver."""
        return urlsplit(self.place).hostname or "" if self.place else ""

    @property
    def open(self) -> str | None:
        """The label of the link to the item, such as "Open the item". It is None for a withdrawn name, one on hold, and
        an item without a page.
        """
        if self.hold is not None:
            return None
        if not self.binding.is_live or (self.binding.kind in ("located", "related") and self.place is None):
            return None
        return messages.OPEN.get(self.binding.kind)

    def citation_text(self, institution: str | None) -> str | None:
        """The reference to the item for a list of sources: who, year, title, institution and address. It is None
        without a title, for a withdrawn name and for a name for tests.
        """
        if not self.title or not self.binding.is_live or self.binding.is_test:
            return None
        return citation(replace(self.reference, title=self.title), institution, self.address)

    def qr_code(self) -> Markup | None:
        """The address as a QR code in SVG, or None if it is too long or segno is not installed."""
        return qr_code(self.address) if self.address.startswith("http") else None

    @property
    def summary(self) -> str:
        """The line about the name for search engines: its description, or who, when and where, or the identifier. It is
        "" if reference managers read the page and no description is recorded: Zotero keeps it as the abstract.
        """
        if self.citation_elements:
            return display.visible(" ".join((self.reference.description or "").split()))[:_MAX_SUMMARY]
        texts = (self._with_kernel.get(name, "") for name in ("who", "when", "where"))
        line = ". ".join(text for text in map(without_code, texts) if text)
        return display.visible(" ".join((line or self.binding.identifier).split()))[:_MAX_SUMMARY]

    @property
    def document_title(self) -> str:
        """The text of the element ``title`` of the page, in one line without hidden characters."""
        return display.visible(" ".join((self.title or self.binding.identifier).split()))

    @property
    def association(self) -> str:
        """The relation between the identifier and its resource, as a sentence or as the text before the target."""
        return messages.ASSOCIATIONS[self.binding.kind]

    @property
    def policy(self) -> str | None:
        """The address of the naming authority's policy: the recorded one, or the record of a NAAN or shoulder with a
        policy. It is None without a policy, and if the recorded one is not an address (ARK-034).
        """
        if "erc.policy" in self.binding.metadata:
            return link_address(self.binding.metadata["erc.policy"])
        return self.inherited.policy and f"{self.root}/{self.inherited.policy}"

    def link_of(self, value: str) -> str | None:
        """Return the address of the link for a metadata value that is a URL, such as that of a licence, or None."""
        return link_address(value) if value.startswith(("http://", "https://")) and " " not in value else None

    @property
    def about(self) -> tuple[str, ...]:
        """The short names of the recorded kernel elements about the resource, such as "who". The title is omitted if it
        is the heading.
        """
        is_heading = bool(metadata.without_code(self.elements.get("what", "")))
        return tuple(each for each in self.elements if each in metadata.KERNEL and not (each == "what" and is_heading))

    @property
    def recorded(self) -> tuple[str, ...]:
        """The names of the elements that the page of a withdrawn name shows: about the resource, promises, and others.
        The title is omitted.
        """
        # An availability implies the statement, which would repeat it.
        repeats = self.elements["persistence"] == self.elements.get("availability")
        stated = (element for element in self.promised if element != "persistence" or not repeats)
        return (*self.about, *stated, *self.others)

    @property
    def promised(self) -> tuple[str, ...]:
        """The short names of the recorded elements that state how long the name and its resource last."""
        return tuple(element for element in self.elements if element in metadata.STATEMENTS)

    @property
    def meanings(self) -> Mapping[str, str]:
        """Notes for the page, by the short name of the element: the meaning of the element or of its term."""
        notes = messages.MEANINGS | persistence.definitions(self.elements)
        if not self.has_statement:
            live, withdrawn = messages.NO_STATEMENT_LIVE, messages.NO_STATEMENT_WITHDRAWN
            notes["persistence"] = live if self.binding.is_live else withdrawn
        return notes

    @property
    def citation(self) -> str | None:
        """The sentence that asks to cite the identifier (ARK-007, ARK-009). None for a withdrawn name, for a name for
        tests, and for a name without a promise: an availability such as "lifetime".
        """
        if not self.binding.is_live or not self.is_promised or self.binding.is_test:
            return None
        return f"Please use the persistent identifier {self.binding.identifier} to reference this page."

    @cached_property
    def reference(self) -> Reference:
        """The bibliographic reference, from which the formats for programs are made."""
        binding = self.binding
        return reference(
            binding.identifier,
            self.address,
            binding.metadata,
            target=self.item,
            withdrawal=self.withdrawal,
            hold=hold_sentence(self.hold),
            statements=self.inherited.texts,
            policy=self.policy,
            numbers=tuple(filter(None, (self.numbers.current, *self.numbers.further))),
        )

    @property
    def withdrawal(self) -> str | None:
        """The sentence that the name is withdrawn, followed by the recorded reason. It is None for another name."""
        if not self.binding.is_withdrawn:
            return None
        return f"This identifier was withdrawn. {self.binding.reason or ''}".rstrip()

    @property
    def proof(self) -> str:
        """The address of the proof that the last published change of the name is in the public log."""
        return f"{self.address}?proof"

    @property
    def log_page(self) -> str | None:
        """The address of the page about the public log. It is None for a name that is not in a log."""
        return self.logged and f"{self.root}{self.logged.page}"

    @property
    def log(self) -> dict[str, str | int] | None:
        """The place of the name in the public log as a JSON object. It is None for a name that is not in the log."""
        if self.logged is None:
            return None
        since, witnesses = rfc3339(self.logged.since), self.logged.witnesses
        return {"entry": self.logged.entry, "since": since, "witnesses": witnesses, "proof": self.proof}

    @property
    def item(self) -> str | None:
        """The address of the resource itself. It is None if only a page about the resource is known."""
        return self.place if self.binding.kind == "located" else None

    @property
    def signposts(self) -> Signposts:
        """The links from the description to related resources, for programs (FAIR Signposting)."""
        links = (("successor-version", self.successor), ("terms-of-service", self.policy))
        further = tuple(Link(rel, address) for rel, address in links if address is not None)
        container = self.through and f"{self.root}/{self.through}"
        return Signposts(self.reference, self.formats, self.item, container, further)

    @property
    def successor(self) -> str | None:
        """The address of the name or page that replaces the withdrawn name. It is None if no successor is recorded."""
        return self.binding.successor and successor_address(self.binding.successor, self.root)

    @property
    def spelling(self) -> str | None:
        """The published spelling of the name, or None if it is the normal form."""
        return None if self.binding.spelling == self.binding.identifier else self.binding.spelling

    @property
    def others(self) -> dict[str, str]:
        """The metadata elements with another name of two parts, such as ``dc.title``, with their texts."""
        documents = datacite_and_schema_checks.CHECKS
        own = "ezid-setting."  # a setting of the API of EZID, not metadata
        return {
            name: text
            for name, text in self.elements.items()
            if "." in name and name not in documents and not name.startswith(own)
        }

    @property
    def documents(self) -> dict[str, str]:
        """The metadata elements ``datacite`` (XML) and ``schema`` (JSON), with their texts."""
        return {name: text for name, text in self.elements.items() if name in datacite_and_schema_checks.CHECKS}

    def as_dict(self) -> dict[str, Any]:
        """Return the description as a JSON object with short names of metadata. Members without a value are omitted."""
        members = {
            "identifier": self.binding.identifier,
            "address": self.address,
            "status": self.binding.status,
            "test": self.binding.is_test or None,
            "reason": self.binding.reason,
            "successor": self.successor,
            "spelling": self.spelling,
            "kind": self.binding.kind,
            "target": self.place,
            "through": self.through,
            "rule": self.rule,
            "created": rfc3339(self.binding.created),
            "changed": rfc3339(self.binding.changed),
            "numbers": {"current": self.numbers.current, "further": [*self.numbers.further]}
            if any(self.numbers)
            else None,
            "hold": self.hold and self.hold.as_dict(),
            "citation": self.citation,
            "metadata": self.elements,
            **source_members(self.inherited),
            "policy": self.policy,
            "log": self.log,
            "inflections": dict(self.inflections) or None,
        }
        return {name: value for name, value in members.items() if value is not None}

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("description.html", site, view=self)

    def as_text(self) -> bytes:
        """Return the description as an ERC record: the metadata, then the fields of the binding, one on each line."""
        objects = ("metadata", "log", "hold", "numbers", "inflections")
        about = {name: value for name, value in self.as_dict().items() if name not in objects}
        about |= {"test": messages.TEST} if self.binding.is_test else {}
        about |= hold_lines(self.hold)
        about |= {f"log_{name}": str(value) for name, value in (self.log or {}).items()}
        return erc.serialize(self._with_kernel, self.address, about | dict(self.inflections)).encode()


def hold_sentence(hold: Hold | None) -> str | None:
    """Return the sentence that the redirect of a name is on hold, with the reason, or None without a hold.

    >>> from datetime import UTC, datetime
    >>> hold_sentence(Hold("ark:12345/x", datetime(2027, 3, 2, tzinfo=UTC), "A court order."))
    'The redirect of this identifier is on hold until 2027-03-02T00:00:00.000000Z. A court order.'
    """
    if hold is None:
        return None
    sentence = f"The redirect of this identifier is on hold until {rfc3339(hold.until)}."
    return f"{sentence} {hold.reason or ''}".rstrip()


def hold_lines(hold: Hold | None) -> dict[str, str]:
    """Return the lines about a hold in the text form of a description, by their labels, or {} without a hold."""
    members = {} if hold is None else hold.as_dict()
    return {f"hold_{name}": str(value) for name, value in members.items() if value is not None}


def sources(inherited: InheritedStatements, root: str) -> dict[str, str]:
    """Return the NAANs and shoulders from which a name inherits statements, each with the address of its record."""
    return {prefix: f"{root}/{prefix}" for prefix in source_members(inherited).values()}


def source_members(inherited: InheritedStatements) -> dict[str, str]:
    """Return the NAAN or shoulder of each inherited statement, as members of a JSON object.

    >>> from ararat.bindings.names.prefixes.prefixes import InheritedText
    >>> source_members(InheritedStatements(availability=InheritedText("lifetime", "ark:12345/")))
    {'availability_source': 'ark:12345/'}
    """
    return {f"{element}_source": each.prefix for element, each in inherited.by_element.items()}


# Two years, such as 1912/1914 and 1912-05-01/1914-08-02. A comma or a hyphen in a date is not a period.
_PERIOD = re.compile(r"([0-9]{4})(?:-[0-9]{2}){0,2}\s?(?:/|\.\.|-|\u2013|\u2014)\s?([0-9]{4})(?![0-9])")


def citation(reference: Reference, institution: str | None, address: str) -> str:
    """Return a bibliographic reference as one line of text for a list of sources, with the institution as publisher and
    the URL of the name.

    >>> from types import SimpleNamespace
    >>> book = SimpleNamespace(title="A map", creators=("Noah", "Sem"), year="1912", date="1912", publisher=None)
    >>> citation(book, "The Library", "https://example.org/ark:12345/x")
    'Noah; Sem (1912). A map. The Library. https://example.org/ark:12345/x'
    """
    who = "; ".join(reference.creators[:_MAX_CREATORS]) + (" et al." if len(reference.creators) > _MAX_CREATORS else "")
    period = _PERIOD.match(reference.date or "")
    year = f"({period[1]}\u2013{period[2]})" if period else f"({reference.year})" if reference.year else ""
    parts = [" ".join(filter(None, (who, year))), reference.title or "", reference.publisher or institution or ""]
    return " ".join([*(f"{part.rstrip('.')}." for part in parts if part), address])


@lru_cache(256)
def qr_code(address: str) -> Markup | None:
    """Return the address of a name as a QR code in SVG, or None for a long or non-ASCII one, or without segno."""
    try:
        import segno
    except ImportError:
        return None
    if len(address) > _MAX_DRAWN or not address.isascii():
        return None
    picture = io.BytesIO()
    options = {"kind": "svg", "xmldecl": False, "svgns": False, "omitsize": True, "nl": False, "lineclass": None}
    segno.make_qr(address, error="m").save(picture, svgclass="qr", **options)
    return Markup(picture.getvalue().decode())  # noqa: S704 - made of numbers


def describe(
    binding: Binding,
    root: str,
    through: str | None = None,
    inflections: Mapping[str, str] = NOTHING,
    rule: str | None = None,
    inherited: InheritedStatements = NO_STATEMENTS,
    logged: LoggedName | None = None,
    hold: Hold | None = None,
    *,
    has_numbers: bool = False,
) -> Description:
    """Create the description of a binding. With a hold, it does not show the target."""
    address, place = f"{root}/{binding.identifier}", None if hold else _place(binding, root)
    return Description(
        binding, address, place, through, inflections, rule, root, inherited, logged, hold, has_numbers=has_numbers
    )


def successor_address(successor: str, root: str) -> str:
    """Return the address of the successor of a withdrawn name: a URL unchanged, and a name at this resolver.

    >>> successor_address("ark:12345/y", "https://example.org"), successor_address("https://example.net/", "")
    ('https://example.org/ark:12345/y', 'https://example.net/')
    """
    return successor if successor.startswith("http") else f"{root}/{successor}"


def _place(binding: Binding, root: str) -> str | None:
    if not binding.is_live or binding.kind not in ("located", "related"):
        return None
    return link_address(binding.target or "", root)


def link_address(text: str, root: str = "") -> str | None:
    """Return the address of a link to ``text``, or None if the text cannot be the target of a binding. ``root`` is put
    before a path.

    >>> link_address("https://example.org/policy"), link_address("See our policy.")
    ('https://example.org/policy', None)
    """
    try:
        return location(text, root)
    except BindingError:
        return None
