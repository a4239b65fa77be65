"""Registrations of URI/IRI schemes: check names and records, and find out who can change the status of a record. The
rules apply to registration documents (RFC 7595, section 2; SCH-054). The package contains those of ``ark`` and ``urn``.

>>> lint(registration("ark"), "7595", update=True)
[]
>>> transition("permanent", "historical", "registrant").allowed
False
"""

from __future__ import annotations

from .check_codes import RULES, RegistrationRule
from .checks import CHECKLIST, PROFILES, QUESTIONS, RegistrationFinding, RegistrationProfile, lint, missing
from .record import FIELDS, Registration, RegistrationError, TemplateField, read, registered_names, registration
from .scheme_names import VALID, NameReading, read_name, similar_names
from .status import ACTORS, STATUSES, TRANSITIONS, Decision, Transition, transition, with_status

__all__ = [
    "ACTORS",
    "CHECKLIST",
    "FIELDS",
    "PROFILES",
    "QUESTIONS",
    "RULES",
    "STATUSES",
    "TRANSITIONS",
    "VALID",
    "Decision",
    "NameReading",
    "Registration",
    "RegistrationError",
    "RegistrationFinding",
    "RegistrationProfile",
    "RegistrationRule",
    "TemplateField",
    "Transition",
    "lint",
    "missing",
    "read",
    "read_name",
    "registered_names",
    "registration",
    "similar_names",
    "transition",
    "with_status",
]
