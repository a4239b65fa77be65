"""The first step of resolution: parse the identifier and its inflection. Nothing is looked up."""

from __future__ import annotations

from typing import NamedTuple

from ...identifiers import Ark, IdentifierError
from ...identifiers.ark import length
from ...identifiers.ark import model as ark
from ...identifiers.text import iri
from ...identifiers.urn import model as urn
from ..bindings import names
from ..bindings.model import Binding
from ..http.negotiation import ANYTHING, Accepted
from ..settings import Settings
from .refusals import refuse
from .result import Identifier, Outcome, Resolution


class ResolutionRequest(NamedTuple):
    """A parsed request for an identifier.

    ``given``       the identifier as received, with its query
    ``identifier``  the parsed identifier, without its query
    ``key``         the normal form, under which the identifier is bound
    ``query``       the query without ignored parameters; None without a question mark
    ``inflection``  the query in normal form, with its question mark; "" without a query
    ``accepted``    the Accept and Accept-Language fields of the client
    """

    given: str
    identifier: Identifier
    key: str
    query: str | None
    inflection: str
    accepted: Accepted = ANYTHING

    @property
    def request_core(self) -> str:
        """The identifier as received, without its query."""
        return self.given.partition("?")[0]

    def answer(
        self,
        binding: Binding,
        status: int,
        outcome: Outcome,
        target: str | None = None,
        *,
        query: str | None = None,
        container: str | None = None,
        vary: tuple[str, ...] = (),
    ) -> Resolution:
        """Return the resolution by a binding of the identifier, or by one that ``container`` made for it."""
        return Resolution(
            given=self.given,
            status=status,
            outcome=outcome,
            identifier=self.identifier,
            inflection=self.inflection,
            binding=binding,
            target=target,
            query=query,
            container=container,
            vary=vary,
        )

    def refuse(
        self,
        code: str,
        *,
        start: int = 0,
        end: int | None = None,
        message: str | None = None,
        binding: Binding | None = None,
        container: str | None = None,
    ) -> Resolution:
        """Return the resolution that refuses this request (:func:`.refusals.refuse`)."""
        return refuse(
            self.given,
            code,
            start=start,
            end=end,
            message=message,
            identifier=self.identifier,
            inflection=self.inflection,
            binding=binding,
            container=container,
        )


def parse_request(given: str, settings: Settings, accepted: Accepted = ANYTHING) -> ResolutionRequest | Resolution:
    """Parse an identifier as received; return a refusal if it is too long or not an identifier."""
    if length.may_refuse(given, settings.max_length):
        # "When a HTTP ARK resolver declines to serve a request for resolution on the basis of length it MUST reply with
        # the HTTP status code 414." A long identifier is neither parsed nor looked up.
        return refuse(given, "too-long")
    core, mark, rest = given.partition("?")
    query = settings.without_ignored(rest) if mark else None
    try:
        # The query is not part of the identifier: request-uri = prefix "/" request-core ["?" query]
        identifier = _parse(core, settings)
    except IdentifierError as error:
        return refuse(given, error.problem)
    key = names.key(identifier)
    if isinstance(identifier, Ark):
        # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
        if identifier.reserved_naan:
            return refuse(given, "naan-reserved-invalid", end=len(core))
        if identifier.dot_segment:
            return refuse(given, "dot-segment", end=len(core))
        return ResolutionRequest(given, identifier, key, query, inflection(query), accepted)
    # RFC 8141, section 2.3: r- and q-components are not part of the name. The URN draft has no such components.
    if query is not None and query.startswith(("+", "=")):
        query = None
    return ResolutionRequest(given, identifier, key, query, inflection(query), accepted)


def _parse(core: str, settings: Settings) -> Identifier:
    if urn.LABEL.match(core):
        return urn.parse(core)
    try:
        return ark.parse(core)
    except IdentifierError as error:
        # a slash at the end is ignored, without a redirect.
        if error.problem.code == "trailing-slash" and settings.ignore_trailing_slash:
            return ark.parse(core[:-1])
        raise


def inflection(query: str | None) -> str:
    """Return a query as an inflection in normal form: with its question mark, or "" without a query.

    >>> inflection(None), inflection(""), inflection("%69nfo%c3")
    ('', '?', '?info%C3')
    """
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs]."
    return "" if query is None else "?" + iri.upper_hex(iri.decode(query, iri.UNRESERVED_TRIPLETS))
