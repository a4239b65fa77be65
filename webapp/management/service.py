"""The class :class:`Management`: the operations on names and their parts, and the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ...bindings import creation
from ...bindings.changes import ChangeResult, NameChange, at_item
from ...bindings.checks import near_names
from ...bindings.creation import MintedChange, Unless
from ...bindings.log.redaction import Redaction, redact
from ...bindings.names import assignment
from ...bindings.names import naming as names
from ...bindings.names.assignment import Change
from ...bindings.names.binding import Binding, Event
from ...bindings.names.errors import BindingConflict, BindingError
from ...bindings.names.event_selection import EventPage, EventSelection
from ...bindings.names.fields import Fields
from ...bindings.names.naming import Name, NamingRules
from ...bindings.names.operation import Operation
from ...bindings.names.prefixes import prefixes
from ...bindings.names.prefixes.prefixes import PrefixRecords
from ...bindings.names.selection import Group, Page, Selection
from ...identifiers import IdentifierError, parse
from ...identifiers.ark import length
from ...identifiers.text.translatable import Translatable
from ...middleware.http.conditional import entity_tag
from ..accounts.audit_listing import AuditPage, AuditSelection, list_audit
from .bulk import BulkOperations
from .holds import HoldOperations
from .permissions import Missing, require_administrator, require_granted, require_reader, require_right, shown_to
from .prefixes import BrandingOperations, PrefixOperations
from .recording import Recorder

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

# A name that can be bound has at most 255 code points. One code point has at most 12 characters in a key.
_MAX_KEY = 12 * length.ALWAYS_ACCEPTED


_MAX_NUMBER = 2**62

NOTHING_GIVEN = Fields()
"""No field. A new name is live, and its description is the answer."""


class NewName(NamedTuple):
    """A name to create.

    - ``fields``: the fields of the name, or a function that returns them for the key of a minted name.
    - ``name``: the identifier, or None to mint one.
    - ``shoulder``: the NAAN or shoulder below which a name is minted, or None.
    """

    fields: Fields | Callable[[str], Fields] = NOTHING_GIVEN
    name: Name | None = None
    shoulder: str | None = None


def etag(binding: Binding) -> str:
    """Return the strong entity tag of a name, with its quotation marks. It changes with each revision.

    ``binding`` is the recorded binding of the name.

    >>> from datetime import UTC, datetime
    >>> etag(Fields(target="/x").for_name("ark:12345/x").first(datetime(2026, 11, 23, tzinfo=UTC)))
    '"1-660e646648000"'
    """
    return entity_tag(binding.revision, binding.changed)


class Management:
    """The operations on the names of a site, with the permissions of the caller.

    The first argument of each method is the caller, None for a client without an account. Only :meth:`show` accepts
    None. Each change writes a row to the audit in the same transaction. The audit also has each refused change.

    - ``bulk``: the operations on many names. ``prefixes``: those on the records of NAANs and shoulders. ``branding``:
      those on the branding of the public pages. ``holds``: those on holds of names and prefixes.
    - ``warns``: whether the results of changes have warnings about probable mistakes. An interface that cannot show
      them needs no lookups of similar names.
    - ``name``: a name in any spelling.
    - ``revision``: the revision that the name must still have, 0 for a name that must not be recorded, None for any.

    Methods raise :class:`Forbidden`, :class:`Missing` for a name that is not recorded, and :class:`Stale` for another
    revision. They also raise BindingConflict if a name is taken, BindingError for invalid arguments, ReadOnlyBindings
    and BindingsUnavailable. Nothing is changed then.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from ararat.webapp.accounts.model import Caller
    >>> from ararat.webapp.accounts.store import Accounts
    >>> from ararat.webapp.management import Fields, Forbidden
    >>> folder = tempfile.TemporaryDirectory()
    >>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> accounts = Accounts(bindings)
    >>> jane = Caller(account=accounts.add("jane", "curator", ["ark:12345/x5"]))
    >>> management = Management(bindings, accounts)
    >>> saved = management.save(jane, "ark:12345/x5a", Fields(target="https://example.org/1"), revision=0)
    >>> saved.outcome, saved.is_new, management.show(None, "ark:12345/x5a").revision
    ('bound', True, 1)
    >>> management.mint(jane, "ark:12345/x5", Fields(status="reserved")).after.identifier[:12]
    'ark:12345/x5'
    >>> try:
    ...     management.delete(jane, "ark:12345/y1")
    ... except Forbidden as error:
    ...     print(error.code)
    not-granted
    >>> bindings.close(); folder.cleanup()
    """

    def __init__(self, bindings: Bindings, accounts: Accounts, *, warns: bool = True) -> None:
        self.bindings = bindings
        self._warns = warns
        self.accounts = accounts
        self.recorder = recorder = Recorder(bindings, accounts)
        self.bulk = BulkOperations(recorder)
        self.prefixes = PrefixOperations(recorder)
        self.branding = BrandingOperations(recorder)
        self.holds = HoldOperations(recorder)

    def list_names(
        self, caller: Caller | None, selection: Selection | None = None, after: str | None = None, limit: int = 100
    ) -> Page:
        """Return a page of names, also of reserved names.

        - ``caller``: the account that makes the request. It needs the right to read.
        - ``selection``: the conditions for the names, or None for all names.
        - ``after``: the key of the last name of the page before, or None for the first page.
        - ``limit``: the largest number of names to return.
        """
        require_reader(caller)
        return self.bindings.list_names(selection, cursor=after, limit=limit)

    def find_names(
        self, caller: Caller | None, selection: Selection, after: str | None = None, limit: int = 100
    ) -> Page:
        """Return a page of names as :meth:`list_names`, or near names if there are none.

        The arguments are those of :meth:`list_names`. The note of the page states how near names differ.
        """
        require_reader(caller)
        return near_names.page(self.bindings, selection, cursor=after, limit=limit)

    def count_names(
        self,
        caller: Caller | None,
        selection: Selection | None = None,
        by: Group | None = None,
        most: int | None = None,
    ) -> dict[str, int]:
        """Return the number of names in each group, by the name of the group.

        - ``caller``: the account that makes the request. It needs the right to read.
        - ``selection``: the conditions for the names, or None for all names.
        - ``by``: the property that forms the groups, such as "status", or None for one group.
        - ``most``: the number at which counting stops, or None for no limit.
        """
        require_reader(caller)
        return self.bindings.count_names(selection, by=by, most=most)

    def show(self, caller: Caller | None, name: Name) -> Binding:
        """Return the binding of a name.

        ``caller`` is the account that makes the request, or None. ``name`` is the identifier, as a text or a parsed
        name. Raises :class:`Missing` for an unknown name. A reserved name is missing too for a caller without the
        right to read.
        """
        found = self.bindings.lookup(name)
        if found is None or (found.is_reserved and not shown_to(caller, found)):
            raise _missing(name)
        return found

    def show_to_change(self, caller: Caller | None, name: Name) -> Binding:
        """Return the binding of a name that a change is compared with. Raises :class:`Missing` as :meth:`show`.

        ``caller`` is the account that makes the request, or None. ``name`` is the identifier, as a text or a parsed
        name. A name below a grant is found also without the right to read. No answer can have its values then
        (:func:`.permissions.shown_to`).
        """
        found = self.bindings.lookup(name)
        may_change = found is not None and caller is not None and caller.may_change(found.identifier)
        return found if found is not None and may_change else self.show(caller, name)

    def show_longest(self, caller: Caller | None, name: Name) -> Binding:
        """Return the binding of a name, or of the longest recorded name that it begins with.

        ``caller`` is the account that makes the request, or None. ``name`` is the identifier, as a text or a parsed
        name. Raises :class:`Missing` if there is no such name. A prefix can end in the middle of a component, as the
        shoulders of ARKs do.
        """
        # A text that is longer than a name can begin with a name.
        try:
            read = parse(name) if isinstance(name, str) else name
        except IdentifierError:
            read = name
        key = names.key_of(read)
        found = self.bindings.store.fetch(key[:end] for end in range(1, min(len(key), _MAX_KEY) + 1))
        shown = [binding for binding in found.values() if shown_to(caller, binding)]
        if not shown:
            raise _missing(name)
        return max(shown, key=lambda binding: len(binding.identifier))

    def owners(self, caller: Caller | None, keys: Iterable[str]) -> dict[str, str]:
        """Return the account that first recorded each name, by the key of the name. A name without a recorded actor
        is missing.

        ``caller`` is the account that makes the request; it needs the right to read. ``keys`` are the normal forms of
        the names.
        """
        require_reader(caller)
        return self.bindings.store.first_actors(keys)

    def history(self, caller: Caller | None, name: Name) -> list[Event]:
        """Return the changes of a name, the oldest first. A deleted name keeps its history.

        ``caller`` is the account that makes the request; it needs the right to read. ``name`` is the identifier, as a
        text or a parsed name. Raises :class:`Missing` for a name without changes.
        """
        require_reader(caller)
        if not (events := self.bindings.history(name)):
            raise _missing(name)
        return events

    def save(
        self, caller: Caller | None, name: Name, fields: Fields, *, revision: int | None = None, relocate: bool = False
    ) -> ChangeResult:
        """Create a name, or replace all its fields. Return the change that was made.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``fields``: the new fields. A missing field gets its default, but a missing state or resource stays.
        - ``revision``: the revision that the name must have, or None for any revision.
        - ``relocate``: the caller decides that a new target leads to the same resource. Otherwise, the request must
          repeat the recorded resource.
        """

        def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
            if existing is None:
                return [assignment.first(fields.for_name(name, self.bindings.naming), now)]
            whole = assignment.replacing(existing, fields)
            return assignment.set_fields(name, existing, whole, now, relocate=relocate)

        return self._make(caller, "save", name, decide, revision)

    def change(
        self,
        caller: Caller | None,
        name: Name,
        patch: Fields,
        *,
        revision: int | None = None,
        relocate: bool = False,
        create: bool = False,
    ) -> ChangeResult:
        """Change some fields of a name. The other fields stay. Return the change that was made.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``patch``: the fields to change.
        - ``revision``: the revision that the name must have, or None for any revision.
        - ``relocate``: the caller decides that a new target leads to the same resource.
        - ``create``: create a name that is not recorded. Otherwise such a name raises :class:`Missing`.
        """

        def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
            if existing is not None:
                return assignment.set_fields(name, existing, patch, now, relocate=relocate)
            if create:
                return [assignment.first(patch.for_name(name, self.bindings.naming), now)]
            raise _missing(name)

        return self._make(caller, "change", name, decide, revision)

    def create(
        self, caller: Caller | None, wanted: Sequence[NewName], *, unless: Unless | None = None
    ) -> list[ChangeResult]:
        """Create up to 1,000 names, all or none, and return the changes in the order of the request.

        - ``caller``: the account that makes the request. It needs a grant for each name or shoulder.
        - ``wanted``: the new names with their fields, or the shoulders to mint names below.
        - ``unless``: "resource" mints no name for a resource that a recorded name below the shoulder has. The outcome
          is then "exists" (:attr:`.MintedChange.unless`). Each request needs a shoulder and a resource.

        A name that is recorded with the same values is "unchanged". With other values, it raises BindingConflict with
        the code ``name-taken``.

        A shoulder is known if it has a prefix record, or if a grant is for exactly this prefix. An unknown shoulder
        raises :class:`Missing`. The pattern of the minted names is that of the prefix record.
        """
        one = wanted[0].name or wanted[0].shoulder if len(wanted) == 1 else None
        with self.recorder.acting(caller, "create", one, warns=self._warns) as actor:
            known, tests = actor.caller, self.bindings.naming
            shoulders: dict[str, str] = {}
            each_change: list[NameChange | MintedChange] = []
            for number, each in enumerate(wanted):
                with at_item(number):
                    if each.shoulder is not None:
                        require_right(known, "mint", each.shoulder)
                        if each.shoulder not in shoulders:
                            shoulders[each.shoulder] = self._shoulder(known, each.shoulder)
                        minted = _minted(shoulders[each.shoulder], each.fields, tests)
                        each_change.append(minted._replace(unless=_resource(each)) if unless else minted)
                    elif unless:
                        raise _of_field("shoulder", BindingError("unless-name"))
                    else:
                        new = _new(each.name or "", each.fields, tests)
                        actor.require_granted(new.key)
                        each_change.append(new)
            try:
                return creation.create(self.bindings, each_change, actor=actor)
            except BindingError as error:
                if error.item is not None and wanted[error.item].shoulder is not None:
                    # The minted name is free again, and the client has never seen it.
                    error.identifier = None
                raise

    def mint(
        self, caller: Caller | None, shoulder: str, fields: Fields | Callable[[str], Fields] = NOTHING_GIVEN
    ) -> ChangeResult:
        """Mint a name below a NAAN or shoulder, and return the change that was made.

        - ``caller``: the account that makes the request. It needs a grant for the shoulder.
        - ``shoulder``: the NAAN or shoulder, such as "ark:12345/x5".
        - ``fields``: the fields of the new name, or a function that returns them for the key of the name.
        """
        return self.create(caller, [NewName(fields, shoulder=shoulder)])[0]

    def delete(self, caller: Caller | None, name: Name, *, revision: int | None = None) -> ChangeResult:
        """Delete a reserved name. Return the change, with the last binding of the name.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``revision``: the revision that the name must have, or None for any revision.
        """
        return self._make_recorded(caller, "delete", name, assignment.delete, revision)

    def withdraw(
        self,
        caller: Caller | None,
        name: Name,
        *,
        reason: str | None = None,
        successor: str | None = None,
        revision: int | None = None,
    ) -> ChangeResult:
        """Withdraw a name, and return the change. Clients then get a tombstone page instead of a redirect.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``reason``: the reason that the public page shows, or None.
        - ``successor``: the identifier that replaces this one on the public page, or None.
        - ``revision``: the revision that the name must have, or None for any revision.
        """
        decide = lambda existing, now: assignment.withdraw(existing, reason, now, successor)  # noqa: E731
        return self._make_recorded(caller, "withdraw", name, decide, revision)

    def restore(
        self, caller: Caller | None, name: Name, *, resource: str | None = None, revision: int | None = None
    ) -> ChangeResult:
        """Make a withdrawn name live again, and return the change.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``resource``: the recorded resource to confirm, or None. Another resource is refused.
        - ``revision``: the revision that the name must have, or None for any revision.
        """
        decide = lambda existing, now: assignment.restore(existing, resource or existing.resource, now)  # noqa: E731
        return self._make_recorded(caller, "restore", name, decide, revision)

    def redact(self, caller: Caller | None, name: Name, *, reason: str, resource: bool = False) -> Redaction:
        """Remove the texts of a name for good, and their copies (:func:`~ararat.bindings.log.redaction.redact`).

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``name``: the identifier, as a text or a parsed name.
        - ``reason``: why, for the audit.
        - ``resource``: whether to remove the resource, too.
        """
        with self.recorder.acting(caller, "redact", name, require=require_administrator) as actor:
            return redact(self.bindings, name, resource=resource, reason=reason, actor=actor)

    def relocate(
        self,
        caller: Caller | None,
        name: Name,
        fields: Fields,
        *,
        revision: int | None = None,
    ) -> ChangeResult:
        """Change the target of a name for the same resource, and return the change.

        - ``caller``: the account that makes the request. It needs a grant for the name.
        - ``name``: the identifier, as a text or a parsed name.
        - ``fields``: the new target and the other fields to change.
        - ``revision``: the revision that the name must have, or None for any revision.
        """
        decide = lambda existing, now: assignment.relocate(existing, fields, now)  # noqa: E731
        return self._make_recorded(caller, "relocate", name, decide, revision)

    def _make_recorded(
        self,
        caller: Caller | None,
        operation: str,
        name: Name,
        decide: Callable[[Binding, datetime], Change],
        revision: int | None,
    ) -> ChangeResult:
        def decide_recorded(existing: Binding | None, now: datetime) -> Sequence[Change]:
            if existing is None:
                raise _missing(name)
            return [decide(existing, now)]

        return self._make(caller, operation, name, decide_recorded, revision)

    def _make(
        self,
        caller: Caller | None,
        operation: str,
        name: Name,
        decide: Callable[[Binding | None, datetime], Sequence[Change]],
        revision: int | None,
    ) -> ChangeResult:
        """Make a change of one name. The permission is checked before the name is read."""
        with self.recorder.acting(caller, operation, name, warns=self._warns) as actor:
            key = names.key_of(name)
            actor.require_granted(key)
            wanted = NameChange(key, decide, revision)
            return self.bindings.change([wanted], actor=actor)[0]

    def _shoulder(self, caller: Caller, shoulder: str) -> str:
        """Return the key of a known shoulder that the caller can mint below."""
        key = prefixes.check_prefix(shoulder, self.bindings.naming)
        records = PrefixRecords(self.bindings.store.prefixes())
        # Who asks the wrong resolver learns where the names are minted, with or without a grant.
        records.require_minted_here(key)
        require_granted(caller, key)
        granted = caller.account.prefixes + (caller.token.prefixes or () if caller.token else ())
        if key in granted or records.get(key):
            return key
        if caller.is_administrator and any(key in account.prefixes for account in self.accounts.list()):
            return key
        message = Translatable("the shoulder %(shoulder)s has no prefix record", shoulder=key)
        raise Missing("shoulder-unknown", message, identifier=key)

    def events(
        self,
        caller: Caller | None,
        selection: EventSelection | None = None,
        *,
        below: int | None = None,
        limit: int = 100,
    ) -> EventPage:
        """Return a page of the changes of all names, the newest first.

        - ``caller``: the account that makes the request. It needs the right to read.
        - ``selection``: the conditions for the changes, or None for all changes.
        - ``below``: return only changes with a smaller number. None starts at the newest one.
        - ``limit``: the largest number of changes to return.
        """
        require_reader(caller)
        return self.bindings.list_events(selection, cursor=below, limit=limit)

    def operation(self, caller: Caller | None, number: int) -> Operation:
        """Return a recorded operation on many names.

        ``caller`` is the account that makes the request; it needs the right to read. ``number`` is the number of the
        operation. Raises :class:`Missing` with the code ``operation-unknown``.
        """
        require_reader(caller)
        found = self.bindings.store.operations(number + 1, 1) if 0 < number < _MAX_NUMBER else []
        if not found or found[0].number != number:
            raise Missing(
                "operation-unknown", Translatable("the operation %(number)s does not exist", number=str(number))
            )
        return found[0]

    def audit(
        self, caller: Caller | None, selection: AuditSelection, *, below: int | None = None, limit: int = 100
    ) -> AuditPage:
        """Return a page of the audit, which lists the requests of accounts, the newest first.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``selection``: the conditions for the requests.
        - ``below``: return only requests with a smaller number. None starts at the newest one.
        - ``limit``: the largest number of requests to return.
        """
        require_administrator(caller)
        return list_audit(self.accounts, selection, below=below, limit=limit)


def _new(name: Name, fields: Fields | Callable[[str], Fields], rules: NamingRules) -> NameChange:
    """Return the first change of a name. If it is recorded already with other values, the change is a conflict."""
    try:
        key = names.assignable(name, rules)
    except BindingError as error:
        error.field = "name"
        raise
    stated = (fields if isinstance(fields, Fields) else fields(key)).for_name(name, rules)

    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        first = assignment.first(stated, now)
        if existing is None:
            return [first]
        again = replace(
            first.after,
            spelling=existing.spelling,
            created=existing.created,
            changed=existing.changed,
            revision=existing.revision,
        )
        if again != existing:
            raise BindingConflict("name-taken", existing, again)
        return [Change("unchanged", existing, None)]

    return NameChange(key, decide)


def _minted(shoulder: str, fields: Fields | Callable[[str], Fields], rules: NamingRules) -> MintedChange:
    return MintedChange(shoulder, lambda name: _new(name, fields, rules))


def _resource(new: NewName) -> str:
    if not isinstance(new.fields, Fields) or new.fields.resource is None:
        raise _of_field("resource", BindingError("key-missing", creation.NO_KEY))
    return new.fields.resource


def _of_field(field: str, error: BindingError) -> BindingError:
    error.field = field
    return error


def _missing(name: Name) -> Missing:
    key = names.key_of(name)
    return Missing("not-bound", identifier=key)
