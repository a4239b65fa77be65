"""Check the record of a URI scheme registration by the rules of a profile. "7595", the default of the command, is the
current BCP with six fields. "4395bis" is a draft of 2011 with the eleven fields of RFC 4395 (S-01).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ..text import characters
from .check_codes import CHECKLIST, CURRENT, DRAFT, QUESTIONS, RULES, reference_in
from .record import FIELDS, Registration
from .scheme_names import GENERAL, MAX_ADVISED, RESERVED, NameReading, read_name
from .status import STATUSES, is_way

__all__ = ["CHECKLIST", "PROFILES", "QUESTIONS", "RegistrationFinding", "RegistrationProfile", "lint", "missing"]

Severity = Literal["error", "warning", "note"]


class RegistrationProfile(NamedTuple):
    """The rules of one document: the ``fields`` of a complete record, and the ``minimum`` of a provisional one."""

    name: str
    title: str
    fields: tuple[str, ...]
    minimum: tuple[str, ...]


PROFILES = {
    "4395bis": RegistrationProfile(
        "4395bis",
        DRAFT,
        tuple(field.name for field in FIELDS),
        # RFC 4395, section 3: a name, a contact, security considerations, and the specification or the reason why it
        # does not exist.
        ("name", "status", "security", "contact", "references"),
    ),
    "7595": RegistrationProfile(
        "7595",
        CURRENT,
        ("name", "status", "applications", "contact", "controller", "references"),
        ("name", "status", "contact"),
    ),
}

# The content of a field that is not filled in yet.
_PLACEHOLDER = re.compile(r"\[?(?:tb[dcs]|todo|fixme|x{3,}|\?+|-+|\.{3,}|<[^<>:/@]*>)[.!]?\]?", re.IGNORECASE)
# In ABNF, as a string or as a number:
_FRAGMENT = re.compile(r'"[^"\n]{0,200}#[^"\n]{0,200}"|%x0*23(?![0-9A-Fa-f])')
_DOUBLE_SLASH = re.compile(r'"[^"\n]{0,200}//[^"\n]{0,200}"|"/"[ \t]+"/"')
_AUTHORITY = re.compile(r"\b(?:i?authority|i?hier-part)\b")
_OCTETS = re.compile(r"%x(?:8|9|[A-Fa-f])[0-9A-Fa-f]-(?:8|9|[A-Fa-f])[0-9A-Fa-f](?![0-9A-Fa-f])")
_WIDE = re.compile(r"\b(?:ucschar|iprivate)\b")
_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True)
class RegistrationFinding:
    """A rule that a registration record breaks: ``code`` in :data:`RULES`, the ``field``, and a printable ASCII
    message. ``severity`` is "error", "warning" or "note", by the level of the rule and the status of the record.
    """

    code: str
    severity: Severity
    field: str
    message: str
    expected: str
    requirement: str
    reference: str

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def missing(record: Registration, profile: str = "4395bis") -> list[str]:
    """Return the fields of a registration record that are empty, in the order of the template (SCH-048). "TBD" counts
    as empty, but "None known" does not. Raises ValueError for an unknown profile.

    >>> missing(Registration(name="atlas", status="provisional", contact="TBD"), "7595")
    ['applications', 'contact', 'controller', 'references']
    """
    return [name for name in _profile(profile).fields if not _says(getattr(record, name))]


def lint(record: Registration, profile: str = "4395bis", *, update: bool = False) -> list[RegistrationFinding]:
    """Check a registration record of a URI scheme, and return the broken rules in the order of the fields.

    The guidelines are errors for a permanent registration and warnings for another (RFC 7595, sections 3 and 4;
    SCH-006). A historical one needs only its name and a reference. ``update``: the record changes a registered entry,
    so the name need not be free, but the change of status must be allowed. Raises ValueError for a profile that is not
    in :data:`PROFILES`.

    >>> [(finding.code, finding.severity) for finding in lint(Registration(name="URN", status="historical"))]
    [('scheme-name-case', 'error'), ('scheme-name-taken', 'error'), ('history-missing', 'warning')]
    """
    rules = _profile(profile)
    reading = read_name(record.name)
    findings = [
        *_of_name(record.name, reading, update=update),
        *_of_status(record, reading, update=update),
        *_of_fields(record, rules),
        *_of_syntax(record),
    ]
    order = [field.name for field in FIELDS]
    cited = (replace(each, reference=reference_in(rules.title, each.reference)) for each in findings)
    return sorted(cited, key=lambda finding: order.index(finding.field))


def _profile(name: str) -> RegistrationProfile:
    if name not in PROFILES:
        raise ValueError(f"{name!r} is not a profile; expected one of {', '.join(PROFILES)}")
    return PROFILES[name]


def _says(text: str) -> bool:
    return bool(text) and _PLACEHOLDER.fullmatch(text) is None


def _finding(code: str, field: str, status: str, message: str | None = None) -> RegistrationFinding:
    rule = RULES[code]
    severity: Severity = "note" if rule.level == "advice" else "error"
    if rule.level == "guideline" and status != "permanent":
        severity = "warning"
    return RegistrationFinding(
        code, severity, field, message or rule.title, rule.expected, rule.requirement, rule.reference
    )


def _of_name(name: str, reading: NameReading, *, update: bool) -> Iterator[RegistrationFinding]:
    if not name:
        return
    if not reading.valid:
        yield _finding("scheme-name-syntax", "name", "")
        return
    if not name.islower():
        yield _finding("scheme-name-case", "name", "")
    if name.lower() == RESERVED:
        yield _finding("scheme-name-reserved", "name", "")
    elif reading.status and not update:
        yield _finding("scheme-name-taken", "name", "", f"the name is already registered as {reading.status}")
    if reading.similar and not update:
        names = ", ".join(reading.similar[:_SHOWN_NAMES])
        yield _finding("scheme-name-similar", "name", "", f"the name is easily confused with: {names}")
    # A private name is as long as its domain.
    if len(name) > MAX_ADVISED and not reading.private:
        yield _finding("scheme-name-long", "name", "", f"the name has {len(name):,} characters")
    if name.lower() in GENERAL:
        yield _finding("scheme-name-general", "name", "")


def _of_status(record: Registration, reading: NameReading, *, update: bool) -> Iterator[RegistrationFinding]:
    status = record.status.lower()
    if _says(status) and status not in STATUSES:
        yield _finding("status-unknown", "status", "")
    elif status and update and reading.status and not is_way(reading.status, status):
        yield _finding("status-not-allowed", "status", "", f"the entry is {reading.status} and cannot become {status}")


def _of_fields(record: Registration, profile: RegistrationProfile) -> Iterator[RegistrationFinding]:
    status = record.status.lower()
    for name in missing(record, profile.name):
        if status == "historical":
            # "the registration should contain some indication to where the scheme was previously defined"
            if name == "references":
                yield _finding("history-missing", name, status)
            elif name in ("name", "status"):
                yield _finding("minimum-missing", name, status)
        else:
            yield _finding("minimum-missing" if name in profile.minimum else "field-missing", name, status)
    for field in FIELDS:
        if characters.HIDDEN.search(getattr(record, field.name).replace("\n", " ")):
            yield _finding("field-hidden-character", field.name, status)


def _of_syntax(record: Registration) -> Iterator[RegistrationFinding]:
    status, syntax = record.status.lower(), record.syntax
    # "fragment identifiers (#) cannot be re-used outside the generic syntax restrictions" (SCH-004)
    if _FRAGMENT.search(syntax):
        yield _finding("syntax-fragment", "syntax", status)
    if _DOUBLE_SLASH.search(syntax) and not _AUTHORITY.search(syntax):
        yield _finding("syntax-double-slash", "syntax", status)
    if _OCTETS.search(syntax):
        yield _finding("syntax-octets", "syntax", status)
    if _WIDE.search(syntax):
        yield _finding("syntax-wide", "syntax", status)
