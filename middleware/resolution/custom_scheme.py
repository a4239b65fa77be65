"""Identifier schemes that a site defines and resolves itself.

"Resolver-reserved IRIs MUST be allocated only for defined identifier schemes (not necessarily an URI scheme) and MUST
match the semantics of that scheme" (POL-038). A scheme is defined by a registration record without errors
(:class:`~ararat.identifiers.scheme_registration.Registration`). Without one, its path belongs to the site.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...bindings.names import targets
from ...bindings.names.errors import BindingError
from ...identifiers import IdentifierError, Problem
from ...identifiers.ark import length
from .refusals import refuse
from .result import Resolution

if TYPE_CHECKING:
    from ...identifiers.scheme_registration import Registration

_STATUSES = {"located": (302, 307), "related": (303,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScheme:
    """A scheme that a site defines and resolves itself. Raises ValueError, with the fields, if ``record`` has errors by
    RFC 7595 or the name of a scheme that Ararat resolves.

    ``resolve`` receives the identifier as requested ("atlas:17?scale=5"). It returns None, or a
    :class:`~ararat.middleware.Resolution` with a target and the outcome "located" (status 302 or 307) or "related"
    (303). It can raise :class:`~ararat.identifiers.IdentifierError`: the client gets 400 with its text. It is not
    called for identifiers that are too long or contain dot-segments, nor for methods other than GET and HEAD.

    >>> from ararat.identifiers.scheme_registration import Registration
    >>> OwnScheme(record=Registration(name="atlas"), resolve=lambda identifier: None)
    Traceback (most recent call last):
    ValueError: schemes: the record of 'atlas' has missing or wrong fields: status, contact; run `ararat schemes lint`
    """

    record: Registration
    resolve: Callable[[str], Resolution | None]

    def __post_init__(self) -> None:
        # Loaded only where a site has a scheme of its own.
        from ...identifiers import scheme_registration

        name = self.record.name
        if scheme_registration.registration(name.lower()) is not None:
            raise ValueError(f"schemes: Ararat itself resolves {name!r}; pass the name instead of an OwnScheme")
        # Other schemes with the same name matter for the registration, not for a path of one site.
        findings = scheme_registration.lint(self.record, "7595", update=True)
        wrong = dict.fromkeys(finding.field for finding in findings if finding.severity == "error")
        if not name or wrong:
            fields = ", ".join(wrong or ("name",))
            raise ValueError(
                f"schemes: the record of {name!r} has missing or wrong fields: {fields}; run `ararat schemes lint`"
            )
        if not callable(self.resolve):
            raise ValueError(f"schemes: the resolve argument of {name!r} is not a function; pass one")

    @property
    def name(self) -> str:
        """The name of the identifier scheme in lower case and without a colon, such as "atlas"."""
        return self.record.name

    def answer(self, given: str, max_length: int) -> Resolution:
        """Resolve an identifier of the site's own scheme, as received. A text longer than ``max_length`` bytes is
        refused. Raises TypeError if ``resolve`` returns something else than None or a temporary redirect. Exceptions of
        ``resolve`` reach the caller, except IdentifierError.
        """
        reason: str | Problem = "too-long"
        if not length.may_refuse(given, max_length):
            try:
                resolution = self.resolve(given)
            except IdentifierError as error:
                reason = error.problem
            else:
                if resolution is None:
                    reason = "not-bound"
                elif target := self._target(resolution):
                    # Other fields are ignored: descriptions and links are for names that are bound here.
                    return Resolution(
                        given=given,
                        status=resolution.status,
                        outcome=resolution.outcome,
                        target=target,
                        vary=resolution.vary,
                    )
                else:
                    reason = "target-unusable"
        return refuse(given, reason)

    def _target(self, resolution: Resolution) -> str | None:
        if not isinstance(resolution, Resolution) or resolution.status not in _STATUSES.get(resolution.outcome, ()):
            raise TypeError(
                f"the resolve function of the scheme {self.name!r} returned neither None nor a temporary redirect"
            )
        try:
            return targets.check(resolution.target, "related" if resolution.outcome == "related" else "located")
        except BindingError:
            return None
