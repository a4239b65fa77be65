"""The result of resolution, before it becomes an HTTP response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...bindings.names import naming
from ...bindings.names.binding import Binding, Hold
from ...bindings.names.prefixes.prefixes import NO_STATEMENTS, InheritedStatements, PrefixRecord
from ...identifiers import Ark, Problem, Urn

Identifier = Ark | Urn

Outcome = Literal["located", "related", "described", "served", "metadata", "prefix", "forwarded", "held", "refused"]


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The answer to a request for one identifier.

    ``given``       the identifier as received, with its inflection
    ``status``      the HTTP status. For a served name it is always 200
    ``outcome``     "located", "related" and "described" are redirects, "forwarded" is a redirect to another resolver,
                    "served" passes the request to the site, "metadata" is the description, "prefix" is the record of a
                    NAAN or shoulder, "held" is a redirect to the
                    description because of a hold, "refused" is an error (see ``problem``)
    ``identifier``  the parsed identifier without its inflection; None if it could not be parsed, and for a NAAN
    ``inflection``  the inflection in normal form, with its question mark; "" without one
    ``binding``     the binding of the identifier, or the one made for it by a container or a rule; None if the
                    identifier is not bound
    ``target``      the target of a redirect, or the path of a served name; None leads to the description
    ``query``       the query that a served name passes to the site, without its question mark
    ``vary``        the request header fields that the choice of the target depends on
    ``problem``     the reason of a refusal
    ``container``   if the identifier itself is not bound: the container whose passthrough made the binding, the
                    withdrawn name above it, or else the nearest bound container
    ``below``       the requested ARK, or the nearest one above a text that is not an ARK, if ``identifier`` is
                    that of its container, which answers for it
    ``rule``        the prefix of the rule that made the binding
    ``successor``   the name or URL that replaces the identifier, if it or a name above it is withdrawn
    ``record``      the record of a NAAN or shoulder, for the outcome "prefix", and for "forwarded" if the prefix is
                    delegated; of an unknown identifier that of the
                    longest NAAN or shoulder that it begins with
    ``correction``  the bound name that an unknown identifier probably means
    ``inherited``   the persistence statements that the name inherits from records of prefixes, for a description
    ``hold``        the narrowest hold of the identifier, for the outcome "held" and for a description
    ``fresh_for``   the number of seconds until the answer changes by the clock, because a hold ends (at most 300) or a
                    hidden name becomes live; None if it does not
    ``changes_by_clock`` whether a reserved name that becomes live changes the answer. No client can know it
    ``seconds``     the duration in seconds; set only for ``on_resolve``
    """

    given: str
    status: int
    outcome: Outcome
    identifier: Identifier | None = None
    inflection: str = ""
    binding: Binding | None = None
    target: str | None = None
    query: str | None = None
    vary: tuple[str, ...] = ()
    problem: Problem | None = None
    container: str | None = None
    rule: str | None = None
    below: Ark | None = None
    successor: str | None = None
    record: PrefixRecord | None = None
    correction: str | None = None
    inherited: InheritedStatements = NO_STATEMENTS
    hold: Hold | None = None
    fresh_for: int | None = None
    changes_by_clock: bool = False
    seconds: float | None = None

    if not TYPE_CHECKING:

        def __init__(self, **values: object) -> None:
            # Each request creates one. The __init__ of a frozen dataclass sets the fields one by one, which is slower.
            self.__dict__.update(values)

    @property
    def key(self) -> str | None:
        """The normal form of the requested identifier, the key of its binding. It is None if it could not be parsed."""
        return naming.key(self.identifier) if self.identifier is not None else None
