"""The bindings of a site: look up and change names, and read their history.

>>> import tempfile
>>> from ararat.middleware import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> b.bind("ark:/12345/d-oc", "https://example.org/1", resource="report 7")
'bound'
>>> b.lookup("ark:12345/doc").target
'https://example.org/1'
>>> b.bind("ark:12345/doc", "https://example.org/2", resource="report 7")
'relocated'
>>> [event.action for event in b.history("ark:12345/doc")]
['bound', 'relocated']
>>> b.close(); folder.cleanup()
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Self, TypeVar, Unpack

from ..identifiers.text.translatable import Translatable
from . import changes
from .branding import RecordedBranding
from .changes import ChangeResult, Decide, NameChange
from .names import assignment, naming
from .names.actor import NOBODY, Actor
from .names.assignment import Change, Outcome
from .names.binding import NOTHING, Binding, Event, NameCount
from .names.errors import BindingError
from .names.event_selection import EventPage, EventSelection
from .names.fields import FieldArguments, Fields
from .names.metadata import persistence as persistence_terms
from .names.naming import Name
from .names.operation import Operation
from .names.policy import ChangeCheck, PolicyCheck, promise_persistence
from .names.selection import MAX_PAGE, Group, Page, Selection
from .prefix_changes import Prefixes, Rules
from .rule_cache import RuleCache
from .source import StoredSource
from .storage.protocols import utc_now
from .storage.reopening import Opening

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from .storage.writing.transaction import Transaction
    from .stores import Store


T = TypeVar("T")

_log = logging.getLogger(__name__)


StoreKind = Literal["database", "file", "snapshot"]


class Bindings:
    """The bindings of a site in a database or a table file. Open them with :func:`~.open.open_bindings`.

    All threads and forked processes can use one object. Pass a name in any spelling, or as an Ark or Urn. A change is
    durable when the method returns. Every method raises :class:`BindingsUnavailable` if the store cannot be reached;
    the next call tries again. Every change of a table file or a snapshot raises :class:`ReadOnlyBindings`.

    - ``prefixes``, ``rules``, ``branding``: the records of NAANs and shoulders, their redirect rules, and the branding
      of the public pages, each with its methods.
    - ``source``: what a resolver reads.
    - ``naming``: the IRI policy and the NAANs for tests (:class:`.NamingRules`), below which a resolver answers, too.
    - ``now``: returns the time that is recorded with changes: the current time in UTC.
    - ``kind``: "database", "file" (a served table file) or "snapshot". Only a database can be changed and has accounts.

    ``actor`` of a change is who makes it: a text for the history, or an :class:`.Actor`, whose changes are also in the
    audit. ``revision`` is the revision that a name must still have; another one raises :class:`Stale`, and None permits
    any.
    """

    def __init__(
        self,
        opening: Opening[Store],
        clock: Callable[[], datetime] = utc_now,
        policy: Profile | None = None,
        *,
        kind: StoreKind = "database",
        is_local: bool = False,
        test_naans: Collection[str] = (),
    ) -> None:
        self.naming = naming.NamingRules(policy, test_naans)
        self.check_change: ChangeCheck | None = PolicyCheck(policy) if policy else None
        self.kind = kind
        self._opening = opening
        self.now = clock
        self._rule_cache = RuleCache(lambda: opening.store)
        self.source = StoredSource(opening, self._rule_cache, is_local=is_local, clock=clock)

    @property
    def prefixes(self) -> Prefixes:
        """The records that describe NAANs and shoulders, with the methods that change them."""
        return Prefixes(self, self._rule_cache)

    @property
    def rules(self) -> Rules:
        """The rules that redirect the unbound names of NAANs and shoulders, with the methods that change them."""
        return Rules(self)

    @property
    def branding(self) -> RecordedBranding:
        """The recorded branding of the public pages: the name, logo, contact and colour of the institution."""
        return RecordedBranding(self, self._rule_cache)

    def __repr__(self) -> str:
        return f"<Bindings {self.location}>"

    @property
    def location(self) -> str:
        """The place of the database or file of these bindings, for messages. It has no user and no password."""
        return self._opening.location

    @property
    def store(self) -> Store:
        """The database or file of these bindings, opened if necessary. Raises :class:`BindingsUnavailable`."""
        return self._opening.store

    def open(self) -> Self:
        """Open the database or file now, if it is not open yet, and return the bindings. Raises
        :class:`BindingsUnavailable`, :class:`TableError` for a file that is not a table of bindings, and
        :class:`BindingError` with the code ``foreign-database``, ``database-encoding`` or ``schema-version``.
        """
        self._opening.open()
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def bind(
        self,
        identifier: Name,
        target: str | Fields | None = None,
        *,
        revision: int | None = None,
        actor: Actor | str | None = None,
        **arguments: Unpack[FieldArguments],
    ) -> Outcome:
        """Bind a name to a target, or change the binding of a bound name. Each change goes to the history.

        - ``target``: an http(s) URL or a path of this site, or all fields in one value. It is needed also for a
          recorded name, unless ``kind`` is "described".
        - ``kind``: "located", "related", "described" (without a target) or "served" (the target is a path).
        - ``resource``: any text of 1 to 2,000 characters that identifies the thing itself.
        - ``metadata``: texts by element, such as ``{"who": "Noah"}`` (:mod:`.metadata.metadata`).
        - ``alternates``: other targets, by media type, language or both, such as "text/html;en".
        - ``redirect``: the status 302 or 307.
        - ``listed``: whether the name is in sitemaps, Atom and OAI-PMH.
        - ``embargo``: reserve the name until this date (midnight UTC) or time with its offset, which must be in the
          future; from then on it is live. An empty text removes the recorded one, so that the name is live now.
        - ``passthrough``: whether identifiers below the name lead to URLs below its target (:mod:`passthrough`).
        - ``scope``: "name", or for a served name "subtree": the site answers for all identifiers below it.
        - ``numbers``: texts by kind: "current", "further" and "former" (:mod:`.metadata.numbers`).
        - ``revision``: as for all changes, and 0 for a name that must not be recorded.

        None keeps the recorded value. A new name has no metadata, no alternates, no passthrough, 302 and "name".
        Elements of ``metadata`` and ``alternates`` that are not passed stay; an empty text deletes one. Returns one of
        these texts:

        - "bound": the name is new.
        - "unchanged": the binding is recorded already.
        - "relocated": ``resource`` is the recorded one, and target, kind, passthrough, scope or alternates changed.
        - "claimed": ``resource`` is recorded for the first time.
        - "updated": only other fields changed, such as metadata, numbers, ``redirect`` or ``listed``.
        - "reserved": the name is new, and ``embargo`` is in the future.

        Raises :class:`BindingConflict` for every other change, because a name is never re-assigned; also for a new
        target together with a first resource. Raises :class:`BindingError` for arguments that cannot be bound. Source:
        ARK-084, ARK-085, ARK-106, ARK-108, POL-023, URN-002.
        """
        fields = _fields(target, arguments)
        checked = (fields if fields.kind else fields._replace(kind="located")).for_name(identifier, self.naming)
        assignment.require_later(checked, self.now)
        decide: Decide = lambda existing, now: [assignment.bind(existing, checked, now)]  # noqa: E731
        outcome = self._change(NameChange(checked.key, decide, revision), actor)
        if outcome == "bound":
            for warning in naming.warnings_about(identifier):
                _log.warning("%s is bound: %s", checked.key, warning.message)
        return outcome

    def relocate(
        self,
        identifier: Name,
        target: str | Fields | None = None,
        *,
        revision: int | None = None,
        actor: Actor | str | None = None,
        **arguments: Unpack[FieldArguments],
    ) -> Outcome:
        """Move a live name to another place: a new target, kind, passthrough, scope or alternates.

        The caller decides that the new place leads to the same resource; :meth:`bind` requires the recorded resource
        instead. The arguments are those of :meth:`bind`. Returns "relocated" or "unchanged". Raises
        :class:`BindingConflict` for a reserved or withdrawn name.
        """
        return self._change(changes.relocate(identifier, _fields(target, arguments), revision=revision), actor)

    def reserve(
        self,
        identifier: Name,
        target: str | Fields | None = None,
        *,
        revision: int | None = None,
        actor: Actor | str | None = None,
        **arguments: Unpack[FieldArguments],
    ) -> Outcome:
        """Reserve a name: every public answer is that of an unknown name until :meth:`bind` makes it live.

        The arguments are those of :meth:`bind`, but a target is not needed: without one, ``kind`` is "described".
        Returns "reserved", or for a reserved name "updated" or "unchanged". Raises :class:`BindingConflict` with the
        code ``reserve-public`` for a live or withdrawn name.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.reserve("ark:12345/x1"), b.bind("ark:12345/x1", "https://example.org/1"), b.reserve("ark:12345/x2")
        ('reserved', 'bound', 'reserved')
        >>> b.delete("ark:12345/x2"), b.lookup("ark:12345/x2")
        ('deleted', None)
        >>> b.close(); folder.cleanup()
        """
        fields = _fields(target, arguments)._replace(status="reserved").for_name(identifier, self.naming)
        assignment.require_later(fields, self.now)
        decide: Decide = lambda existing, now: [assignment.reserve(existing, fields, now)]  # noqa: E731
        return self._change(NameChange(fields.key, decide, revision), actor)

    def delete(self, identifier: Name, *, revision: int | None = None, actor: Actor | str | None = None) -> Outcome:
        """Delete a reserved name, and return "deleted". Its history stays, and the name is never minted again. Raises
        :class:`BindingConflict` with the code ``delete-public`` for a live or withdrawn name.
        """
        return self._change(changes.delete(identifier, revision=revision), actor)

    def withdraw(
        self,
        identifier: Name,
        *,
        reason: str | None = None,
        successor: str | None = None,
        revision: int | None = None,
        actor: Actor | str | None = None,
    ) -> Outcome:
        """Withdraw a live name, and return "withdrawn". Its record stays as a tombstone, and it is never re-assigned.

        ``reason`` is a text for the tombstone, and ``successor`` a name or an http(s) URL that replaces the name. For a
        withdrawn name, returns "updated" if one of them is new, otherwise "unchanged". Raises :class:`BindingConflict`
        for a reserved name.
        """
        return self._change(changes.withdraw(identifier, reason=reason, successor=successor, revision=revision), actor)

    def restore(
        self,
        identifier: Name,
        *,
        resource: str | None = None,
        revision: int | None = None,
        actor: Actor | str | None = None,
    ) -> Outcome:
        """Make a withdrawn name live again for the same resource. Return "restored", or "unchanged" for a live name.

        ``resource`` must be the recorded one, or None if none is recorded. Raises :class:`BindingConflict` for another
        resource and for a reserved name.
        """
        return self._change(changes.restore(identifier, resource=resource, revision=revision), actor)

    def promise_persistence(
        self,
        identifier: Name,
        persistence: str = "persistent",
        *,
        availability: str | None = None,
        published: bool = True,
        actor: Actor | str | None = None,
    ) -> Outcome:
        """Promise that a live name is persistent: add the promise to its metadata. The target stays.

        ``availability`` is "lifetime" or "subinfinite"; None is the default of the policy. A name that is not
        ``published`` gets none. Raises :class:`BindingError` if the policy of these bindings forbids the promise, and
        :class:`BindingConflict` for a reserved or withdrawn name. Source: POL-016 to POL-020.
        """

        def promise(existing: Binding, now: datetime) -> Sequence[Change]:
            return [promise_persistence(existing, persistence, availability, now, published=published)]

        return self._change(changes.change_recorded(identifier, promise), actor)

    def lookup(self, identifier: Name) -> Binding | None:
        """Return the binding of a name, also of a reserved or withdrawn one, or None if it is not recorded. :meth:`get`
        raises an error instead. Raises :class:`BindingError` for a text that is not an identifier.
        """
        key = naming.key_of(identifier)
        return self.store.fetch((key,)).get(key)

    def get(self, identifier: Name) -> Binding:
        """Return the binding of a name, also of a reserved or withdrawn one.

        Raises :class:`BindingError` with the code ``not-bound`` if it is not recorded, and for a text that is not an
        identifier. :meth:`lookup` returns None instead, and :func:`ararat.middleware.resolve` also finds the parts
        below a name.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.bind("ark:12345/x", "https://example.org/")
        'bound'
        >>> b.get("ark:/12345/x").target
        'https://example.org/'
        >>> b.get("ark:12345/y")
        Traceback (most recent call last):
        ararat.bindings.names.errors.BindingError: ark:12345/y is not bound (not-bound)
        expected a name that is bound (Ararat)
        >>> b.close(); folder.cleanup()
        """
        key = naming.key_of(identifier)
        binding = self.store.fetch((key,)).get(key)
        if binding is None:
            raise BindingError("not-bound", f"{key} is not bound")
        return binding

    def __contains__(self, identifier: Name) -> bool:
        """Return whether a name in any spelling is recorded. Raises :class:`BindingError` for a text that is not an
        identifier.
        """
        return self.lookup(identifier) is not None

    def count(self) -> NameCount:
        """Return the number of recorded names: live, reserved and withdrawn. Above ten thousand it is an estimate."""
        return self.store.count()

    def list_names(self, selection: Selection | None = None, *, cursor: str | None = None, limit: int = 100) -> Page:
        """Return a page of a list of names, also of reserved and withdrawn ones, in the order of
        :attr:`Selection.order`.

        ``selection`` has the conditions (:func:`ararat.bindings.names.selection.select`); None selects all names.
        ``cursor`` is :attr:`Page.next` of the page before. ``limit`` is from 1 to 1,000. Raises :class:`BindingError`
        with the code ``list-after`` or ``list-limit``.
        """
        _require_limit(limit, "names")
        return self.store.list_names(self._at_once(selection), cursor, limit)

    def count_names(
        self, selection: Selection | None = None, *, by: Group | None = None, most: int | None = None
    ) -> dict[str, int]:
        """Count the recorded names that meet conditions. Return the numbers by group, in the order of the groups.

        ``by`` is "shoulder", "state" or "month" (of creation); without it, the number has the key "". With ``most`` and
        without ``by``, names above this number are not counted. With both, :class:`TooBroad` is raised if more names
        must be read. A database keeps the numbers for states, prefixes and beginnings; other counts read all selected
        names.
        """
        return self.store.count_names(self._at_once(selection), by, most)

    def _at_once(self, selection: Selection | None) -> Selection:
        """Return the conditions of a list, with the time that holds are compared with."""
        selection = selection or Selection()
        return selection if selection.hold is None else replace(selection, now=self.now())

    def list_events(
        self, selection: EventSelection | None = None, *, cursor: int | None = None, limit: int = 100
    ) -> EventPage:
        """Return a page of the changes of names, the newest first. A table file has no recorded changes.

        ``selection`` is the result of :func:`~.names.event_selection.select_events`; None selects all changes that
        belong to no operation. Those of an operation are selected by its number. ``cursor`` is
        :attr:`EventPage.next` of the page before. ``limit`` is from 1 to 1,000. Raises :class:`BindingError`
        (``list-limit``).

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.bind("ark:12345/x", "/x", actor="jane"), b.relocate("ark:12345/x", "/y", actor="ada")
        ('bound', 'relocated')
        >>> [(each.event.action, each.event.actor) for each in b.list_events().events]
        [('relocated', 'ada'), ('bound', 'jane')]
        >>> b.close(); folder.cleanup()
        """
        _require_limit(limit, "events")
        return self.store.events(selection or EventSelection(), cursor, limit)

    def list_operations(self, *, cursor: int | None = None, limit: int = 100) -> list[Operation]:
        """Return the recorded changes of many names at once, such as imports, the newest first; for a table file, an
        empty list.

        ``cursor`` is the number of the last operation of the page before. ``limit`` is from 1 to 1,000. Raises
        :class:`BindingError` with the code ``list-limit``.
        """
        _require_limit(limit, "operations")
        return self.store.operations(cursor, limit)

    def history(self, identifier: Name) -> list[Event]:
        """Return the changes of a name, the oldest first. The list is empty for a name that was never recorded."""
        return self.store.history(naming.key_of(identifier))

    def close(self) -> None:
        """Close the database or file of these bindings. Later uses raise :class:`BindingsUnavailable`."""
        self._opening.close()
        self.source.own_changes += 1

    def change(self, name_changes: Sequence[NameChange], *, actor: Actor | str | None = None) -> list[ChangeResult]:
        """Change several names in one transaction, all or none, and return the results in the same order.

        ``name_changes`` has at most :data:`~.changes.MAX_CHANGES` changes of different names, which the functions of
        :mod:`~.changes` create. The grants of the actor are checked before any name is read. Raises :class:`Stale`,
        :class:`BindingError` with the code ``changes-count`` or ``name-twice``, and the errors of the changes.
        """
        who = Actor.of(actor)
        if len(name_changes) > 1:
            changes.require_few(len(name_changes))
            changes.require_distinct(name_changes)
        changes.require_granted(name_changes, who)
        results: list[ChangeResult] = []
        similar: dict[str, str] = {}
        confused: list[str] = []
        for attempt in changes.attempts(self._opening.location, "name"):
            with attempt, self.transaction(actor=who) as transaction:
                results = changes.make(transaction, name_changes, self.now())
                bound = [each.after.identifier for each in results if each.outcome == "bound"]
                similar = {other: key for key in bound for other in naming.confusable(key)}
                confused = transaction.bound(list(similar)) if similar else []
                break
        for each in results:
            if each.outcome not in ("unchanged", "deleted") and each.after.metadata:
                metadata = each.before.metadata if each.before else NOTHING
                for warning in persistence_terms.warnings_about(each.after.metadata, metadata):
                    _log.warning("%s: %s (%s)", each.after.identifier, warning.message, warning.code)
        for other in confused:
            message = "%s differs from the bound name %s only in %%2E: software can confuse the two"
            _log.warning(message, similar[other], other)
        return results

    @contextmanager
    def transaction(self, *, exclusive: bool = False, actor: Actor = NOBODY) -> Iterator[Transaction]:
        """Begin a transaction of the store, in which ``actor`` changes names. At its end, the audit gets the changes,
        and the functions of the actor are called. With ``exclusive``, other writers wait until it ends. Raises
        :class:`Collision` if another writer was faster, :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
        """
        changes_rules = False
        try:
            with self.store.transaction(exclusive=exclusive) as transaction:
                transaction.actor = actor
                transaction.check_change = self.check_change
                yield transaction
                if not transaction.is_rolled_back:
                    # A change can wait for another writer for seconds, and an import can take minutes.
                    actor.confirm(transaction)
                    if actor.operation is not None:
                        from .storage.writing import audit

                        audit.record_changes(transaction, actor, self.now())
                    for record in actor.at_end:
                        record(transaction)
                    changes_rules = transaction.rules_version is None
        finally:
            # After a failed commit, the change can still be in the database.
            self.source.own_changes += 1
            if changes_rules:
                self._rule_cache.invalidate()

    def run_in_transaction(
        self, function: Callable[[Transaction], T], *, exclusive: bool = False, actor: Actor = NOBODY
    ) -> T:
        """Run ``function`` in a :meth:`transaction`, and return its result. It is repeated if another writer was
        faster. Raises :class:`BindingsUnavailable` after some repetitions.
        """
        for attempt in changes.attempts(self.location, "name"):
            with attempt, self.transaction(exclusive=exclusive, actor=actor) as transaction:
                return function(transaction)
        raise AssertionError("the last attempt raises an exception")

    def _change(self, name_change: NameChange, actor: Actor | str | None) -> Outcome:
        return self.change([name_change], actor=actor)[0].outcome


def _require_limit(limit: int, things: str) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise BindingError(
            "list-limit", Translatable("a page cannot have %(limit)s %(things)s", limit=limit, things=things)
        )


def _fields(target: str | Fields | None, arguments: FieldArguments) -> Fields:
    return target if isinstance(target, Fields) else Fields(target=target, **arguments)
