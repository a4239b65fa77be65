"""The records of NAANs and shoulders with their rules, and the branding. Only administrators change them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ...bindings import prefix_changes
from ...bindings.names.errors import Stale
from ...bindings.names.prefixes import prefixes
from ...bindings.names.prefixes.prefixes import PrefixEvent, PrefixRecord
from ...bindings.operations.departure import depart
from ...bindings.operations.plan import BulkResult
from ...identifiers.text.translatable import Translatable
from ...middleware.http.conditional import entity_tag
from .bulk import MAX_NAMES
from .permissions import Missing, require_account, require_administrator
from .recording import Recorder
from .succession import Succession, succeed

if TYPE_CHECKING:
    from ...bindings.names.branding.model import Branding
    from ...bindings.names.branding.stored import BrandingVersion
    from ...bindings.names.prefixes.rules import Rule
    from ...bindings.storage.store import Transaction
    from ..accounts.model import Caller


NO_RECORD = ""
"""The entity tag of a prefix without a record."""


def prefix_etag(record: PrefixRecord) -> str:
    """Return the strong entity tag of a prefix record, with its quotation marks.

    ``record`` is the record with its redirect rule. A change of either one changes the tag.
    """
    return _etag(record, record.rule)


class PrefixOperations:
    """The operations of accounts on prefix records and redirect rules, with checks of their permissions."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._bindings = recorder.bindings

    def list(self, caller: Caller | None) -> list[PrefixRecord]:
        """Return the records of all prefixes in alphabetical order, each with its redirect rule.

        ``caller`` is the account that makes the request. Raises :class:`Forbidden` for None.
        """
        require_account(caller)
        return self._bindings.prefixes.list()

    def get(self, caller: Caller | None, prefix: str) -> PrefixRecord:
        """Return the record of a prefix with its redirect rule.

        ``caller`` is the account that makes the request. ``prefix`` is exactly the prefix of the record, such as
        "ark:12345/x5". Raises :class:`Missing` with the code ``prefix-unknown``.
        """
        require_account(caller)
        if (found := self._bindings.prefixes.get(prefix)) is None:
            raise _missing(prefixes.check_prefix(prefix, self._bindings.naming))
        return found

    def history(self, caller: Caller | None, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a prefix, the oldest first. A removed record keeps its history.

        ``caller`` is the account that makes the request. ``prefix`` is exactly the prefix of the record. Raises
        :class:`Missing` for a prefix without changes.
        """
        require_account(caller)
        if not (events := self._bindings.prefixes.history(prefix)):
            raise _missing(prefixes.check_prefix(prefix, self._bindings.naming))
        return events

    def set(
        self,
        caller: Caller | None,
        prefix: str,
        texts: Mapping[str, str | None],
        *,
        rule: str | None = None,
        redirect: int = 302,
        etag: str | None = None,
    ) -> PrefixRecord:
        """Record texts about a prefix, and its redirect rule, in one transaction. Return the record with its rule.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``prefix``: the NAAN, NID or shoulder, such as "ark:12345/x5".
        - ``texts``: the texts by the names of their fields. A text that is missing or None stays. An empty text deletes
          the recorded one.
        - ``rule``: the template of the rule. None does not change the rule, and an empty text removes it.
        - ``redirect``: the status of the redirects of the rule: 302 or 307.
        - ``etag``: the entity tag that the record must have, :data:`NO_RECORD` for a new record, None for any.
        """
        with self._recorder.acting(caller, "prefix.set", prefix, require=require_administrator) as actor:
            key = prefixes.check_prefix(prefix, self._bindings.naming)
            checked = prefixes.check(key, texts)

            def write(transaction: Transaction) -> None:
                existing = _require_etag(transaction, key, etag)
                now = self._bindings.now()
                outcomes = {prefix_changes.set_record(transaction, key, checked, now, actor.name)}
                if rule:
                    outcomes.add(prefix_changes.set_rule(transaction, key, rule, redirect, now, actor.name))
                elif rule == "" and existing is not None:
                    outcomes.add(prefix_changes.remove_rule(transaction, key, now, actor.name))
                if outcomes == {"unchanged"}:
                    transaction.rollback()

            self._bindings.write(write, actor=actor)
            return self.get(actor.caller, key)

    def remove(self, caller: Caller | None, prefix: str, *, etag: str | None = None) -> None:
        """Delete the record of a prefix and its redirect rule. Their history stays.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``prefix``: exactly the prefix of the record.
        - ``etag``: the entity tag that the record must have, or None for any.

        Raises :class:`Missing` for a prefix without a record.
        """
        with self._recorder.acting(caller, "prefix.remove", prefix, require=require_administrator) as actor:
            key = prefixes.check_prefix(prefix, self._bindings.naming)

            def write(transaction: Transaction) -> None:
                rule = _require_etag(transaction, key, etag)
                if transaction.get_prefix(key) is None:
                    raise _missing(key)
                prefix_changes.remove_record(transaction, key, self._bindings.now(), actor.name)
                if rule is not None:
                    prefix_changes.remove_rule(transaction, key, self._bindings.now(), actor.name)

            self._bindings.write(write, actor=actor)

    def succeed(
        self,
        caller: Caller | None,
        prefix: str,
        to: str,
        *,
        contact: str | None = None,
        heirs: Collection[str] = (),
        dry_run: bool = False,
    ) -> Succession:
        """Make another institution responsible for a prefix, and return what was changed.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``prefix``: the prefix, such as "ark:12345/x5".
        - ``to``: the name of the new institution.
        - ``contact``: its contact, or None.
        - ``heirs``: the names of its accounts, which get a grant of the prefix. Without heirs, all grants stay.
        - ``dry_run``: return the result without a change.
        """
        with self._recorder.acting(caller, "prefix.succeed", prefix, require=require_administrator) as actor:
            return succeed(
                self._recorder.accounts,
                prefix,
                to,
                contact=contact,
                heirs=heirs,
                dry_run=dry_run,
                actor=actor,
                caller=actor.caller,
            )

    def depart(
        self,
        caller: Caller | None,
        prefix: str,
        resolver: str,
        *,
        atomic: bool = False,
        dry_run: bool = False,
        expected: str | None = None,
    ) -> BulkResult:
        """Retire a prefix and move its names to another resolver. Return how many names were moved.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``prefix``: the prefix, such as "ark:12345/x5".
        - ``resolver``: the URL of the resolver that answers for the names from now on.
        - ``atomic``: move all names in one transaction.
        - ``dry_run``: return the result without a change.
        - ``expected``: the fingerprint of an earlier dry run. Other changes are refused. None permits any.

        At most :data:`~.bulk.MAX_NAMES` names are moved by one request.
        :func:`~ararat.bindings.operations.departure.depart` has the details.
        """
        with self._recorder.acting(
            caller, "prefix.depart", prefix, require=require_administrator, max_names=MAX_NAMES
        ) as actor:
            return depart(
                self._bindings, prefix, resolver, atomic=atomic, dry_run=dry_run, actor=actor, expected=expected
            )


class BrandingOperations:
    """The operations on the branding of the public pages. Only administrators change it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._bindings = recorder.bindings

    def history(self, caller: Caller | None) -> list[BrandingVersion]:
        """Return the recorded branding and all earlier ones, the newest first.

        ``caller`` is the account that makes the request. It must be an administrator.
        """
        require_administrator(caller)
        return self._bindings.branding.history()

    def set(self, caller: Caller | None, branding: Branding, *, revision: int | None = None) -> None:
        """Record the branding of the public pages: the name, links and colours that they show.

        - ``caller``: the account that makes the request. It must be an administrator.
        - ``branding``: the new branding, already checked.
        - ``revision``: the revision that the recorded branding must have, or None for any. Another revision is refused,
          so that two administrators do not overwrite each other.
        """
        with self._recorder.acting(caller, "branding.set", require=require_administrator) as actor:
            self._bindings.branding.set(branding, revision=revision, actor=actor)


def _require_etag(transaction: Transaction, key: str, etag: str | None) -> Rule | None:
    """Return the rule of a prefix. Raises :class:`Stale` if its record has another entity tag."""
    record, rule = transaction.get_prefix(key), transaction.get_rule(key)
    recorded = NO_RECORD if record is None else _etag(record, rule)
    if etag is not None and etag != recorded:
        message = Translatable("the record of %(prefix)s was changed after it was read", prefix=key)
        raise Stale(key, message if record else _no_record(key))
    return rule


def _etag(record: PrefixRecord, rule: Rule | None) -> str:
    times = (record.changed, rule.changed) if rule else (record.changed,)
    return entity_tag(record.revision, *times)


def _missing(key: str) -> Missing:
    return Missing("prefix-unknown", _no_record(key), identifier=key)


def _no_record(key: str) -> Translatable:
    return Translatable("%(prefix)s has no record", prefix=key)
