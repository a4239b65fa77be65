"""What an IRI policy says of bindings, where a store has one (17beta policy, sections 2, 3.1 and 6.2).

A :class:`PolicyCheck` looks at each change once, after :mod:`assignment` has decided it and before it is written:

- a new ARK of the policy's NAAN begins with a shoulder that is not reserved (POL-030, POL-031);
- only an ARK has the metadata element ``persistence``, at allocation or later (POL-016, POL-017);
- such a name has the availability that is stated, lifetime or subinfinite, or the default where none is; "none" says
  that the name is not published, and then nothing is meant (POL-018, POL-020);
- a UUID, in the name ``urn:uuid:...`` or in the path of a target, is one resource's for ever (POL-048).

That no name is ever re-assigned (POL-023) is so without a policy.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from ...identifiers import Ark
from ..errors import BindingConflict, BindingError
from . import metadata, names, validation
from .assignment import Change, next_revision
from .model import Binding

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile

UNPUBLISHED = "none"
"""The availability of a persistent name that is not published: no statement at all."""


class Memory(Protocol):
    """What remembers a text under a name: a transaction of a database does."""

    def setting(self, name: str) -> str | None:
        """What is remembered under a name, or None."""
        ...

    def set_setting(self, name: str, value: str) -> None:
        """Remember something."""
        ...


class TemporarySettings(dict[str, str]):
    """A memory of its own, for a table that is read as a whole."""

    setting = dict.get
    set_setting = dict.__setitem__


class PolicyCheck:
    """The rules of one policy for the bindings of a store."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def __call__(self, before: Binding | None, change: Change, memory: Memory | Any) -> Change:
        """The change with what the policy adds to it. Raises :class:`BindingError` where the policy forbids it.

        ``before`` is what is on record. A change that writes nothing, and one that takes a name out of use, is nobody's
        business.
        """
        after = change.after
        if change.action is None or not after.is_live:
            return change
        try:
            ark = names.read(after.identifier)
            if before is None and isinstance(ark, Ark):
                self._require_shoulder(ark)
            governed = self._promised(after, is_ark=isinstance(ark, Ark))
            self._remember_uuids(governed, memory)
        except BindingError as error:
            error.identifier = after.identifier
            raise
        if before is not None and governed == before._replace(changed=governed.changed, revision=governed.revision):
            # All that was new is what the policy had added before.
            return Change("unchanged", before, None)
        return change._replace(after=governed)

    def _require_shoulder(self, ark: Ark) -> None:
        if ark.basic[4:].partition("/")[0] != self.profile.naan:
            return
        from ...identifiers import iri_policy

        shoulder, reserved = iri_policy.shoulder(ark, self.profile)
        if reserved:
            said = "it begins with no shoulder" if shoulder is None else f"the shoulder {shoulder} is reserved"
            raise BindingError("name-reserved", f"the name is reserved: {said}")

    def _promised(self, after: Binding, *, is_ark: bool) -> Binding:
        if "persistence" not in after.metadata:
            return after
        # "Persistent IRIs MUST be allocated using the ARK system"
        if not is_ark:
            raise BindingError("persistent-not-ark")
        # "MUST have availability equal to lifetime or subinfinite; if none is explicitly stated in the documentation
        # then lifetime is implied"
        stated = after.metadata.get("availability", self.profile.default_availability)
        if stated is None or stated not in (*self.profile.availability, UNPUBLISHED):
            shown = f"the availability is {validation.shown(stated)}" if stated else None
            raise BindingError("availability-statement", shown)
        return after._replace(metadata=metadata.check({**after.metadata, "availability": stated}))

    def _remember_uuids(self, after: Binding, memory: Memory) -> None:
        uuids = {found for found in map(self._uuid, (after.identifier, after.target)) if found}
        resource = after.resource or after.identifier
        for uuid in sorted(uuids):
            # "a different resource MUST NOT be allocated using the same uuid part"
            first = memory.setting(f"uuid {uuid}")
            if first is not None and first not in (after.resource, after.identifier):
                raise BindingError("uuid-reused", f"the UUID {uuid} is that of {validation.shown(first, 100)}")
        for uuid in uuids:
            if memory.setting(f"uuid {uuid}") is None:
                memory.set_setting(f"uuid {uuid}", resource)

    def _uuid(self, place: str | None) -> str | None:
        """The UUID of a name or target, in lower case, where it is in the UUID namespace."""
        if not place:
            return None
        from ...identifiers import iri_policy

        matcher = iri_policy.repaired(self.profile).namespaces.get("uuid")
        whole = f"{self.profile.schemes[0]}://{self.profile.hosts[0]}{place}" if place.startswith("/") else place
        found = matcher.fullmatch(whole) if matcher else None
        return (found["uuid"] or found["named"]).lower() if found else None


def promise_persistence(
    existing: Binding, persistence: str, availability: str | None, now: datetime, *, published: bool
) -> Change:
    """Promise that a name is persistent. Raises BindingConflict where it is withdrawn."""
    if not existing.is_live:
        raise BindingConflict("withdrawn", existing, existing)
    stated = {"persistence": persistence}
    if availability is not None or not published:
        stated["availability"] = availability if published and availability else UNPUBLISHED
    after = existing._replace(metadata=metadata.check({**existing.metadata, **stated}))
    if after == existing:
        return Change("unchanged", existing, None)
    return Change("updated", next_revision(existing, after, now), "updated")


ChangeCheck = Callable[["Binding | None", Change, Any], Change]
"""What looks at a change: a :class:`PolicyCheck`, or nothing."""


def no_policy(before: Binding | None, change: Change, memory: object) -> Change:
    """The change as it is: there is no policy."""
    return change
