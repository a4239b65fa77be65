"""The fields of a name: :data:`FIELDS` declares each one once, and :class:`Fields` is a request to set some of them.
Columns, the JSON of the API, the rows of the desk, redaction and the log are derived from the declarations.

>>> Fields(target="https://EXAMPLE.org/1", redirect=307).for_name("ark:/12345/x-1").target
'https://example.org/1'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypedDict, cast

from ...identifiers import Ark, EmbeddedArk, IdentifierError, parse
from ...identifiers.text.translatable import Translatable
from . import targets, validation
from .binding import (
    KINDS,
    NOTHING,
    PASSTHROUGHS,
    REDIRECTS,
    SCOPES,
    STATUSES,
    Binding,
    Kind,
    Passthrough,
    Scope,
    Status,
    rfc3339,
)
from .errors import BindingError
from .metadata import metadata as elements
from .metadata import numbers
from .metadata.datacite_identifier import with_identifier
from .metadata.datacite_schema import check_record
from .naming import MAX_CHARACTERS, NO_RULES, RECORDED, Name, NamingRules, assignable, is_test, spelling_of
from .passthrough import can_append

MAX_RESOURCE = MAX_REASON = 2000
MAX_ACTOR = 200


class FieldArguments(TypedDict, total=False):
    """The keyword arguments of :meth:`.Bindings.bind`, ``relocate`` and ``reserve`` that set fields of a name."""

    kind: str | None
    passthrough: Passthrough | Literal["no", "normal"] | None
    scope: str | None
    redirect: int | None
    listed: bool | Literal["yes", "no"] | None
    resource: str | None
    alternates: Mapping[str, str] | None
    metadata: Mapping[str, str] | None
    embargo: datetime | date | str | None
    numbers: Mapping[str, Any] | None


class Fields(NamedTuple):
    """A request to set the fields of a name. None keeps the recorded value; a new name gets the default.

    Alternates and elements of metadata that are not mentioned stay, too. An empty text deletes one of them, or the
    ``embargo``. A time as ``embargo`` means the status "reserved" if no status is stated. ``spelling``, ``created``,
    ``changed`` and ``once_public`` are for new names only. :meth:`for_name` sets ``key``, the normal form of the name.
    """

    kind: str | None = None
    passthrough: Passthrough | Literal["no", "normal"] | None = None
    scope: str | None = None
    target: str | None = None
    status: Status | None = None
    redirect: int | None = None
    listed: bool | Literal["yes", "no"] | None = None
    resource: str | None = None
    alternates: Mapping[str, str] | None = None
    metadata: Mapping[str, str] | None = None
    reason: str | None = None
    successor: str | None = None
    spelling: str | None = None
    created: datetime | None = None
    changed: datetime | None = None
    once_public: str | None = None
    hold_until: datetime | None = None
    hold_reason: str | None = None
    embargo: datetime | date | str | None = None
    numbers: Mapping[str, Any] | None = None
    key: str = ""

    def for_name(self, identifier: Name, rules: NamingRules = NO_RULES) -> Fields:
        """Check the fields for a name, and return them in stored form with its key. The default kind is "located", or
        "described" without a target. Raises :class:`BindingError` if the name cannot be bound or a field is not valid.
        """
        return self.for_key(assignable(identifier, rules), identifier)

    def for_key(self, key: str, identifier: Name | None = None) -> Fields:
        """Check the fields for a recorded name, and return them in stored form. Raises :class:`BindingError` for a
        wrong one. ``identifier`` is the name as written, for its spelling.
        """
        request = self if self.kind else self._replace(kind="described" if self.target is None else "located")
        # An import does this for each row, so the values are found by their places.
        values: list[Any] = [*request]
        place = 0
        try:
            for place, check in _CHECKS:
                # The default kind needs no check.
                value = self[place]
                if value is not None or place == _TARGET:
                    values[place] = check(value, request, key)
        except BindingError as error:
            error.identifier, error.field = key, self._fields[place]
            raise
        if values[_EMBARGO] and values[_STATUS] is None:
            values[_STATUS] = "reserved"
        values[_KEY] = key
        if identifier is not None and self.spelling is None:
            values[_SPELLING] = spelling_of(identifier)
        return self._make(values)

    def errors(self, key: str) -> Iterator[BindingError]:
        """Yield an error for each wrong field of a request for the name ``key``, and not only for the first one. Each
        has the name of the ``field``.
        """
        is_kind_known = self.kind is not None or self.target is not None
        request = self if self.kind else self._replace(kind="described" if self.target is None else "located")
        for place, check in _CHECKS:
            if (value := request[place]) is not None and (is_kind_known or self._fields[place] not in _OF_KIND):
                try:
                    check(value, request, key)
                except BindingError as error:
                    error.identifier, error.field = key, self._fields[place]
                    yield error

    def create_binding(self, now: datetime) -> Binding:
        """Return the binding that these checked fields create for a new name."""
        own: dict[str, Any] = {name: value for name, value in zip(_NAMES, self, strict=False) if value is not None}
        values = _UNSTATED | own
        for name in ("alternates", "metadata"):
            if name in own:
                values[name] = _without_deleted(values[name])
        if is_test(self.key):
            values["listed"] = False
        if self.numbers:
            values["numbers"] = numbers.merge_numbers(None, self.numbers, self.resource)
        values["embargo"] = self.embargo or None
        changed = values["changed"] = self.changed or now
        values["created"] = self.created or changed
        if changed != now:
            values["recorded"] = now
        values["identifier"], values["revision"] = self.key, 1
        return Binding(**values)


def _check_kind(kind: Any, fields: Fields, key: str) -> Kind:
    for permitted in KINDS:
        if kind == permitted:
            return permitted
    raise BindingError("kind-unknown", Translatable("the kind %(kind)s does not exist", kind=validation.quote(kind)))


def _check_passthrough(passthrough: Any, fields: Fields, key: str) -> Passthrough:
    try:
        return _PASSTHROUGHS[passthrough]
    except (KeyError, TypeError):
        raise BindingError(
            "passthrough-unknown",
            Translatable("passthrough has the value %(passthrough)s", passthrough=validation.quote(passthrough)),
        ) from None


_PASSTHROUGHS: Mapping[Any, Passthrough] = {False: False, "no": False, True: True, "normal": True, "given": "given"}


def _check_scope(scope: Any, fields: Fields, key: str) -> Scope:
    for permitted in SCOPES:
        if scope == permitted:
            require_scope(key, permitted, fields.kind)
            return permitted
    raise BindingError(
        "scope-unknown", Translatable("the scope %(scope)s does not exist", scope=validation.quote(scope))
    )


def require_scope(key: str, scope: Scope, kind: str | None) -> None:
    """Raise :class:`BindingError` for the scope "subtree" of a URN, or of a name that is not of the kind "served"."""
    if scope == "subtree":
        if kind != "served":
            raise BindingError(
                "scope-not-served", Translatable("a %(kind)s name cannot have the scope subtree", kind=kind)
            )
        if key.startswith("urn:"):
            raise BindingError("nothing-below")


def _check_target(target: str | None, fields: Fields, key: str) -> str | None:
    # The kind is checked first.
    return check_target(key, target, cast("Kind", fields.kind), fields.passthrough not in _NO)


# Values of a request without passthrough.
_NO = (None, False, "no")


def check_target(key: str, target: str | None, kind: Kind, passthrough: bool) -> str | None:
    """Check the target of the name ``key``, and return its stored form. With ``passthrough``, it must have a path that
    can be extended. Raises :class:`BindingError` (``target-…``, ``reserved-target``, or a code of passthrough).
    """
    checked = targets.check(target, kind)
    if passthrough:
        _require_path(key, checked)
    if checked is not None and checked.startswith("/") and _leads_to_itself(checked, key, passthrough):
        raise BindingError("target-itself")
    return checked


def _require_path(key: str, target: str | None) -> None:
    if target is None:
        raise BindingError("passthrough-without-target")
    if not can_append(target):
        raise BindingError(
            "passthrough-without-path",
            Translatable("the target %(target)s has no path to append to", target=validation.quote(target)),
        )
    if key.startswith("urn:"):
        raise BindingError("nothing-below")


def _leads_to_itself(target: str, key: str, passthrough: bool) -> bool:
    """Return whether a target is the name itself, or with ``passthrough`` a name below it: an endless loop."""
    if target[:5].lower() not in ("/ark:", "/urn:"):
        return False
    try:
        # The resolver ignores a slash at the end. An inflection has a different answer.
        name = parse(target[1:].partition("#")[0].rstrip("/"))
    except IdentifierError:
        return False
    if isinstance(name, EmbeddedArk):
        return False
    return name.normal_form == key or (
        passthrough and isinstance(name, Ark) and key in islice(name.ancestry(), 1, None)
    )


def _check_status(status: Any, fields: Fields, key: str) -> Status:
    return check_status(status)


def check_status(status: str) -> Status:
    """Return ``status`` if it is "live", "reserved" or "withdrawn". Raises :class:`BindingError` (``list-state``)
    otherwise.
    """
    for permitted in STATUSES:
        if status == permitted:
            return permitted
    raise BindingError(
        "list-state", Translatable("the state %(status)s does not exist", status=validation.quote(status))
    )


def _check_redirect(status: Any, fields: Fields, key: str) -> int:
    return redirect_status(status)


def redirect_status(status: int) -> int:
    """Return ``status`` if it is 302 or 307. Raises :class:`BindingError`: ``permanent-redirect-forbidden`` for 301 and
    308.
    """
    if status in REDIRECTS:
        return status
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    if status in (301, 308):
        raise BindingError(
            "permanent-redirect-forbidden",
            Translatable("the redirect status %(status)s is permanent: clients would replace the name", status=status),
        )
    raise BindingError(
        "redirect-status",
        Translatable("the redirect status %(status)s is not allowed", status=validation.quote(status)),
    )


def _check_listed(listed: Any, fields: Fields, key: str) -> bool:
    try:
        return _LISTED[listed] and not is_test(key)
    except (KeyError, TypeError):
        raise BindingError(
            "listed-unknown", Translatable("listed has the value %(listed)s", listed=validation.quote(listed))
        ) from None


_LISTED: Mapping[Any, bool] = {True: True, "yes": True, False: False, "no": False}


def _check_resource(resource: Any, fields: Fields, key: str) -> str:
    return validation.check(resource, "resource-text", Translatable("Resource"), MAX_RESOURCE)


def _check_alternates(alternates: Any, fields: Fields, key: str) -> Mapping[str, str]:
    return targets.check_alternates(alternates, cast("Kind", fields.kind), deletions=True)


def _check_metadata(metadata: Any, fields: Fields, key: str) -> Mapping[str, str]:
    checked = elements.check(metadata, deletions=True)
    if document := checked.get("datacite"):
        # Only a new value: a record that an older version accepted stays readable.
        check_record(document)
        return elements.sort_elements({**checked, "datacite": with_identifier(document, key)})
    return checked


def _check_reason(reason: Any, fields: Fields, key: str) -> str:
    if fields.status != "withdrawn":
        raise BindingError("reason-unwanted")
    return validation.check(reason, "reason-text", Translatable("Reason"), MAX_REASON)


def _check_successor(successor: Any, fields: Fields, key: str) -> str:
    if fields.status != "withdrawn":
        raise BindingError("successor-unwanted")
    return check_successor(key, successor)


def check_successor(key: str, successor: str) -> str:
    """Check the successor of a withdrawn name, a name or a URL, and return its stored form. Raises
    :class:`BindingError` with the field "successor" (``successor-itself``, or a code of names and targets).

    >>> check_successor("ark:12345/x", "ark:/12345/x-2"), check_successor("ark:12345/x", "https://Example.org/x")
    ('ark:12345/x2', 'https://example.org/x')
    """
    try:
        return _successor(key, successor)
    except BindingError as error:
        error.identifier, error.field = key, "successor"
        raise


def _successor(key: str, successor: str) -> str:
    if successor[:4].lower() in ("ark:", "urn:"):
        # Only a test can be replaced by a test.
        stored = assignable(successor, RECORDED if is_test(key) else NO_RULES)
        if stored == key:
            raise BindingError("successor-itself")
        return stored
    if successor[:8].lower().startswith(("http://", "https://")) and (stored := targets.check(successor, "located")):
        return stored
    message = Translatable(
        "the successor %(successor)s is neither a name nor an address", successor=validation.quote(successor)
    )
    raise BindingError("successor-text", message)


def _check_spelling(spelling: str, fields: Fields, key: str) -> str:
    if assignable(spelling, RECORDED) != key:
        raise BindingError(
            "spelling-other-name",
            Translatable("the spelling %(spelling)s is of another name", spelling=validation.quote(spelling)),
        )
    return spelling_of(spelling)


def _check_changed(changed: datetime, fields: Fields, key: str) -> datetime:
    if fields.created is not None and fields.created > changed:
        raise BindingError("time-order")
    return changed


def _check_once_public(once_public: str, fields: Fields, key: str) -> Literal["yes"]:
    if once_public != "yes":
        raise BindingError(
            "once-public",
            Translatable("the value of once_public is %(once_public)s", once_public=validation.quote(once_public)),
        )
    return "yes"


def _check_hold_until(until: datetime, fields: Fields, key: str) -> datetime:
    return until.astimezone(UTC)


def _check_hold_reason(reason: Any, fields: Fields, key: str) -> str:
    if fields.hold_until is None:
        raise BindingError("hold-until", Translatable("a hold has a reason and no end"))
    return validation.check(reason, "hold-reason", Translatable("Reason of the hold"), MAX_REASON)


def _check_embargo(embargo: Any, fields: Fields, key: str) -> datetime | Literal[""]:
    if embargo == "":
        return ""
    if fields.status not in (None, "reserved"):
        raise BindingError("embargo-state", Translatable("the state is %(status)s", status=fields.status))
    return validation.instant(embargo)


def _check_numbers(given: Any, fields: Fields, key: str) -> Mapping[str, str]:
    return numbers.check(given)


def _any(value: Any, fields: Fields, key: str) -> Any:
    return value


def _without_deleted(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return checked alternates or metadata without the texts that are empty, in the same order."""
    return texts if all(texts.values()) else MappingProxyType({key: text for key, text in texts.items() if text})


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """The declaration of a field of a name.

    - ``title``, ``help``: the label and the description for people.
    - ``type``: "text", "choice" (one of ``choices``), "texts" (texts by key) or "time".
    - ``stored``: the values in the storage, in the order of ``choices``. The default is ``choices``.
    - ``check``: returns the stored form of a value; takes the value, the request and the key, and raises
      :class:`BindingError`.
    - ``limit``: the maximum number of characters of a text.
    - ``default``: the value of a new name; None for no value, or for one that follows from others.
    - ``request``: the request of the JSON API that sets it: "fields" for each request, "withdrawal", or None.
    - ``is_public``: whether the description of a live name shows it, also for programs.
    - ``is_redacted``: whether :func:`~ararat.bindings.log.redaction.redact` removes it.
    - ``hashed``: how the log covers it: "always" in the hash of the state if it has a value, "set" only if it differs
      from the default (for later fields, so that older hashes stay right), "apart" in a line of its own.
    """

    name: str
    title: Translatable
    help: Translatable
    type: Literal["text", "choice", "texts", "time"] = "text"
    choices: tuple[Any, ...] = ()
    stored: tuple[str | int, ...] = ()
    check: Callable[[Any, Fields, str], Any] = _any
    limit: int | None = None
    default: Any = None
    is_required: bool = False
    request: Literal["fields", "withdrawal"] | None
    is_public: bool
    is_redacted: bool
    hashed: Literal["always", "set", "apart"]


FIELDS: Final = (
    Field(
        name="kind",
        title=Translatable("Response"),
        help=Translatable("the kind of the answer for the name"),
        type="choice",
        choices=KINDS,
        check=_check_kind,
        is_required=True,
        request="fields",
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="passthrough",
        title=Translatable("Passthrough"),
        help=Translatable(
            "whether the rest of a longer identifier is appended to the target: no, in its normal form, or as given"
        ),
        type="choice",
        choices=PASSTHROUGHS,
        stored=("no", "normal", "given"),
        check=_check_passthrough,
        default=False,
        is_required=True,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="scope",
        title=Translatable("Scope"),
        help=Translatable("for a served name: name, or subtree if the site answers for all identifiers below it"),
        type="choice",
        choices=SCOPES,
        check=_check_scope,
        default="name",
        is_required=True,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="target",
        title=Translatable("Target"),
        help=Translatable("an http or https URL, or a path of this site"),
        check=_check_target,
        limit=MAX_CHARACTERS,
        request="fields",
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="status",
        title=Translatable("State"),
        help=Translatable("the state of the name; the default of a new name is live"),
        type="choice",
        choices=STATUSES,
        check=_check_status,
        default="live",
        is_required=True,
        request="fields",
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="redirect",
        title=Translatable("Redirect status"),
        help=Translatable("the HTTP status of the redirect of a located name"),
        type="choice",
        choices=REDIRECTS,
        check=_check_redirect,
        default=REDIRECTS[0],
        is_required=True,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="listed",
        title=Translatable("Listed"),
        help=Translatable(
            "whether the name is in sitemaps, Atom and OAI-PMH: yes or no; with no, its description has noindex"
        ),
        type="choice",
        choices=(True, False),
        stored=("yes", "no"),
        check=_check_listed,
        default=True,
        is_required=True,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="set",
    ),
    Field(
        name="resource",
        title=Translatable("Resource"),
        help=Translatable("a text that identifies the thing itself, such as an inventory number; it never changes"),
        check=_check_resource,
        limit=MAX_RESOURCE,
        request="fields",
        is_public=False,
        is_redacted=False,  # only on request, because it identifies the thing
        hashed="apart",
    ),
    Field(
        name="alternates",
        title=Translatable("Alternate"),
        help=Translatable("targets by media type and language, such as text/html;en"),
        type="texts",
        check=_check_alternates,
        limit=MAX_CHARACTERS,
        default=NOTHING,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="metadata",
        title=Translatable("Metadata"),
        help=Translatable("elements such as erc.who or dc.title; who means erc.who"),
        type="texts",
        check=_check_metadata,
        limit=elements.MAX_BYTES,
        default=NOTHING,
        request="fields",
        is_public=True,
        is_redacted=True,
        hashed="always",
    ),
    Field(
        name="reason",
        title=Translatable("Reason"),
        help=Translatable("the reason for a withdrawal, for the tombstone"),
        check=_check_reason,
        limit=MAX_REASON,
        request="withdrawal",
        is_public=True,
        is_redacted=True,
        hashed="always",
    ),
    Field(
        name="successor",
        title=Translatable("Successor"),
        help=Translatable("the name or the address that replaces a withdrawn name"),
        check=_check_successor,
        limit=MAX_CHARACTERS,
        request="withdrawal",
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="spelling",
        title=Translatable("Spelling"),
        help=Translatable("the text under which the name was first recorded"),
        check=_check_spelling,
        request=None,
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="created",
        title=Translatable("Created"),
        help=Translatable("the time when the name was first recorded"),
        type="time",
        is_required=True,
        request=None,
        is_public=True,
        is_redacted=False,
        hashed="always",
    ),
    Field(
        name="changed",
        title=Translatable("Changed"),
        help=Translatable("the time of the last change"),
        type="time",
        check=_check_changed,
        is_required=True,
        request=None,
        is_public=True,
        is_redacted=False,
        hashed="apart",
    ),
    Field(
        name="once_public",
        title=Translatable("Once public"),
        help=Translatable("yes if the publication of the name was undone; such a name is never deleted"),
        check=_check_once_public,
        limit=3,
        request=None,
        is_public=False,
        is_redacted=False,
        hashed="set",
    ),
    Field(
        name="hold_until",
        title=Translatable("On hold until"),
        help=Translatable("the time at which the hold of the name ends; a date includes the whole day in UTC"),
        type="time",
        check=_check_hold_until,
        request=None,
        is_public=True,
        is_redacted=False,
        hashed="set",
    ),
    Field(
        name="hold_reason",
        title=Translatable("Reason of the hold"),
        help=Translatable("the reason of the hold, for visitors"),
        check=_check_hold_reason,
        limit=MAX_REASON,
        request=None,
        is_public=True,
        is_redacted=True,
        hashed="set",
    ),
    Field(
        name="embargo",
        title=Translatable("Live from"),
        help=Translatable(
            "for a reserved name: the date (midnight UTC) or the time with its offset from which it is live"
        ),
        type="time",
        check=_check_embargo,
        request="fields",
        is_public=False,
        is_redacted=False,
        hashed="set",
    ),
    Field(
        name="numbers",
        title=Translatable("Numbers"),
        help=Translatable(
            "the numbers of the thing: the current one, such as a corrected inventory number, further and former ones"
        ),
        type="texts",
        check=_check_numbers,
        limit=numbers.MAX_NUMBER,
        default=NOTHING,
        request="fields",
        is_public=False,
        is_redacted=True,
        hashed="set",
    ),
)
"""The fields of a name in the order of :class:`Fields`, which is the order of their checks."""


def text_of(name: str, binding: Binding) -> str:
    """Return the value of a field as a text for people, or "". Alternates and metadata are several texts, and have none
    here.
    """
    return _text(_BY_NAME[name], getattr(binding, name))


def differing(before: Binding | None, after: Binding) -> Iterator[tuple[Field, str, str]]:
    """Yield each field that differs between two bindings of a name, with its old and new text. Without ``before``, the
    fields of a new name are compared with the defaults. Status, spelling and times are left out: an event shows them.

    >>> new = Fields(target="/x", redirect=307).for_name("ark:12345/x").create_binding(datetime(2026, 11, 23))
    >>> [(field.name, *texts) for field, *texts in differing(None, new)]
    [('target', '', '/x'), ('redirect', '302', '307')]
    """
    for field in FIELDS:
        if field.type != "texts" and field.name not in ("status", "spelling", "created", "changed"):
            old = field.default if before is None else getattr(before, field.name)
            new = getattr(after, field.name)
            if old != new and not (before is None and field.name == "kind" and new == KINDS[0]):
                yield field, _text(field, old), _text(field, new)


def _text(field: Field, value: Any) -> str:
    if field.stored:
        value = field.stored[field.choices.index(value)]
    if isinstance(value, datetime):
        return rfc3339(value).replace(".000000Z", "Z")
    return "" if value is None or field.type == "texts" else str(value)


_BY_NAME = {field.name: field for field in FIELDS}

_NAMES = tuple(field.name for field in FIELDS)
_CHECKS = tuple((Fields._fields.index(field.name), field.check) for field in FIELDS if field.check is not _any)
_TARGET, _STATUS, _SPELLING, _EMBARGO, _KEY = map(
    Fields._fields.index, ("target", "status", "spelling", "embargo", "key")
)

DEFAULTS: Final = MappingProxyType({field.name: field.default for field in FIELDS if field.default is not None})
"""The values of a new name, by field, where a request states none."""
_OF_KIND = ("passthrough", "scope", "alternates")
"""The fields whose check needs the kind, which a change of some fields does not state."""
_UNSTATED: dict[str, Any] = dict.fromkeys(_NAMES) | dict(DEFAULTS)
