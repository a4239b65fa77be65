"""The record of a NAAN or shoulder as a page, JSON or ERC text: the answer for ``ark:12345/`` and ``ark:12345/x5``.

The actor of the last change is not shown.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ..bindings import metadata
from ..bindings.model import rfc3339
from ..bindings.patterns import read_form
from ..bindings.prefixes import Inherited, PrefixRecord
from . import templates
from .description import FORMS, NO_STATEMENT, link_address, visible

_MAIL = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}")


@dataclass(frozen=True, slots=True)
class PrefixDescription:
    """The description of a prefix.

    ``address`` is the address of the prefix. ``inherited`` is the statement of persistence of a shorter prefix, or
    None. ``root`` is the beginning of links.
    """

    record: PrefixRecord
    address: str
    inherited: Inherited | None
    root: str

    @property
    def is_naan(self) -> bool:
        """Whether the prefix is a NAAN without a shoulder."""
        return self.record.prefix.endswith("/")

    @property
    def statement(self) -> str:
        """The statement of persistence, which can be inherited."""
        return self.record.statement or (self.inherited.text if self.inherited else NO_STATEMENT)

    @property
    def source(self) -> str | None:
        """The address of the prefix whose record has the inherited statement, or None."""
        return self.inherited and f"{self.root}/{self.inherited.prefix}"

    @property
    def contact(self) -> str | None:
        """The address for a link to the contact, or None if it is neither a URL nor an e-mail address."""
        contact = self.record.contact or ""
        return f"mailto:{contact}" if _MAIL.fullmatch(contact) else link_address(contact)

    @property
    def pattern(self) -> str | None:
        """The pattern of minted names in words, or None."""
        form = read_form(self.record.pattern or "")
        return form and form.words

    def as_dict(self) -> dict[str, Any]:
        """Return the members of the JSON object. Unknown members are left out."""
        record = self.record
        known = {
            "prefix": record.prefix,
            "address": self.address,
            "who": record.who,
            "what": record.what,
            "contact": record.contact,
            "persistence": self.statement,
            "persistence_source": self.inherited and self.inherited.prefix,
            "pattern": record.pattern,
            "characters": record.characters,
            "rule": record.rule and record.rule.template,
            "changed": rfc3339(record.changed),
        }
        return {name: value for name, value in known.items() if value is not None}

    def as_html(self) -> bytes:
        return templates.render("prefix.html", view=self, forms=FORMS)

    def as_json(self) -> bytes:
        return json.dumps(self.as_dict(), indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """Return an ERC record: the elements, then the other members, each on one line."""
        members = {name: visible(text) for name, text in self.as_dict().items()}
        others = {name: text for name, text in members.items() if name not in metadata.ELEMENTS}
        return (metadata.erc(members) + "".join(f"{name}: {text}\n" for name, text in others.items())).encode()


def describe_prefix(record: PrefixRecord, root: str, inherited: Inherited | None) -> PrefixDescription:
    """Return the description of a prefix. ``root`` is the beginning of links: the resolver prefix, or SCRIPT_NAME."""
    return PrefixDescription(record, f"{root}/{record.prefix}", inherited, root)
