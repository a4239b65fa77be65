"""The first step of resolution: what is asked for, or why it cannot be. Nothing is looked up yet."""

from __future__ import annotations

from ...identifiers import Ark, IdentifierError
from ...identifiers.ark import length
from ...identifiers.ark import model as ark
from ...identifiers.text import iri
from ...identifiers.urn import model as urn
from ..bindings import names
from ..http.negotiation import ANYTHING, Accepted
from ..settings import Settings
from .refusals import refusal
from .result import Asked, Identifier, Resolution, refuse


def understand(given: str, settings: Settings, accepted: Accepted = ANYTHING) -> Asked | Resolution:
    """What is asked for, or the refusal of what cannot be asked for."""
    if length.may_refuse(given, settings.max_length):
        # "When a HTTP ARK resolver declines to serve a request for resolution on the basis of length it MUST reply with
        # the HTTP status code 414."  What is long is neither read nor looked up.
        return refuse(given, refusal("too-long", 0, len(given)))
    core, mark, rest = given.partition("?")
    query = settings.without_ignored(rest) if mark else None
    try:
        # The query is no part of what has to be an identifier: request-uri = prefix "/" request-core ["?" query]
        identifier = _read(core, settings)
    except IdentifierError as error:
        return refuse(given, error.problem)
    key = names.key(identifier)
    whole = 0, len(core)
    if isinstance(identifier, Ark):
        # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
        if identifier.reserved_naan:
            return refuse(given, refusal("naan-reserved-invalid", *whole))
        if identifier.dot_segment:
            return refuse(given, refusal("dot-segment", *whole))
        return Asked(given, identifier, key, query, inflection(query), accepted)
    # RFC 8141, section 2.3: r- and q-components take no part in what is named. The draft has no such thing.
    if query is not None and query.startswith(("+", "=")):
        query = None
    return Asked(given, identifier, key, query, inflection(query), accepted)


def _read(core: str, settings: Settings) -> Identifier:
    if urn.LABEL.match(core):
        return urn.parse(core)
    try:
        return ark.parse(core)
    except IdentifierError as error:
        # a slash at the end is let go, with no redirect to say so.
        if error.problem.code == "trailing-slash" and settings.ignore_trailing_slash:
            return ark.parse(core[:-1])
        raise


def inflection(query: str | None) -> str:
    """The inflection that a query is, in normal form: with its question mark, or "" where there is no query.

    >>> inflection(None), inflection(""), inflection("%69nfo%c3")
    ('', '?', '?info%C3')
    """
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs]."
    return "" if query is None else "?" + iri.upper_hex(iri.decode(query, iri.UNRESERVED_TRIPLETS))
