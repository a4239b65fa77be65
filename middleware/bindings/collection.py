"""What names are bound to: looking it up, changing it, and its history.

>>> import tempfile
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
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from ...identifiers import Ark, Urn
from ..errors import BindingError, BindingsUnavailable, Collision
from ..resolution import rules
from ..resolution.rules import Rule, Rulebook, Ruled, RuleEvent
from ..storage.opening import Opening
from ..tabular.formats import SUFFIXES
from . import assignment, names, validation
from .assignment import Change, Outcome
from .model import Binding, Event, Kind, NameCount
from .names import Name
from .policy import ChangeCheck, PolicyCheck, no_policy, promise_persistence

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile

DATABASE_SUFFIXES = (".sqlite", ".sqlite3", ".db")

_TRIES = 5

T = TypeVar("T")

_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class Bindings:
    """The bindings of a site, in a database or a file. Made by :func:`open_bindings`; may be used by all threads and by
    forked processes.

    Names may be given in any spelling, or as an Ark or Urn. Every method raises :class:`BindingsUnavailable` when the
    database cannot be reached; after that, the next call tries again. A change that returned is durable. Those of a
    file can only be read, and every change raises :class:`ReadOnlyBindings` (:mod:`filestore`).
    """

    def __init__(
        self,
        opening: Opening,
        clock: Callable[[], datetime] = _now,
        policy: Profile | None = None,
        *,
        is_file: bool = False,
    ) -> None:
        self.policy = policy
        self.check_change: ChangeCheck = PolicyCheck(policy) if policy else no_policy
        self.is_file = is_file
        self._opening = opening
        self._clock = clock
        self._rulebook = Rulebook(lambda: opening.store)

    def __repr__(self) -> str:
        return f"<Bindings {self.where}>"

    @property
    def where(self) -> str:
        """The place of the bindings, without user and password."""
        return self._opening.where

    @property
    def store(self) -> Any:
        """The store, of either kind; it is opened first if it is not open yet."""
        return self._opening.store

    def open(self) -> Self:
        """Open the store now if it is not open yet, and return these bindings.

        Raises :class:`BindingError` with the code ``foreign-database``, ``database-encoding`` or ``schema-version``,
        :class:`TableError` for a file that is no table of bindings, and :class:`BindingsUnavailable`.
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
        target: str | None = None,
        *,
        kind: str = "located",
        resource: str | None = None,
        metadata: Mapping[str, str] | None = None,
        passthrough: bool | None = None,
        alternates: Mapping[str, str] | None = None,
        redirect: int | None = None,
        scope: str | None = None,
        actor: str | None = None,
    ) -> Outcome:
        """Bind a name to a target; "bound", "unchanged", "updated", "claimed" or "relocated".

        ``target`` is an http(s) address or a path of this site (:mod:`destination`). ``kind`` is "located", "related",
        "described" (then there is no target) or "served" (then it is a path). ``resource`` is any text that names the
        thing itself, 1 to 2,000 characters. ``metadata``: :mod:`metadata`. ``alternates``: :mod:`alternates`.
        ``redirect`` is 302 or 307. ``passthrough`` leads what is below the name to what is below its target
        (:mod:`passthrough`); ``scope`` is "name", or for a served name "subtree": the site answers for all below it
        (:mod:`subtree`). ``actor`` says who does it, for the history. What is None stays as it is on record; a new name
        gets no metadata, no alternates, no passthrough, 302, "name". Elements of ``metadata`` and ``alternates`` that
        are not mentioned stay, too; an element with an empty text is deleted.

        For a name that is bound already, another target, kind, passthrough, scope or alternate gives "relocated" if
        ``resource`` is the one on record. A resource where none is on record gives "claimed", other metadata or another
        redirect "updated". Each goes to the history. Anything else raises :class:`BindingConflict`, since a name is
        never re-assigned; so does a new place together with a claim. What can never be bound raises
        :class:`BindingError`.

        Source: ARK-084, ARK-085, ARK-106, ARK-108, POL-023, URN-002.
        """
        proposal = assignment.propose(
            identifier,
            target,
            kind=kind,
            redirect=redirect,
            resource=resource,
            passthrough=passthrough,
            scope=scope,
            alternates=alternates,
            metadata=metadata,
        )
        outcome = self._change(proposal.key, actor, lambda existing, now: assignment.bind(existing, proposal, now))
        if outcome == "bound":
            for doubt in names.doubts(identifier):
                _log.warning("%s is bound: %s", proposal.key, doubt.message)
        return outcome

    def relocate(
        self,
        identifier: Name,
        target: str | None = None,
        *,
        kind: Kind | None = None,
        passthrough: bool | None = None,
        scope: str | None = None,
        alternates: Mapping[str, str] | None = None,
        actor: str | None = None,
    ) -> Outcome:
        """Move a name, by a person who knows that the same thing is there now; "relocated" or "unchanged".

        ``kind``, ``passthrough``, ``scope`` and ``alternates`` are as for :meth:`bind`; what is None stays as it is on
        record. Raises :class:`BindingConflict` for a withdrawn name.
        """
        return self._change_bound(
            identifier,
            actor,
            lambda existing, now: assignment.relocate(
                existing, target, kind, now, passthrough=passthrough, scope=scope, alternates=alternates
            ),
        )

    def withdraw(self, identifier: Name, *, reason: str | None = None, actor: str | None = None) -> Outcome:
        """Take a name out of use; "withdrawn". It stays on record and is never given again.

        A name that is withdrawn already gives "updated" for another ``reason``, else "unchanged".
        """
        return self._change_bound(identifier, actor, lambda existing, now: assignment.withdraw(existing, reason, now))

    def restore(self, identifier: Name, *, resource: str | None = None, actor: str | None = None) -> Outcome:
        """Take a withdrawn name into use again; "restored", or "unchanged" where it is in use.

        ``resource`` has to be the one on record, and None where none is; :class:`BindingConflict` is raised otherwise.
        """
        return self._change_bound(identifier, actor, lambda existing, now: assignment.restore(existing, resource, now))

    def mark_persistent(
        self,
        identifier: Name,
        persistence: str = "persistent",
        *,
        availability: str | None = None,
        published: bool = True,
        actor: str | None = None,
    ) -> Outcome:
        """Promise that a bound name is persistent: ``persistence`` says in which words. It still leads where it led.

        ``availability`` is "lifetime" or "subinfinite", and the policy's default where it is None; of a name that is
        not ``published`` nothing is stated. Raises :class:`BindingError` where the policy of these bindings, if they
        have one, forbids it, and :class:`BindingConflict` for a withdrawn name.

        Source: 17beta policy, section 2; POL-016 to POL-020.
        """
        return self._change_bound(
            identifier,
            actor,
            lambda existing, now: promise_persistence(existing, persistence, availability, now, published=published),
        )

    def lookup(self, identifier: Name) -> Binding | None:
        """What is on record of a name, or None. Raises :class:`BindingError` for what is no identifier at all."""
        name = names.read(identifier)
        key, older = names.key(name), names.older_key(name)
        found = self.store.fetch((key,) if older == key else (key, older))
        return found.get(key) or found.get(older)

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        """The bindings of those keys that have one, in one statement.

        A key is the normal form of a Basic ARK, or the assigned name of a URN as its namespace writes it.
        """
        return self._opening.store.fetch(keys)

    def count(self) -> NameCount:
        """The number of names, live or withdrawn; above ten thousand an estimate."""
        return self.store.count()

    def history(self, identifier: Name) -> list[Event]:
        """Every change of a name, the first first; empty for a name that was never bound."""
        name = names.read(identifier)
        return self.store.history(names.key(name)) or self.store.history(names.older_key(name))

    def set_rule(
        self, prefix: str, template: str, *, redirect: int = 302, actor: str | None = None
    ) -> Literal["set", "changed", "unchanged"]:
        """Say where names lead that begin with ``prefix``, a NAAN or a shoulder, and are not bound themselves; "set",
        "unchanged", or "changed" where another rule was set for ``prefix``.

        ``template`` is an address or a path of this site with a variable in it (:mod:`rules`), ``redirect`` 302 or 307.
        Raises :class:`BindingError`. Running servers know of it within a second or so.

        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.set_rule("ark:12345/x5", "https://example.org/things/${value}")
        'set'
        >>> [rule.prefix for rule in b.rules()], b.remove_rule("ark:12345/x5"), b.rules()
        (['ark:12345/x5'], 'removed', [])
        >>> b.close(); folder.cleanup()
        """
        check_actor(actor)
        key, stored = rules.check_prefix(prefix), rules.check_template(template)
        status = assignment.redirect_status(redirect)

        def write(transaction: Any) -> Literal["set", "changed", "unchanged"]:
            existing = transaction.get_rule(key)
            if existing and (existing.template, existing.redirect) == (stored, status):
                transaction.undo()
                return "unchanged"
            now = assignment.later(self.now(), existing.changed) if existing else self.now()
            transaction.put_rule(Rule(key, stored, status, now, actor))
            return "changed" if existing else "set"

        return self._write(write)

    def remove_rule(self, prefix: str, *, actor: str | None = None) -> Literal["removed"]:
        """Take back the rule for a prefix. Raises :class:`BindingError` with the code ``rule-unknown`` if none is."""
        check_actor(actor)
        key = rules.check_prefix(prefix)

        def write(transaction: Any) -> Literal["removed"]:
            existing = transaction.get_rule(key)
            if existing is None:
                raise BindingError("rule-unknown", f"there is no rule for {key}")
            transaction.remove_rule(key, assignment.later(self.now(), existing.changed), actor)
            return "removed"

        return self._write(write)

    def rules(self) -> list[Rule]:
        """All rules, in the order of their prefixes."""
        return sorted(self.store.rules(), key=lambda rule: rule.prefix)

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Every change of the rule for a prefix, the first first."""
        return self.store.rule_history(rules.check_prefix(prefix))

    def binding_by_rule(self, identifier: Ark | Urn) -> Ruled | None:
        """The binding that the longest rule makes for an identifier nothing is bound to, with the rule's prefix, or
        None.
        """
        return self._rulebook.binding_for(identifier)

    def close(self) -> None:
        """Close the connections to the database. Nothing can be asked afterwards."""
        self._opening.close()

    @property
    def failure(self) -> str | None:
        """Why the store could not be opened, in printable ASCII; None if it is open, or was not opened yet."""
        return self._opening.failure

    @property
    def refusal(self) -> str | None:
        """Why a file as it is now is not what is served, in printable ASCII; None where it is, and for a database."""
        return getattr(self._opening.opened, "refusal", None)

    @property
    def unrecorded(self) -> str | None:
        """Why no copy of a file as it is served can be kept; None where one is kept, and for a database.

        Without a copy, a restarted process compares the file with nothing.
        """
        return getattr(self._opening.opened, "unrecorded", None)

    def now(self) -> datetime:
        """The time that a change made now goes on record with, in UTC."""
        return self._clock()

    def _change_bound(
        self, identifier: Name, actor: str | None, decide: Callable[[Binding, datetime], Change]
    ) -> Outcome:
        name = names.read(identifier)
        key = names.key(name)

        def decide_bound(existing: Binding | None, now: datetime) -> Change:
            if existing is None:
                raise BindingError("not-bound", identifier=key)
            return decide(existing, now)

        return self._change(key, actor, decide_bound, names.older_key(name))

    def _change(
        self,
        key: str,
        actor: str | None,
        decide: Callable[[Binding | None, datetime], Change],
        older_key: str | None = None,
    ) -> Outcome:
        """The outcome of a change. ``older_key`` is the key where the database has those of an older Ararat."""
        check_actor(actor)

        def write(transaction: Any) -> tuple[Outcome, Iterable[str]]:
            older = older_key not in (None, key) and transaction.has_older_keys()
            wanted = [older_key, key] if older else [key]
            held = transaction.get(wanted)
            before = next((held[each] for each in wanted if each in held), None)
            change = self.check_change(before, decide(before, self.now()), transaction)
            if change.action:
                transaction.put([change], actor)
            return change.outcome, transaction.bound(names.confusable(key)) if change.outcome == "bound" else ()

        outcome, beside = self._write(write)
        for other in beside:
            _log.warning("%s is bound beside %s: generic software may take one for the other", key, other)
        return outcome

    def _write(self, write: Callable[[Any], T]) -> T:
        """What ``write`` returns for a transaction, which is tried again where another writer was faster."""
        faster: Collision | None = None
        for _ in range(_TRIES):
            try:
                with self.store.transaction() as transaction:
                    return write(transaction)
            except Collision as collision:
                faster = collision
        raise BindingsUnavailable(f"{self.store}: other writers were faster {_TRIES} times") from faster


def check_actor(actor: str | None) -> None:
    """Raise :class:`BindingError` unless ``actor`` is None or a text that can stand in a history."""
    if actor is not None:
        validation.check(actor, "actor-text", "actor", assignment.MAX_ACTOR)


def open_bindings(
    url_or_path: str | Path,
    *,
    create: bool = False,
    clock: Callable[[], datetime] = _now,
    policy: Profile | None = None,
    state: str | Path | None = None,
) -> Bindings:
    """Prepare the bindings in a database, or in a file of text, which is only read.

    ``url_or_path`` is ``sqlite:///bindings.sqlite`` (four slashes before an absolute path), the path of a file that
    ends in .sqlite, .sqlite3 or .db, or a ``postgresql://`` URL in any form that libpq understands; or the path of a
    table that ends in .csv, .tsv or .jsonl (:mod:`filestore`). ``create`` makes the file of an SQLite database and the
    tables of any database where they are missing; without it, nothing is made. ``clock`` gives the time in UTC. Every
    change is held to the rules of ``policy``, where there is one (:mod:`governance`). ``state`` is the folder for the copy
    of a file of text as it is served; None is the folder of the file.

    Raises :class:`BindingError` with the code ``database-url``, ``database-in-memory`` or ``driver-missing``. A database
    or file that cannot be opened raises nothing here, so that a site starts without it: the reason is logged, every
    question raises :class:`BindingsUnavailable`, and opening is tried again. :meth:`Bindings.open` raises the reason.

    >>> open_bindings("bindings")
    Traceback (most recent call last):
    ararat.middleware.errors.BindingError: bindings names no database (database-url)
    expected sqlite:///FILE, postgresql://HOST/NAME, or a file that ends in .sqlite, .db, .csv, .tsv or .jsonl (Ararat)
    """  # noqa: E501
    bindings = bindings_at(url_or_path, create=create, clock=clock, policy=policy, state=state)
    bindings._opening.try_to_open()
    return bindings


def open_file(
    path: Path,
    *,
    clock: Callable[[], datetime] = _now,
    policy: Profile | None = None,
    state: str | Path | None = None,
    served: bool = True,
) -> Bindings:
    """Prepare the bindings in a file of text, which is only read. A file that is in no other format is CSV.

    The rest is as with :func:`open_bindings`. Without ``served`` the file is read once and nothing is recorded; then
    this raises :class:`TableError` for a file that is no table of bindings, and :class:`BindingsUnavailable` for one
    that cannot be read.
    """
    bindings = _file_at(path, clock, policy, state, served=served)
    if not served:
        return bindings.open()
    bindings._opening.try_to_open()
    return bindings


def bindings_at(
    url_or_path: str | Path,
    *,
    create: bool = False,
    clock: Callable[[], datetime] = _now,
    policy: Profile | None = None,
    state: str | Path | None = None,
) -> Bindings:
    """The bindings of :func:`open_bindings`, not opened yet."""
    if (table := table_file(url_or_path)) is not None:
        return _file_at(table, clock, policy, state)
    # SQLAlchemy takes longer to load than all of Ararat; whoever opens no database should not wait for it.
    from ..storage.store import open_store

    database = database_at(url_or_path)
    return Bindings(Opening(str(database), lambda: open_store(database, create=create)), clock, policy)


def _file_at(
    path: Path,
    clock: Callable[[], datetime],
    policy: Profile | None,
    state: str | Path | None,
    *,
    served: bool = True,
) -> Bindings:
    from ..storage.file import FileStore

    check_change = PolicyCheck(policy) if policy else no_policy
    store = lambda: FileStore(path, check_change, served=served, state=None if state is None else Path(state))  # noqa: E731
    where = validation.shown(str(path.absolute()), 200)
    return Bindings(Opening(where, store), clock, policy, is_file=True)


def table_file(url_or_path: str | Path) -> Path | None:
    """The path of a file of text that is meant, or None where a database is."""
    if isinstance(url_or_path, str) and "://" in url_or_path:
        return None
    return Path(url_or_path) if Path(url_or_path).suffix.lower() in SUFFIXES else None


def database_at(url_or_path: str | Path) -> Any:
    """The database that is meant, not opened yet: an SQLite or a PostgreSQL. Raises like :func:`open_bindings`."""
    from ..storage.postgresql import PostgreSQL
    from ..storage.sqlite import SQLite

    given = str(url_or_path)
    scheme, mark, rest = given.partition("://")
    if isinstance(url_or_path, Path) or not mark:
        if given == ":memory:":
            raise BindingError("database-in-memory")
        return SQLite(_database_file(given))
    # "postgresql+psycopg" is how SQLAlchemy says it, "postgres" how some hosts do.
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return PostgreSQL(f"postgresql://{rest}")
    if scheme != "sqlite":
        raise BindingError("database-url", f"there is no kind of database called {validation.shown(scheme)}")
    if rest in ("", "/", "/:memory:"):
        raise BindingError("database-in-memory")
    if not rest.startswith("/"):
        said = "three slashes follow sqlite: before the path of a file, four before an absolute one"
        raise BindingError("database-url", said)
    if "?" in rest:
        raise BindingError("database-url", "no options follow the path of an SQLite file")
    return SQLite(Path(rest[1:]))


def _database_file(given: str) -> Path:
    suffix = Path(given).suffix.lower()
    if suffix not in DATABASE_SUFFIXES:
        said = f"{validation.shown(given)} names no database" if given else "no database is named: the text is empty"
        raise BindingError("database-url", said)
    return Path(given)
