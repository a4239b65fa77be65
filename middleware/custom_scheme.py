"""A scheme of a site's own: its registration, and what resolves its identifiers.

"Resolver-reserved IRIs MUST be allocated only for defined identifier schemes (not necessarily an URI scheme) and MUST
match the semantics of that scheme" (17beta policy, section 4; POL-038). A scheme is defined here by a record
(:class:`~ararat.identifiers.scheme_registration.Registration`) without errors; without one its path stays the site's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..identifiers import IdentifierError
from ..identifiers.ark import length
from .bindings import targets
from .errors import BindingError
from .resolution.refusals import refusal
from .resolution.result import Resolution, refuse

if TYPE_CHECKING:
    from ..identifiers.scheme_registration import Registration

_STATUSES = {"located": (302, 307), "related": (303,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScheme:
    """A scheme that a site defines and resolves itself.

    ``record``   its registration, which has no errors by RFC 7595; the name is not that of a scheme known here
    ``resolve``  is given the identifier as received ("atlas:17?scale=5"), and returns a
                 :class:`~ararat.middleware.Resolution` with the outcome "located" (302 or 307) or "related" (303) and a
                 target, or None where it knows no location. It may raise
                 :class:`~ararat.identifiers.IdentifierError` for what is no identifier: 400, with its words. An answer
                 that the resolver itself refuses (too long, dot-segments, another method) never gets to it.

    Raises ValueError, naming what is wrong, for a record that will not do.

    >>> from ararat.identifiers.scheme_registration import Registration
    >>> OwnScheme(record=Registration(name="atlas"), resolve=lambda identifier: None)
    Traceback (most recent call last):
    ValueError: schemes: the record of 'atlas' lacks or has wrong: status, contact (ararat schemes lint says more)
    """

    record: Registration
    resolve: Callable[[str], Resolution | None]

    def __post_init__(self) -> None:
        # Loaded only where a site has a scheme of its own.
        from ..identifiers import scheme_registration

        name = self.record.name
        if scheme_registration.registration(name.lower()) is not None:
            raise ValueError(f"schemes: {name!r} is resolved by Ararat itself; name it as a text")
        # Whether others hold the name is for its registration; here it is a path of one site.
        found = scheme_registration.lint(self.record, "7595", update=True)
        wrong = dict.fromkeys(finding.field for finding in found if finding.severity == "error")
        if not name or wrong:
            fields = ", ".join(wrong or ("name",))
            raise ValueError(
                f"schemes: the record of {name!r} lacks or has wrong: {fields} (ararat schemes lint says more)"
            )
        if not callable(self.resolve):
            raise ValueError(f"schemes: what resolves {name!r} cannot be called")

    @property
    def name(self) -> str:
        """The scheme's name, in lower case and without a colon."""
        return self.record.name

    def answer(self, given: str, max_length: int) -> Resolution:
        """What is answered for an identifier, given as it was received; one that is longer is not read.

        Raises TypeError for what no site may answer; whatever ``resolve`` raises goes through, but for its
        IdentifierError.
        """
        if length.may_refuse(given, max_length):
            return refuse(given, refusal("too-long", 0, len(given)))
        try:
            found = self.resolve(given)
        except IdentifierError as error:
            return refuse(given, error.problem)
        if found is None:
            return refuse(given, refusal("not-bound", 0, len(given)))
        if not isinstance(found, Resolution) or found.status not in _STATUSES.get(found.outcome, ()):
            raise TypeError(f"the resolver of {self.name!r} answers neither with None nor with a redirect for now")
        try:
            target = targets.check(found.target, "related" if found.outcome == "related" else "located")
        except BindingError:
            return refuse(given, refusal("target-unusable", 0, len(given)))
        # Nothing else of it counts: what is described, and linked to, are names that are bound here.
        return Resolution(given=given, status=found.status, outcome=found.outcome, target=target, vary=found.vary)
