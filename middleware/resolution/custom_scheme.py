"""Identifier schemes that a site defines and resolves itself.

"Resolver-reserved IRIs MUST be allocated only for defined identifier schemes (not necessarily an URI scheme) and MUST
match the semantics of that scheme" (POL-038). A scheme is defined by a registration record
(:class:`~ararat.identifiers.scheme_registration.Registration`) without errors. Without a record, the path of the scheme
belongs to the site.
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
    """A scheme that a site defines and resolves itself.

    ``record``   the registration of the scheme, without errors by RFC 7595. Its name is not the name of a scheme that
                 Ararat resolves
    ``resolve``  a function that receives the identifier as requested ("atlas:17?scale=5"). It returns a
                 :class:`~ararat.middleware.Resolution` with a target and the outcome "located" (status 302 or 307) or
                 "related" (303), or None if no location is known. It can raise
                 :class:`~ararat.identifiers.IdentifierError` for a text that is not an identifier; the client gets 400
                 with the text of the error. It is not called for identifiers that are too long or contain
                 dot-segments, nor for methods other than GET and HEAD

    Raises ValueError if the record has errors; the text names the fields.

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
        refused.

        ``given`` is the identifier as received, with its query. Raises TypeError if ``resolve`` returns something else
        than None or a temporary redirect. Exceptions of ``resolve`` reach the caller, except IdentifierError, which
        becomes a refusal.
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
