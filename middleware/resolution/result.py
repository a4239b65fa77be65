"""What a resolver is asked, and what it answers: the values that the steps of resolution hand to one another."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...identifiers import Ark, Problem, Urn
from ..bindings import names
from ..bindings.model import Binding
from ..http.negotiation import ANYTHING, Accepted
from .refusals import status_of

Identifier = Ark | Urn

Outcome = Literal["located", "related", "described", "served", "metadata", "forwarded", "refused"]


class Resolution(NamedTuple):
    """What is answered for one identifier.

    ``given``       the identifier as received, with its inflection
    ``status``      the HTTP status; of a served answer 200, though the site may answer otherwise
    ``outcome``     what is done: "located", "related" and "described" redirect, "forwarded" does so to another
                    resolver, "served" hands over to the site, "metadata" describes, "refused" says why not (see
                    ``problem``)
    ``identifier``  what was read, without its inflection; None where nothing could be read
    ``inflection``  in normal form, with its question mark; "" where there is none
    ``binding``     what the answer rests on, of the identifier itself or made for it; None where nothing is bound
    ``target``      where a redirect leads or which path of the site answers; None leads to the description
    ``query``       what a served binding hands on to the site, without its question mark
    ``vary``        the fields of the request that the target was, or could have been, chosen by
    ``problem``     why the answer is a refusal
    ``container``   where the identifier itself is not bound: the container that let it through, the withdrawn name
                    above it, or else the nearest that is bound
    ``rule``        the prefix of the rule that made the binding, where one did
    ``seconds``     how long it took to find and to tell, where somebody asked (``on_resolve``)
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
    seconds: float | None = None

    @property
    def key(self) -> str | None:
        """The normal form under which the identifier is bound and found, or None where it could not be read."""
        return names.key(self.identifier) if self.identifier is not None else None


class Asked(NamedTuple):
    """A request that was understood: what for, with which inflection, and what is accepted."""

    given: str
    identifier: Identifier
    key: str
    query: str | None
    inflection: str
    accepted: Accepted = ANYTHING


def refuse(
    given: str,
    problem: Problem,
    *,
    asked: Asked | None = None,
    binding: Binding | None = None,
    container: str | None = None,
) -> Resolution:
    """The resolution that says why there is no other one."""
    identifier, inflection = (asked.identifier, asked.inflection) if asked else (None, "")
    return Resolution(
        given=given,
        status=status_of(problem.code),
        outcome="refused",
        identifier=identifier,
        inflection=inflection,
        binding=binding,
        problem=problem,
        container=container,
    )


def found(
    asked: Asked,
    binding: Binding,
    status: int,
    outcome: Outcome,
    target: str | None,
    query: str | None,
    container: str | None,
    vary: tuple[str, ...] = (),
) -> Resolution:
    """The answer by a binding, of the identifier itself or made for it by ``container``."""
    return Resolution(
        given=asked.given,
        status=status,
        outcome=outcome,
        identifier=asked.identifier,
        inflection=asked.inflection,
        binding=binding,
        target=target,
        query=query,
        container=container,
        vary=vary,
    )
