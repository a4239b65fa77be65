"""Check changes of bindings by an IRI policy (17beta policy, sections 2, 3.1 and 6.2) and the registry of NAANs.

- A new ARK must have a NAAN of the policy, and a shoulder that is not reserved (POL-030, POL-031, POL-038).
- Only an ARK can have the metadata element ``persistence``, from its allocation or later (POL-016, POL-017).
- A persistent name has the availability "lifetime" or "subinfinite", by default that of the profile. "none" means that
  the name is not published (POL-018, POL-020).
- A UUID, in a name ``urn:uuid:...`` or in the path of a target, belongs to one resource permanently (POL-048).

:mod:`assignment` enforces without a policy that no name is re-assigned (POL-023). :class:`RegisteredNaans` finds
unregistered NAANs (ARK-015): the registry can assign one to another organization.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ...identifiers import Ark
from ...identifiers.ark.grammar import naan_of
from ...identifiers.text.translatable import Translatable
from . import naming, validation
from .assignment import Change, next_revision
from .binding import Binding
from .errors import BindingConflict, BindingError
from .metadata import metadata
from .metadata.persistence import UNPUBLISHED, is_denied, term

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile


_MAX_WARNINGS = 10


class SettingStore(Protocol):
    """A store of named texts (settings), such as the owners of UUIDs. A transaction of a database has these methods."""

    def setting(self, name: str) -> str | None:
        """Return the value of a setting, or None if it is not set."""
        ...

    def set_setting(self, name: str, value: str) -> None: ...


class TemporarySettings:
    """A store of settings in memory, for bindings in a table file, which has no place for settings."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def setting(self, name: str) -> str | None:
        return self._texts.get(name)

    def set_setting(self, name: str, value: str) -> None:
        self._texts[name] = value


class PolicyCheck:
    """A check of changes by an IRI policy, for ``Bindings.check_change``. A rule that the profile switches off, or
    whose severity is a note or a warning, refuses no change. ``warnings`` are the first messages of rules with
    warnings.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.warnings: list[str] = []

    def __call__(self, before: Binding | None, change: Change, settings: SettingStore) -> Change:
        """Return the change with the additions of the policy, or raise :class:`BindingError`. A change that writes
        nothing, or that withdraws or deletes a name, is not checked. Of a reserved name only the shoulder is checked.
        """
        after = change.after
        if change.action in (None, "deleted") or after.is_withdrawn:
            return change
        try:
            name = naming.read(after.identifier)
            if (before is None or before.is_reserved) and isinstance(name, Ark):
                self._require_naan(name)
                self._require_shoulder(name)
            if after.is_reserved:
                return change
            checked = self._add_availability(after, is_ark=isinstance(name, Ark))
            self._record_uuids(checked, settings)
        except BindingError as error:
            error.identifier = after.identifier
            raise
        if before is not None and checked == replace(before, changed=checked.changed, revision=checked.revision):
            # The change differs from the record only in an addition that the policy makes again.
            return Change("unchanged", before, None)
        return change._replace(after=checked)

    def _break(self, rule: str, message: str, code: str | None = None) -> None:
        severity = self.profile.severity(rule, "error")
        cited = ", ".join(filter(None, (self.profile.title or f"policy {self.profile.name}", self.profile.url)))
        if severity == "error":
            raise BindingError(code or rule, Translatable("%(message)s (%(cited)s)", message=message, cited=cited))
        if severity == "warning" and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(f"{message} ({cited})")

    def _require_naan(self, ark: Ark) -> None:
        # The setting test_naans decides about names for tests. Without it, they are refused before.
        own = self.profile.own_naans
        if own and ark.normal_naan not in own and not ark.reserved_naan:
            self._break(
                "naan-foreign",
                Translatable(
                    "NAAN %(normal_naan)s is not one of %(names)s", normal_naan=ark.normal_naan, names=", ".join(own)
                ),
            )

    def _require_shoulder(self, ark: Ark) -> None:
        if ark.normal_naan not in self.profile.own_naans:
            return
        from ...identifiers import iri_policy

        shoulder, reserved = iri_policy.shoulder(ark, self.profile)
        if reserved:
            if shoulder is None:
                message = Translatable("the policy reserves this name: it has no shoulder")
            else:
                message = Translatable(
                    "the policy reserves this name: the shoulder %(shoulder)s is reserved", shoulder=shoulder
                )
            rule = "reserved-name" if shoulder is None else "shoulder-reserved"
            self._break(rule, message, "name-reserved")

    def _add_availability(self, after: Binding, *, is_ark: bool) -> Binding:
        # A statement can also say that nothing is guaranteed.
        if is_denied(after.metadata.get("erc.persistence", "(:none)")):
            return after
        # "Persistent IRIs MUST be allocated using the ARK system"
        if not is_ark:
            self._break("persistent-not-ark", Translatable("only an ARK can be designated as persistent"))
            return after
        # "MUST have availability equal to lifetime or subinfinite; if none is explicitly stated in the documentation
        # then lifetime is implied"
        availability = after.metadata.get("erc.availability", self.profile.default_availability)
        allowed = (*self.profile.availability, UNPUBLISHED)
        if availability is None or (availability not in allowed and term("availability", availability) not in allowed):
            message = Translatable("a persistent name needs an availability")
            if availability:
                shown = validation.quote(availability)
                message = Translatable("the availability %(availability)s is not allowed", availability=shown)
            self._break("availability-statement", message)
            return after
        return replace(after, metadata=metadata.check({**after.metadata, "erc.availability": availability}))

    def _record_uuids(self, after: Binding, settings: SettingStore) -> None:
        uuids = {value for value in map(self._uuid, (after.identifier, after.target)) if value}
        resource = after.resource or after.identifier
        for uuid in sorted(uuids):
            # "a different resource MUST NOT be allocated using the same uuid part"
            first = settings.setting(f"uuid {uuid}")
            if first is not None and first not in (after.resource, after.identifier):
                shown = validation.quote(first, 100)
                message = Translatable("the UUID %(uuid)s already belongs to %(shown)s", uuid=uuid, shown=shown)
                self._break("uuid-twice", message, "uuid-reused")
        for uuid in uuids:
            if settings.setting(f"uuid {uuid}") is None:
                settings.set_setting(f"uuid {uuid}", resource)

    def _uuid(self, place: str | None) -> str | None:
        """Return the UUID of a name or target in lower case, or None outside of the UUID namespace."""
        if not place:
            return None
        from ...identifiers import iri_policy

        matcher = iri_policy.repaired_grammar(self.profile).namespaces.get("uuid")
        whole = f"{self.profile.schemes[0]}://{self.profile.hosts[0]}{place}" if place.startswith("/") else place
        match = matcher.fullmatch(whole) if matcher else None
        return (match["uuid"] or match["named"]).lower() if match else None


def promise_persistence(
    existing: Binding, persistence: str, availability: str | None, now: datetime, *, published: bool
) -> Change:
    """Return the change that adds to a live name the promise that it is persistent. ``availability`` is "lifetime" or
    "subinfinite"; None is that of the policy. Without ``published``, the availability states that the thing is not
    published. Raises :class:`BindingConflict` for a reserved or withdrawn name.
    """
    if not existing.is_live:
        raise BindingConflict("reserved" if existing.is_reserved else "withdrawn", existing, existing)
    statements = {"erc.persistence": persistence}
    if availability is not None or not published:
        statements["erc.availability"] = availability if published and availability else UNPUBLISHED
    after = replace(existing, metadata=metadata.check({**existing.metadata, **statements}))
    if after == existing:
        return Change("unchanged", existing, None)
    return Change("updated", next_revision(existing, after, now), "updated")


ChangeCheck = Callable[[Binding | None, Change, SettingStore], Change]
"""A check of changes: a :class:`PolicyCheck` or :class:`RegisteredNaans`."""


def check_by(check: ChangeCheck, before: Binding | None, change: Change, settings: SettingStore) -> Change:
    """Return a change as a check permits it, also as it is when its name becomes live by a date: no person checks it
    again then. Raises like ``check``.
    """
    if (due := change.after.embargo) is not None:
        live = check(before, change._replace(after=change.after.at(due)), settings).after
        change = change._replace(after=replace(change.after, metadata=live.metadata))
    return check(before, change, settings)


class RegisteredNaans:
    """A check for ``Bindings.check_change`` that collects NAANs which are neither registered nor in ``own``, each once.
    With ``strict``, such a name raises :class:`BindingError` (``naan-unregistered``) instead. ``check_change`` is the
    check that runs afterwards, such as that of the policy.
    """

    def __init__(self, check_change: ChangeCheck | None, own: Collection[str] = (), *, strict: bool = False) -> None:
        self.unregistered: list[str] = []
        self._check_change = check_change
        self._known = {*own}
        self._strict = strict

    def __call__(self, before: Binding | None, change: Change, settings: SettingStore) -> Change:
        """Return the change as the other check returns it (:class:`PolicyCheck`)."""
        key = change.after.identifier
        naan = naan_of(key) if key.startswith("ark:") else ""
        if naan and naan not in self._known:
            if is_registered(naan):
                self._known.add(naan)
            elif self._strict:
                raise BindingError(
                    "naan-unregistered", Translatable("NAAN %(naan)s is not registered", naan=naan), identifier=key
                )
            else:
                self._known.add(naan)
                self.unregistered.append(naan)
        return self._check_change(before, change, settings) if self._check_change else change


def is_registered(naan: str) -> bool:
    """Return whether a NAAN is in the registry of the package or its update (ARK-015).

    >>> is_registered("12148"), is_registered("54321")
    (True, False)
    """
    from ...identifiers import registries

    return registries.authority(naan) is not None
