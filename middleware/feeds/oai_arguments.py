"""Read and check the arguments of an OAI-PMH request (sections 2.5, 2.7.1 and 4 of the specification), from the query
or from a form. Repeated, unknown, empty and malformed arguments, and wrong combinations, are errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Literal, get_args

Code = Literal[
    "badArgument",
    "badResumptionToken",
    "badVerb",
    "cannotDisseminateFormat",
    "idDoesNotExist",
    "noMetadataFormats",
    "noRecordsMatch",
    "noSetHierarchy",
]


class OaiError(Exception):
    """An error in a request of OAI-PMH, which the answer reports. ``code`` is one of the specification, such as
    "badArgument". ``message`` is for the operator.
    """

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


Verb = Literal["GetRecord", "Identify", "ListIdentifiers", "ListMetadataFormats", "ListRecords", "ListSets"]
VERBS: tuple[Verb, ...] = get_args(Verb)

METADATA_PREFIX = "oai_dc"
"""The only metadata format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    exclusive: str | None = None


_LIST = _Arguments(
    required=frozenset({"metadataPrefix"}),
    optional=frozenset({"from", "until", "set"}),
    exclusive="resumptionToken",
)
_OF_VERB: Mapping[Verb, _Arguments] = MappingProxyType(
    {
        "GetRecord": _Arguments(required=frozenset({"identifier", "metadataPrefix"})),
        "Identify": _Arguments(),
        "ListIdentifiers": _LIST,
        "ListMetadataFormats": _Arguments(optional=frozenset({"identifier"})),
        "ListRecords": _LIST,
        "ListSets": _Arguments(exclusive="resumptionToken"),
    }
)

# The patterns are those of the types in OAI-PMH.xsd: metadataPrefixType, setSpecType, UTCdatetimeType.
_MARKED = r"[A-Za-z0-9\-_.!~*'()]+"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}Z)?")
_SYNTAX = {
    "metadataPrefix": re.compile(_MARKED),
    "set": re.compile(rf"{_MARKED}(?::{_MARKED})*"),
    "from": _DATE,
    "until": _DATE,
    # RFC 3986: scheme ":", then characters of a URI.
    "identifier": re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+"),
    "resumptionToken": re.compile(r"[\x21-\x7e]+"),
}
_MAX_LENGTH = 8000
_DAY = len("2026-11-23")


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """The names that a harvester requests by OAI-PMH: those of a set, a setSpec, with a change in a period. ``since``
    is included, ``before`` is not, both in UTC. None means no condition.
    """

    since: datetime | None = None
    before: datetime | None = None
    set: str | None = None


def read(pairs: Sequence[tuple[str, str]]) -> tuple[Verb, Mapping[str, str]]:
    """Check the arguments of an OAI-PMH request. Return its verb, and its other arguments by name. Raises
    :class:`OaiError` with the code ``badVerb`` or ``badArgument``.

    >>> read([("verb", "GetRecord"), ("identifier", "ark:12345/x"), ("metadataPrefix", "oai_dc")])
    ('GetRecord', {'identifier': 'ark:12345/x', 'metadataPrefix': 'oai_dc'})
    """
    verb = _verb([value for name, value in pairs if name == "verb"])
    others = [(name, value) for name, value in pairs if name != "verb"]
    arguments = dict(others)
    expected = _OF_VERB[verb]
    for name, value in others:
        if name not in expected.required | expected.optional | {expected.exclusive}:
            raise OaiError("badArgument", f"{verb} has no argument of this name; remove it")
        if [each for each, _ in others].count(name) > 1:
            raise OaiError("badArgument", f"the argument {name} is repeated; send it once")
        if not _SYNTAX[name].fullmatch(value) or len(value) > _MAX_LENGTH:
            raise OaiError("badArgument", f"the syntax of the argument {name} is wrong")
    if expected.exclusive in arguments:
        if len(arguments) > 1:
            raise OaiError("badArgument", f"{expected.exclusive} excludes all other arguments; remove them")
        return verb, arguments
    if missing := sorted(expected.required - {*arguments}):
        raise OaiError("badArgument", f"the argument {missing[0]} is missing; {verb} needs it")
    return verb, arguments


def harvest(arguments: Mapping[str, str]) -> Harvest:
    """Return the names that the arguments of a list request select. Raises :class:`OaiError` with the code
    ``badArgument`` or ``cannotDisseminateFormat``.

    >>> names = harvest({"metadataPrefix": "oai_dc", "from": "2026-01-31", "until": "2026-01-31"})
    >>> str(names.since), str(names.before)
    ('2026-01-31 00:00:00+00:00', '2026-02-01 00:00:00+00:00')
    """
    require_format(arguments)
    since, until = arguments.get("from"), arguments.get("until")
    if since and until and len(since) != len(until):
        raise OaiError("badArgument", "from and until have different granularities; use the same for both")
    begin, end = _time("from", since), _time("until", until)
    if begin and end and begin > end:
        raise OaiError("badArgument", "from is later than until; exchange the two")
    if end is not None:
        try:
            end += timedelta(days=1) if until and len(until) == _DAY else timedelta(seconds=1)
        except OverflowError:
            end = None
    return Harvest(since=begin, before=end, set=arguments.get("set"))


def require_format(arguments: Mapping[str, str]) -> None:
    """Raise :class:`OaiError` (``cannotDisseminateFormat``) if an OAI-PMH request has an unknown metadata format."""
    if arguments["metadataPrefix"] != METADATA_PREFIX:
        raise OaiError("cannotDisseminateFormat", f"the only metadata format is {METADATA_PREFIX}")


def _verb(values: Sequence[str]) -> Verb:
    verbs = ", ".join(VERBS)
    if len(values) != 1:
        problem = "is repeated; send it once" if values else f"is missing; send one of {verbs}"
        raise OaiError("badVerb", f"the argument verb {problem}")
    for verb in VERBS:
        if verb == values[0]:
            return verb
    raise OaiError("badVerb", f"the verb is not one of {verbs}")


def _time(name: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    except ValueError:
        raise OaiError("badArgument", f"the date in {name} does not exist") from None
