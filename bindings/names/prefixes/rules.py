"""Rules: templates that make targets for the unbound names of a NAAN, a shoulder or the beginning of URNs. The rule
with the longest matching prefix applies (:mod:`.rule_cache`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ....identifiers.text import iri
from ..binding import Binding, rfc3339
from ..fields import Fields


@dataclass(frozen=True, slots=True)
class Rule:
    """A redirect rule: a template that makes the targets of all unbound names that begin with ``prefix``. ``template``
    has a variable (:mod:`.rule_templates`). ``redirect`` is 302 or 307, and ``changed`` the time of the last change in
    UTC.
    """

    prefix: str
    template: str
    redirect: int
    changed: datetime
    actor: str | None

    def as_dict(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in self.__slots__}
        return row | {"changed": rfc3339(self.changed)}

    def binding(self, key: str, given: str = "") -> Binding | None:
        """Return the binding that the rule makes for an unbound name below its prefix, or None for an invalid target.
        ``given`` is the name as received, for variables with ``:given``; the default is ``key``.
        """
        # All spellings of a name have the same key. Only variables with ":given" depend on the spelling.
        # The module loads the registries, which a command that shows a name does not need.
        from .rule_templates import expand

        address = expand(self.template, key, self.prefix, given or key)
        if address is None or iri.has_dot_segment(address.partition("#")[0].partition("?")[0]):
            return None
        fields = Fields(kind="located", target=address, redirect=self.redirect, spelling=key, key=key)
        return fields.create_binding(self.changed)


class RuleMatch(NamedTuple):
    """The result of a redirect rule for an unbound name: the binding that it makes, and its prefix."""

    binding: Binding
    prefix: str


class RuleEvent(NamedTuple):
    """A change of a redirect rule: ``action`` is "set" or "removed". Template and status are those after it, or
    None.
    """

    action: Literal["set", "removed"]
    prefix: str
    template: str | None
    redirect: int | None
    when: datetime
    actor: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values: ``when`` is a text of RFC 3339."""
        return self._asdict() | {"when": rfc3339(self.when)}
