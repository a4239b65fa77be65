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

import copy
import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Self, TypeVar, Unpack

from ..identifiers import Ark, Urn
from . import changes, prefix_changes
from .changes import Decide, Made, NameChange
from .names import assignment, validation
from .names import naming as names
from .names.assignment import Change, Outcome
from .names.binding import Binding, Event, NameCount, StoredRedirect
from .names.branding.model import Branding
from .names.branding.stored import BrandingVersion, history_of
from .names.corrections import corrections, is_mistyped
from .names.errors import BindingError, Stale
from .names.event_selection import EventPage, EventSelection
from .names.fields import MAX_ACTOR, Fields, Stated
from .names.naming import Name
from .names.operation import Operation
from .names.policy import ChangeCheck, PolicyCheck, no_policy, promise_persistence
from .names.prefixes import prefixes
from .names.prefixes.prefixes import Inherited, PrefixEvent, PrefixRecord, PrefixRecords
from .names.prefixes.rules import Rule, RuleEvent, RuleMatch
from .names.selection import MAX_PAGE, Group, Page, Selection
from .rule_cache import RuleCache
from .storage.reopening import Opening

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from .storage.writing.transaction import Transaction
    from .stores import Store


T = TypeVar("T")

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


class _Changes:
    """The number of changes of this process. The copies of :meth:`Bindings.recorded_by` share it."""

    number = 0


class Bindings:
    """The bindings of a site in a database or a table file. Open them with :func:`~.open.open_bindings`.

    All threads and forked processes can use one object. Pass a name in any spelling, or as an Ark or Urn. Every method
    raises :class:`BindingsUnavailable` if the store cannot be reached; the next call tries again. A change is durable
    when the method returns. A table file and a snapshot are read-only: every change raises :class:`ReadOnlyBindings`.

    ``max_operation`` is the maximum number of names of a relocation, withdrawal or undo of many names; None means any.
    """

    def __init__(
        self,
        opening: Opening[Store],
        clock: Callable[[], datetime] = utc_now,
        policy: Profile | None = None,
        *,
        is_file: bool = False,
        is_snapshot: bool = False,
        is_local: bool = False,
    ) -> None:
        self.policy = policy
        self.check_change: ChangeCheck = PolicyCheck(policy) if policy else no_policy
        self.max_operation: int | None = None
        self.is_file = is_file
        self.is_snapshot = is_snapshot
        self.is_local = is_local
        self._opening = opening
        self._clock = clock
        self._records: tuple[Callable[[Transaction], object], ...] = ()
        self._rule_cache = RuleCache(lambda: opening.store)
        self._changes = _Changes()

    @property
    def is_read_only(self) -> bool:
        """Whether the store is a file that is only read: a table file or a snapshot. It has no accounts."""
        return self.is_file or self.is_snapshot

    def __repr__(self) -> str:
        return f"<Bindings {self.where}>"

    @property
    def where(self) -> str:
        """The place of the store for messages, such as a URL, without user and password."""
        return self._opening.where

    @property
    def store(self) -> Store:
        """The store that has the bindings. It is opened if it is not open yet.

        Raises :class:`BindingsUnavailable` if it cannot be opened.
        """
        return self._opening.store

    def open(self) -> Self:
        """Open the store now if it is not open yet, and return these bindings.

        Raises :class:`BindingError` with the code ``foreign-database``, ``database-encoding`` or ``schema-version``,
        :class:`TableError` for a file that is not a table of bindings, and :class:`BindingsUnavailable`.
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
        actor: str | None = None,
        **stated: Unpack[Stated],
    ) -> Outcome:
        """Bind a name to a target, or change the binding of a bound name.

        - ``target``: an http(s) URL or a path of this site (:mod:`targets`), or all fields in one value.
        - ``kind``: "located", "related", "described" (without a target) or "served" (the target is a path).
        - ``resource``: any text of 1 to 2,000 characters that identifies the thing itself.
        - ``metadata`` and ``alternates``: see :mod:`metadata` and :mod:`alternates`.
        - ``redirect``: the status 302 or 307.
        - ``passthrough``: whether identifiers below the name lead to URLs below its target (:mod:`passthrough`).
        - ``scope``: "name", or for a served name "subtree": the site answers for all identifiers below it
          (:mod:`subtree`).
        - ``revision``: the revision that the name must still have; 0 for a name that must not be recorded. Another
          revision raises :class:`Stale`.
        - ``actor``: the person or program that makes the change, for the history.

        An argument that is None does not change the recorded value. A new name has the defaults no metadata, no
        alternates, no passthrough, 302 and "name". Elements of ``metadata`` and ``alternates`` that are not passed
        stay; pass an empty text to delete an element.

        Returns one of these texts. Each change goes to the history.

        - "bound": the name is new.
        - "unchanged": the binding is recorded already.
        - "relocated": ``resource`` is the recorded one, and target, kind, passthrough, scope or alternates changed.
        - "claimed": ``resource`` is recorded for the first time.
        - "updated": metadata or redirect changed.

        Raises :class:`BindingConflict` for every other change, because a name is never re-assigned; also for a new
        target together with a first resource. Raises :class:`BindingError` for arguments that cannot be bound.

        Source: ARK-084, ARK-085, ARK-106, ARK-108, POL-023, URN-002.
        """
        fields = _fields(target, stated)
        checked = (fields if fields.kind else fields._replace(kind="located")).for_name(identifier)
        decide: Decide = lambda existing, now: [assignment.bind(existing, checked, now)]  # noqa: E731
        outcome = self._change(NameChange(checked.key, decide, revision), actor)
        if outcome == "bound":
            for warning in names.warnings_about(identifier):
                _log.warning("%s is bound: %s", checked.key, warning.message)
        return outcome

    def relocate(
        self,
        identifier: Name,
        target: str | Fields | None = None,
        *,
        revision: int | None = None,
        actor: str | None = None,
        **stated: Unpack[Stated],
    ) -> Outcome:
        """Change the place of a live name: its target, kind, passthrough, scope or alternates.

        The caller decides that the new place leads to the same resource; :meth:`bind` requires the recorded resource
        instead. The parameters are as for :meth:`bind`. An argument that is None does not change the recorded value.
        Returns "relocated" or "unchanged". Raises :class:`BindingConflict` for a reserved or withdrawn name.
        """
        fields = _fields(target, stated)
        return self._change_recorded(
            identifier, lambda existing, now: assignment.relocate(existing, fields, now), revision, actor
        )

    def reserve(
        self,
        identifier: Name,
        target: str | Fields | None = None,
        *,
        revision: int | None = None,
        actor: str | None = None,
        **stated: Unpack[Stated],
    ) -> Outcome:
        """Reserve a name: every public answer is that of an unknown name until :meth:`bind` makes it live.

        The parameters are as for :meth:`bind`. The default of ``kind`` is "located" with a target, otherwise
        "described". Returns "reserved", or for a reserved name "updated" or "unchanged". Raises
        :class:`BindingConflict` with the code ``reserve-public`` for a live or withdrawn name.

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
        fields = _fields(target, stated)._replace(status="reserved").for_name(identifier)
        decide: Decide = lambda existing, now: [assignment.reserve(existing, fields, now)]  # noqa: E731
        return self._change(NameChange(fields.key, decide, revision), actor)

    def delete(self, identifier: Name, *, revision: int | None = None, actor: str | None = None) -> Outcome:
        """Delete a reserved name, and return "deleted". Its history stays, and the name is never minted again.

        ``revision`` is as for :meth:`bind`. Raises :class:`BindingConflict` with the code ``delete-public`` for a live
        or withdrawn name.
        """
        return self._change_recorded(identifier, assignment.delete, revision, actor)

    def withdraw(
        self,
        identifier: Name,
        *,
        reason: str | None = None,
        successor: str | None = None,
        revision: int | None = None,
        actor: str | None = None,
    ) -> Outcome:
        """Withdraw a live name, and return "withdrawn". Its record stays as a tombstone, and it is never re-assigned.

        - ``reason``: a text for the tombstone, or None.
        - ``successor``: a name or an http(s) URL that replaces the name, or None.
        - ``revision``: as for :meth:`bind`.

        For a withdrawn name, returns "updated" if ``reason`` or ``successor`` is new, otherwise "unchanged". Raises
        :class:`BindingConflict` for a reserved name.
        """
        return self._change_recorded(
            identifier, lambda existing, now: assignment.withdraw(existing, reason, now, successor), revision, actor
        )

    def restore(
        self, identifier: Name, *, resource: str | None = None, revision: int | None = None, actor: str | None = None
    ) -> Outcome:
        """Make a withdrawn name live again, and return "restored". Returns "unchanged" for a live name.

        ``resource`` must be the recorded one, or None if none is recorded. ``revision`` is as for :meth:`bind`. Raises
        :class:`BindingConflict` for another resource and for a reserved name.
        """
        return self._change_recorded(
            identifier, lambda existing, now: assignment.restore(existing, resource, now), revision, actor
        )

    def mark_persistent(
        self,
        identifier: Name,
        persistence: str = "persistent",
        *,
        availability: str | None = None,
        published: bool = True,
        actor: str | None = None,
    ) -> Outcome:
        """Promise that a live name is persistent: add the promise to its metadata. The target stays.

        - ``persistence``: the text of the promise.
        - ``availability``: "lifetime" or "subinfinite"; None is the default of the policy.
        - ``published``: False if the name is not published; it then gets no availability.

        Raises :class:`BindingError` if the policy of these bindings forbids the promise, and :class:`BindingConflict`
        for a reserved or withdrawn name.

        Source: POL-016 to POL-020.
        """
        return self._change_recorded(
            identifier,
            lambda existing, now: promise_persistence(existing, persistence, availability, now, published=published),
            None,
            actor,
        )

    def lookup(self, identifier: Name) -> Binding | None:
        """Return the binding of a name, also of a reserved or withdrawn one. Return None if it is not recorded.

        Raises :class:`BindingError` for a text that is not an identifier.
        """
        key = names.key(names.read(identifier))
        return self.store.fetch((key,)).get(key)

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of several names, by key, with one query. Names that are not recorded are omitted.

        A key is the normal form of a Basic ARK, or of the assigned name of a URN.
        """
        return self._opening.store.fetch(keys)

    def stored_redirect(self, key: str) -> StoredRedirect | None:
        """Return the redirect of a live name without alternates that the site does not serve, else None.

        ``key`` has at most 255 printable ASCII characters.
        """
        return self._opening.store.stored_redirect(key)

    def data_version(self) -> Hashable | None:
        """Return a value that differs after each change of a binding, also by other processes.

        It is None for a database on several servers, or behind a pooler, because they can have different states.
        """
        return self._opening.store.data_version()

    @property
    def own_changes(self) -> int:
        """The number of changes that were made through this object. :meth:`close` is a change."""
        return self._changes.number

    def count(self) -> NameCount:
        """Return the number of names, live, reserved or withdrawn. Above ten thousand it is an estimate."""
        return self.store.count()

    def list_names(self, selection: Selection | None = None, *, after: str | None = None, limit: int = 100) -> Page:
        """Return a page of a list of names, also of reserved and withdrawn ones.

        - ``selection``: the conditions (:func:`ararat.bindings.names.selection.select`); None selects all names.
        - ``after``: :attr:`Page.next` of the page before, or None for the first page.
        - ``limit``: the maximum number of names, from 1 to 1,000.

        The order is that of :attr:`Selection.order`. Raises :class:`BindingError` with the code ``list-after`` or
        ``list-limit``.
        """
        _require_limit(limit, "names")
        return self.store.list_names(selection or Selection(), after, limit)

    def count_names(self, selection: Selection | None = None, *, by: Group | None = None) -> dict[str, int]:
        """Count the names exactly, in groups. Return the numbers by group, in the order of the groups.

        ``selection`` has the conditions; None counts all names. ``by`` is "shoulder", "state" or "month" (of creation).
        If it is None, the number of all names has the key "". A count reads all selected names; :meth:`count` is
        faster.
        """
        return self.store.count_names(selection or Selection(), by)

    def list_events(
        self, selection: EventSelection | None = None, *, below: int | None = None, limit: int = 100
    ) -> EventPage:
        """Return a page of events, the newest first. A table file has no events.

        ``selection`` is the result of :func:`~.names.event_selection.select_events`; None selects all. ``below`` is
        :attr:`EventPage.next` of the page before, or None. ``limit`` is from 1 to 1,000. Raises :class:`BindingError`
        with the code ``list-limit``.

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
        return self.store.events(selection or EventSelection(), below, limit)

    def list_operations(self, *, before: int | None = None, limit: int = 100) -> list[Operation]:
        """Return the recorded operations of a database, the newest first. A table file has none.

        ``before`` is the number of the last operation of the page before, or None for the first page. ``limit`` is
        from 1 to 1,000. Raises :class:`BindingError` with the code ``list-limit``.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> from .bulk.relocation import relocate_prefix
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.bind("ark:12345/x1", "https://old.example/1")
        'bound'
        >>> relocate_prefix(b, "old.example", "new.example", actor="me").operation
        1
        >>> [(each.number, each.action, each.actor, each.names) for each in b.list_operations()]
        [(1, 'relocate', 'me', 1)]
        >>> b.close(); folder.cleanup()
        """
        _require_limit(limit, "operations")
        return self.store.operations(before, limit)

    def owners(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the owners of names by their keys: the actors of their first changes. Names without one are left out.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.bind("ark:12345/x1", "/1", actor="jane"), b.bind("ark:12345/x1", "/1", redirect=307, actor="joe")
        ('bound', 'updated')
        >>> b.owners(["ark:12345/x1", "ark:12345/x2"])
        {'ark:12345/x1': 'jane'}
        >>> b.close(); folder.cleanup()
        """
        return self.store.first_actors(keys)

    def history(self, identifier: Name) -> list[Event]:
        """Return the changes of a name, the oldest first. The list is empty for a name that was never recorded."""
        return self.store.history(names.key(names.read(identifier)))

    def log_entries(self, key: str) -> list[int]:
        """Return the numbers of the entries of the name with this key in the log, in their order.

        Source: :mod:`ararat.middleware.log`.
        """
        return self.store.log_entries(key)

    def first_log_entry(self, key: str) -> tuple[int, datetime] | None:
        """Return the number of the first log entry of the name with this key, and the time of its change.

        None without an entry. Entries that are not published yet also have a number.
        """
        return self.store.first_log_entry(key)

    def log_key(self) -> str | None:
        """Return the public key of the log of these bindings, or None without a log."""
        return self.store.log_key()

    def set_rule(
        self, prefix: str, template: str, *, redirect: int = 302, actor: str | None = None
    ) -> Literal["set", "changed", "unchanged"]:
        """Set a rule for all unbound names that begin with ``prefix``, a NAAN or a shoulder.

        ``template`` is a URL or a path of this site that contains a variable (:mod:`rules`). ``redirect`` is 302 or
        307. Returns "set", "changed" if ``prefix`` had another rule, or "unchanged". Running servers use the rule after
        about a second. Raises :class:`BindingError`.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.set_rule("ark:12345/x5", "https://example.org/things/${value}")
        'set'
        >>> [rule.prefix for rule in b.rules()], b.remove_rule("ark:12345/x5"), b.rules()
        (['ark:12345/x5'], 'removed', [])
        >>> b.close(); folder.cleanup()
        """
        check_actor(actor)
        key = prefixes.check_prefix(prefix)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = prefix_changes.set_rule(transaction, key, template, redirect, self.now(), actor)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        return self.write(write)

    def remove_rule(self, prefix: str, *, actor: str | None = None) -> Literal["removed"]:
        """Delete the rule of a NAAN or shoulder; its history stays.

        Raises :class:`BindingError` with the code ``rule-unknown`` if it has no rule.
        """
        check_actor(actor)
        key = prefixes.check_prefix(prefix)
        return self.write(lambda transaction: prefix_changes.remove_rule(transaction, key, self.now(), actor))

    def rules(self) -> list[Rule]:
        """Return the rules of all NAANs and shoulders, in the order of these prefixes."""
        return sorted(self.store.rules(), key=lambda rule: rule.prefix)

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule of a NAAN or shoulder, the oldest first."""
        return self.store.rule_history(prefixes.check_prefix(prefix))

    def set_prefix(
        self,
        prefix: str,
        *,
        who: str | None = None,
        what: str | None = None,
        contact: str | None = None,
        statement: str | None = None,
        pattern: str | None = None,
        characters: str | None = None,
        actor: str | None = None,
    ) -> Literal["set", "changed", "unchanged"]:
        """Record texts about a NAAN or shoulder (:class:`~.prefixes.PrefixRecord`).

        An argument that is None does not change the recorded text, and an empty text deletes it. Returns "set",
        "changed" if ``prefix`` had another record, or "unchanged". Running servers use the record after about a second.

        Raises :class:`BindingError` with the code ``rule-prefix``, ``prefix-text``, ``prefix-pattern``,
        ``prefix-characters`` or ``prefix-empty``.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.set_prefix("12345/x5", what="Maps", characters="digits"), b.set_prefix("12345/x5", what="Old maps")
        ('set', 'changed')
        >>> b.prefix("ark:12345/x5").texts
        {'what': 'Old maps', 'characters': 'digits'}
        >>> b.remove_prefix("12345/x5"), b.prefixes()
        ('removed', [])
        >>> b.close(); folder.cleanup()
        """
        check_actor(actor)
        key = prefixes.check_prefix(prefix)
        given: dict[prefixes.Field, str | None] = {"who": who, "what": what, "contact": contact}
        given |= {"statement": statement, "pattern": pattern, "characters": characters}
        texts = prefixes.check(key, given)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = prefix_changes.set_record(transaction, key, texts, self.now(), actor)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        return self.write(write)

    def remove_prefix(self, prefix: str, *, actor: str | None = None) -> Literal["removed"]:
        """Delete the record of a NAAN or shoulder; its history stays.

        Raises :class:`BindingError` with the code ``prefix-unknown`` if it has no record.
        """
        check_actor(actor)
        key = prefixes.check_prefix(prefix)
        return self.write(lambda transaction: prefix_changes.remove_record(transaction, key, self.now(), actor))

    def prefix(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this NAAN or shoulder, or None."""
        key = prefixes.check_prefix(prefix)
        return next((record for record in self.prefixes() if record.prefix == key), None)

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all NAANs and shoulders in order, each with the rule of the same prefix."""
        return prefixes.with_rules(self.store.prefixes(), self.store.rules())

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a NAAN or shoulder, the oldest first."""
        return self.store.prefix_history(prefixes.check_prefix(prefix))

    def prefix_records(self) -> PrefixRecords:
        """Return the records of NAANs and shoulders from the memory of this process.

        They are about one second old at most. :meth:`prefixes` reads the store.
        """
        return self._rule_cache.records()

    def inherited_statement(self, binding: Binding) -> Inherited | None:
        """Return the statement of persistence that a name inherits from the record of its NAAN or shoulder.

        Return None if the name has its own statement, or no record has one.
        """
        return self.prefix_records().inherited_statement(binding)

    def set_branding(
        self, branding: Branding, *, revision: int | None = None, actor: str | None = None
    ) -> Literal["set", "unchanged"]:
        """Record the branding of the public pages. Its values replace those of the settings.

        - ``branding``: the checked values (:func:`ararat.bindings.names.branding.model.check`).
        - ``revision``: the revision that the recorded branding must have, 0 for no branding, or None for any. Another
          one raises :class:`Stale`.

        Running servers use it after about a second. Earlier versions stay in :meth:`branding_history`.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> from ararat.bindings.names.branding.model import Branding
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.set_branding(Branding(institution="A library")), b.branding().institution
        ('set', 'A library')
        >>> b.set_branding(Branding(institution="The library"), revision=1)
        'set'
        >>> [version.branding.institution for version in b.branding_history()]
        ['The library', 'A library']
        >>> b.close(); folder.cleanup()
        """
        check_actor(actor)

        def write(transaction: Transaction) -> Literal["set", "unchanged"]:
            existing = transaction.branding()
            recorded = existing.revision if existing else 0
            if revision is not None and revision != recorded:
                raise Stale("branding", "the branding was changed after it was read")
            if existing is not None and existing.branding == branding:
                transaction.rollback()
                return "unchanged"
            now = assignment.later(self.now(), existing.changed) if existing else self.now()
            transaction.put_branding(
                BrandingVersion(branding=branding, revision=recorded + 1, changed=now, actor=actor)
            )
            return "set"

        return self.write(write)

    def branding(self) -> Branding:
        """Return the recorded branding of the public pages from the memory of this process.

        It is about one second old at most. It is empty if nothing is recorded, or if the store was never read.
        """
        return self._rule_cache.branding()

    def branding_history(self) -> list[BrandingVersion]:
        """Return the recorded branding and all earlier ones, the newest first."""
        return history_of(self.store.recorded_brandings())

    def binding_by_rule(self, identifier: Ark | Urn) -> RuleMatch | None:
        """Return the binding that a rule creates for an ARK, and the prefix of the rule. Return None if no rule
        applies.

        The rule with the longest matching prefix applies. The binding of the name itself is not looked up.
        """
        return self._rule_cache.binding_for(identifier)

    def is_mistyped(self, identifier: Ark | Urn) -> bool:
        """Return whether the check character of an ARK is wrong, compared with the names that were minted here."""
        return isinstance(identifier, Ark) and is_mistyped(identifier.basic, self._rule_cache.patterns())

    def correction(self, identifier: Ark | Urn) -> str | None:
        """Return the only live name that is a probable correction of an unbound ARK (:mod:`corrections`), or None."""
        if isinstance(identifier, Urn):
            return None
        names = corrections(identifier.basic, self._rule_cache.patterns())
        live = [name for name, binding in self.fetch(names).items() if binding.is_live] if names else []
        return live[0] if len(live) == 1 else None

    def close(self) -> None:
        """Close the store. Later uses raise :class:`BindingsUnavailable`."""
        self._opening.close()
        self._changes.number += 1

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._opening.is_closed

    @property
    def failure(self) -> str | None:
        """Why the store could not be opened, in printable ASCII. It is None if it is open, or was never opened."""
        return self._opening.failure

    @property
    def refusal(self) -> str | None:
        """Why the current version of a table file is not served, in printable ASCII.

        It is None if it is served, or for a database.
        """
        store = self._opening.opened
        return store.refusal if store else None

    @property
    def unrecorded(self) -> str | None:
        """Why the copy of the served table file cannot be saved. It is None if it is saved, or for a database.

        Without a copy, a restarted process cannot check the file against the version that was served before.
        """
        store = self._opening.opened
        return store.unrecorded if store else None

    def now(self) -> datetime:
        """Return the time that is recorded with changes: the current time in UTC."""
        return self._clock()

    def change(self, wanted: Sequence[NameChange], *, actor: str | None = None) -> list[Made]:
        """Change several names in one transaction, all or none. Return the results in the same order.

        ``wanted`` has at most :data:`~.changes.MAX_CHANGES` changes, each of another name.

        Raises :class:`Stale` if a name has another revision than expected. Raises :class:`BindingError` with the code
        ``changes-count`` or ``name-twice``, the errors of the changes, and :class:`BindingsUnavailable`. Nothing is
        written then.
        """
        check_actor(actor)
        changes.require_few(len(wanted))
        changes.require_distinct(wanted)

        def write(transaction: Transaction) -> tuple[list[Made], dict[str, str]]:
            made = changes.make(transaction, wanted, self.check_change, self.now(), actor)
            bound = [each.after.identifier for each in made if each.outcome == "bound"]
            similar = {other: key for key in bound for other in names.confusable(key)}
            return made, {other: similar[other] for other in transaction.bound(list(similar))}

        made, similar = self.write(write)
        for other, key in similar.items():
            _log.warning("%s differs from the bound name %s only in %%2E: software can confuse the two", key, other)
        return made

    def recorded_by(self, record: Callable[[Transaction], object]) -> Bindings:
        """Return these bindings with a callback that writes further rows in the transaction of each change.

        ``record`` is called once at the end of each transaction that is not rolled back. If it raises an exception,
        nothing is written. :attr:`Transaction.written` has the changes of names. The two objects share the store. A
        callback that these bindings have is called first.
        """
        recorded = copy.copy(self)
        recorded._records = (*self._records, record)
        return recorded

    @contextmanager
    def transaction(self, *, exclusive: bool = False) -> Iterator[Transaction]:
        """Begin a transaction of the store, with the callback of :meth:`recorded_by` at its end.

        With ``exclusive``, other writers wait until it ends. Raises :class:`Collision` if another writer was faster,
        :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
        """
        try:
            with self.store.transaction(exclusive=exclusive) as transaction:
                yield transaction
                if not transaction.is_rolled_back:
                    for record in self._records:
                        record(transaction)
        finally:
            # After a failed commit, the change can still be in the database.
            self._changes.number += 1

    def write(self, write: Callable[[Transaction], T], *, exclusive: bool = False) -> T:
        """Return the result of ``write`` in a transaction. Repeat it if another writer was faster.

        Raises :class:`BindingsUnavailable` after some repetitions.
        """

        def attempt() -> T:
            with self.transaction(exclusive=exclusive) as transaction:
                return write(transaction)

        return changes.repeat_after_collision(attempt, str(self.store), "name")

    def _change_recorded(
        self,
        identifier: Name,
        decide: Callable[[Binding, datetime], Change],
        revision: int | None,
        actor: str | None,
    ) -> Outcome:
        wanted = changes.change_recorded(identifier, lambda existing, now: [decide(existing, now)], revision)
        return self._change(wanted, actor)

    def _change(self, wanted: NameChange, actor: str | None) -> Outcome:
        return self.change([wanted], actor=actor)[0].outcome


def _require_limit(limit: int, things: str) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise BindingError("list-limit", f"a page cannot have {limit:,} {things}")


def _fields(target: str | Fields | None, stated: Stated) -> Fields:
    return target if isinstance(target, Fields) else Fields(target=target, **stated)


def check_actor(actor: str | None) -> None:
    """Check the person or program that makes a change. None is permitted.

    Raises :class:`BindingError` with the code ``actor-text`` for a text that the history cannot record.
    """
    if actor is not None:
        validation.check(actor, "actor-text", "actor", MAX_ACTOR)
