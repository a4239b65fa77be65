"""Parse a requested identifier and its inflection: the first step of resolution, without a lookup."""

from __future__ import annotations

from typing import NamedTuple

from ...bindings.names import naming
from ...identifiers import Ark, IdentifierError, Problem
from ...identifiers.ark import length
from ...identifiers.ark import parser as ark
from ...identifiers.text import iri
from ...identifiers.urn import parser as urn
from ...identifiers.urn.grammar import LABEL as URN_LABEL
from .negotiation import ANYTHING, Accepted
from .refusals import problem
from .result import Identifier
from .settings import Settings


class ResolutionRequest(NamedTuple):
    """A request for an identifier after parsing. ``identifier`` is without its query. ``query`` is without ignored
    parameters, or the q-component of a URN. ``inflection`` is the query in normal form, with its question mark; ""
    without one.
    """

    given: str
    identifier: Identifier
    key: str
    query: str | None
    inflection: str
    accepted: Accepted = ANYTHING

    @property
    def core(self) -> str:
        """The requested identifier as received, without its query."""
        return self.given.partition("?")[0]


def parse_request(given: str, settings: Settings, accepted: Accepted = ANYTHING) -> ResolutionRequest | Problem:
    """Parse a requested identifier with its query. Return a problem if it is too long or not an identifier."""
    if length.may_refuse(given, settings.max_length):
        # "When a HTTP ARK resolver declines to serve a request for resolution on the basis of length it MUST reply with
        # the HTTP status code 414." A long identifier is neither parsed nor looked up.
        return problem("too-long", given)
    core, mark, rest = given.partition("?")
    query = settings.without_ignored(rest) if mark else None
    try:
        # The query is not part of the identifier: request-uri = prefix "/" request-core ["?" query]
        identifier = _parse(core, settings)
    except IdentifierError as error:
        return error.problem
    if isinstance(identifier, Ark):
        # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
        if settings.refuses_naan(identifier):
            return problem("naan-reserved-invalid", given)
        if identifier.dot_segment:
            return problem("dot-segment", given)
    elif rest.startswith(("+", "=")):
        # a q-component is never an inflection, also "?=info".
        return ResolutionRequest(given, identifier, naming.key(identifier), q_component(rest), "", accepted)
    return ResolutionRequest(given, identifier, naming.key(identifier), query, inflection(query), accepted)


def _parse(core: str, settings: Settings) -> Identifier:
    if URN_LABEL.match(core):
        return urn.parse(core)
    try:
        return ark.parse(core)
    except IdentifierError as error:
        # a slash at the end is ignored, without a redirect.
        if error.problem.code == "trailing-slash" and settings.ignore_trailing_slash:
            return ark.parse(core[:-1])
        raise


def q_component(query: str) -> str | None:
    """Return the q-component in the query of a URN, which is for the resource, or None. An r-component before it, which
    is for a resolver, is omitted: it has no defined parameters. Source: RFC 8141, section 2.3.

    >>> q_component("=op=map&lat=39"), q_component("+r?=q"), q_component("+r"), q_component("=")
    ('op=map&lat=39', 'q', None, None)
    """
    component = query[1:] if query.startswith("=") else query.partition("?=")[2]
    return component or None


def without_final_dot(request: ResolutionRequest, settings: Settings) -> ResolutionRequest | None:
    """Return the request for an ARK without the dots at its end, mostly the full stop of a sentence (A-13). Return None
    without a dot there, or without ``settings.ignore_trailing_slash``.

    >>> dotless = without_final_dot(parse_request("ark:12345/x.?info", Settings()), Settings())
    >>> dotless.given, dotless.key
    ('ark:12345/x?info', 'ark:12345/x')
    """
    text = request.identifier.text
    if text[-1:] != "." or not settings.ignore_trailing_slash or not isinstance(request.identifier, Ark):
        return None
    try:
        identifier = ark.parse(text.rstrip("."))
    except IdentifierError:
        return None
    given = identifier.text + request.given[len(request.core) :]
    return request._replace(given=given, identifier=identifier, key=naming.key(identifier))


def inflection(query: str | None) -> str:
    """Return the inflection in a query, in normal form with its question mark. It is "" without a query (None).

    >>> inflection(None), inflection(""), inflection("%69nfo%c3")
    ('', '?', '?info%C3')
    """
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs]."
    return "" if query is None else "?" + iri.upper_hex(iri.decode(query, iri.UNRESERVED_TRIPLETS))
