"""Select and order the names for a list, and divide the list into pages. The order follows from the conditions, so that
a database reads each page from an index and never sorts the names.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple, get_args

from ...identifiers import IdentifierError, parse
from ...identifiers.ark.grammar import BASE29
from ...identifiers.text.translatable import Translatable
from . import naming, validation
from .binding import STATUSES, Binding, Status, numbers_in, rfc3339
from .errors import BindingError
from .metadata import folding
from .metadata import metadata as metadata_names

Order = Literal["name", "target", "resource", "title", "words", "changed", "created"]
Sort = Literal["name", "title", "resource", "changed", "created"]
SORTS: tuple[Sort, ...] = get_args(Sort)
Listed = Literal["now", "ever"]
HoldFilter = Literal["yes", "no", "any"]
Group = Literal["shoulder", "state", "month"]
GROUPS: tuple[Group, ...] = get_args(Group)

MAX_PAGE = 1000
MAX_TOTAL = 2_500
"""The number of names of a list up to which interfaces count them exactly. To count millions takes seconds."""

_MAX_TEXT = 400
_NO_LABEL = re.compile(f"[{BASE29}]{{5}}/")
NOT_STORED = re.compile("[\0\ud800-\udfff]")
"""The characters that a database cannot store, so that no name has them."""

HOST_ENDS = "/:?#"
"""The characters that can follow the host in a target."""

LAST = "\x7f"
"""A character above all others of a key or target, which are printable ASCII."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The conditions that select names for a list, all of which must hold, and its order. None means no condition.
    :func:`select` creates one from texts of a user.

    - ``prefix``: the beginning of the normal forms. ``beginnings``: several, one of which must match; () matches no
      name.
    - ``targets``: the beginnings of the targets; one of them must match. ``host`` is set if they name a host.
    - ``words``: words that the metadata, the resource or a target must contain (:mod:`.metadata.folding`).
    - ``named``: the key of the name that the words are, in any spelling. It is selected without these words, too.
    - ``resource``: the resource, or a number of the thing. ``resource_prefix``: the beginning of the resource.
    - ``element``: the name of a metadata element, and its text.
    - ``owner``: the actor of the first change of the name.
    - ``created_since``, ``created_before``, …: times in UTC. "since" includes its time, "before" does not.
    - ``public``: whether to omit reserved names that were never public.
    - ``listed``: "now" for names that are in feeds, or "ever" for those that are or were while they were public. A
      store without a history knows the present only.
    - ``hold``: "yes" for names with a hold that lasts at ``now``, "no" for names without one, "any" also for ended
      ones. Holds of prefixes and of names above do not count.
    - ``sort``: by default :attr:`order`. Names without a title or resource come last. ``descending`` reverses the
      order.
    """

    prefix: str | None = None
    status: Status | None = None
    targets: tuple[str, ...] = ()
    host: str | None = None
    words: tuple[str, ...] = ()
    named: str | None = None
    resource: str | None = None
    resource_prefix: str | None = None
    element: tuple[str, str] | None = None
    owner: str | None = None
    created_since: datetime | None = None
    created_before: datetime | None = None
    changed_since: datetime | None = None
    changed_before: datetime | None = None
    beginnings: tuple[str, ...] | None = None
    public: bool = False
    listed: Listed | None = None
    hold: HoldFilter | None = None
    now: datetime | None = None
    sort: Sort | None = None
    descending: bool = False

    @property
    def order(self) -> Order:
        """The order of the list: ``sort``, or one that follows from the conditions. For ``words``, SQLite has the order
        in which they were recorded, and PostgreSQL that of the names.
        """
        if self.sort:
            return self.sort
        if self.words:
            return "words"
        if self.targets:
            return "target"
        if self.resource_prefix is not None:
            return "resource"
        if self.changed_since or self.changed_before:
            return "changed"
        if self.created_since or self.created_before:
            return "created"
        return "name"

    def includes(self, binding: Binding, owner: str | None = None) -> bool:
        """Return whether a name meets all conditions of the list. ``owner`` is the actor of its first change."""
        resource = binding.resource or ""
        return (
            (self.prefix is None or binding.identifier.startswith(self.prefix))
            and (self.status is None or binding.status == self.status)
            and (self.beginnings is None or binding.identifier.startswith(self.beginnings))
            and not (self.public and binding.is_reserved and not binding.is_hidden)
            and (self.listed is None or binding.listed)
            and (self.hold is None or self._includes_hold(binding.hold_until))
            and (not self.targets or self._includes_target(binding.target))
            and (not self.words or binding.identifier == self.named or self.contains_words(binding))
            and (self.resource is None or self._includes_number(binding))
            and (self.resource_prefix is None or resource.startswith(self.resource_prefix))
            and (self.element is None or binding.metadata.get(self.element[0]) == self.element[1])
            and (self.owner is None or owner == self.owner)
            and _is_between(binding.created, self.created_since, self.created_before)
            and _is_between(binding.recorded_at, self.changed_since, self.changed_before)
        )

    def contains_words(self, binding: Binding) -> bool:
        """Return whether the metadata, the resource or a target of a name contains all words."""
        return folding.contains(folding.text_of(binding), folding.parts(self.words))

    def _includes_number(self, binding: Binding) -> bool:
        return self.resource == binding.resource or any(
            self.resource in numbers_in(each) for each in binding.numbers.values()
        )

    def _includes_hold(self, until: datetime | None) -> bool:
        if self.hold == "any" or until is None:
            return (until is not None) is (self.hold != "no")
        return (until > (self.now or datetime.now(UTC))) is (self.hold == "yes")

    def _includes_target(self, target: str | None) -> bool:
        if target is None or not target.startswith(self.targets):
            return False
        if self.host is None:
            return True
        rest = target.partition("://")[2][len(self.host) :]
        return not rest or rest[0] in HOST_ENDS


class Page(NamedTuple):
    """A page of a list of names.

    - ``next``: the ``cursor`` of the next page, or None at the end.
    - ``unreadable``: the names of rows that cannot be read.
    - ``note``: a sentence if the search for words did not work as documented.
    - ``searched``: the last name or row that was compared, if the time ended before the page was full. ``next``
      continues there.
    """

    names: list[Binding]
    next: str | None
    unreadable: list[str]
    note: str | None = None
    searched: str | None = None


def select(
    *,
    prefix: str | None = None,
    state: str | None = None,
    target: str | None = None,
    text: str | None = None,
    resource: str | None = None,
    resource_prefix: str | None = None,
    metadata: str | None = None,
    sort: str | None = None,
    owner: str | None = None,
    created_since: datetime | None = None,
    created_before: datetime | None = None,
    changed_since: datetime | None = None,
    changed_before: datetime | None = None,
    hold: str | None = None,
) -> Selection:
    """Check the conditions for a list of names that a user entered, and return the selection. None means no condition.

    - ``prefix``: the beginning of an ARK or URN in any spelling, with the slash after the NAAN.
    - ``state``: "reserved", "live" or "withdrawn".
    - ``target``: a host ("old.example"), or the beginning of a URL or path. A host includes both schemes and all ports.
    - ``text``: words of the metadata, the resource or the target, without regard to case, accents and punctuation. A
      word of at least three letters can be a part of a word. The name of an identifier in any spelling comes first.
    - ``resource``: exactly this resource or number. ``resource_prefix``: the beginning of the resource.
    - ``metadata``: the name of an element and its whole text, such as "erc.who=Noah".
    - ``sort``: "name", "title", "resource", "changed" or "created"; a minus sign before it reverses the order.
    - ``owner``: the actor of the first change. ``hold``: "yes", "no" or "any", as for :class:`Selection`.
    - ``created_since``, ``created_before``, …: times with a zone.

    Raises :class:`BindingError` with the code ``list-prefix``, ``list-state``, ``list-target``, ``list-text``,
    ``list-resource``, ``list-metadata``, ``list-hold`` or ``list-sort``.

    >>> select(prefix="ark:/12345/X5-", target="Old.example").targets
    ('http://old.example', 'https://old.example')
    >>> select(sort="-title").sort, select(metadata="who=Noah").element
    ('title', ('erc.who', 'Noah'))
    """
    host, targets = _targets(target) if target else (None, ())
    return Selection(
        prefix=None if prefix is None else beginning(prefix),
        status=None if state is None else _status(state),
        targets=targets,
        host=host,
        words=() if text is None else _words(text),
        named=None if text is None else find_key(text),
        resource=None if resource is None else _resource(resource),
        resource_prefix=None if resource_prefix is None else _resource(resource_prefix),
        element=None if metadata is None else _element(metadata),
        sort=None if sort is None else _sort(sort.removeprefix("-")),
        descending=sort is not None and sort.startswith("-"),
        owner=owner,
        created_since=created_since,
        created_before=created_before,
        changed_since=changed_since,
        changed_before=changed_before,
        hold=None if hold is None else _hold(hold),
    )


def beginning(prefix: str) -> str:
    """Convert the beginning of a name in any spelling to that of normal forms. Raises :class:`BindingError`
    (``list-prefix``).

    >>> beginning("ark:/12345/"), beginning("12345/x5-np"), beginning("URN:NBN:DE:BSZ")
    ('ark:12345/', 'ark:12345/x5np', 'urn:nbn:de:bsz')
    """
    text = _add_label(prefix)
    # A digit at the end keeps the last slash, dot or colon, which the normal form of a whole name can omit. An NBN
    # needs a hyphen: RFC 8458, section 4.2, ignores the case before it.
    for end in ("0-0", "0", "00") if len(text) < naming.MAX_CHARACTERS else ():
        try:
            name = naming.read(parse(f"{text}{end}"))
        except (IdentifierError, BindingError):
            continue
        key = naming.key(name)
        if key.endswith(end) and len(key) - len(end) <= _MAX_TEXT:
            return key[: -len(end)]
    raise BindingError(
        "list-prefix", Translatable("%(prefix)s is not the beginning of an ARK or URN", prefix=validation.quote(prefix))
    )


def find_key(text: str) -> str | None:
    """Return the key of the name that a text of a user is, or None. It can be in any spelling, in an address, or have
    an error of copying that the inspector corrects, such as a full stop, brackets or a missing label.

    >>> find_key("https://r.example/ark:/12345/x5-np?info"), find_key("<ark:12345/x5np>.")
    ('ark:12345/x5np', 'ark:12345/x5np')
    >>> find_key("map of ark:12345/x5")
    """
    if len(text) >= naming.MAX_CHARACTERS:
        return None
    for spelling in (_add_label(text), _correct(text)):
        try:
            return None if spelling is None else naming.key_of(spelling)
        except BindingError:
            continue
    return None


def _correct(text: str) -> str | None:
    """Return the identifier that a text probably means, or None if the text has other words or no identifier."""
    from ...identifiers import extraction  # words rarely need it

    if len(found := extraction.find(text)) != 1 or (
        found[0].suggestion is None and "not-valid" in found[0].differences
    ):
        return None
    (match,) = found
    others = text[: match.start] + text[match.end :]
    return None if any(char.isalnum() for char in others) else match.suggestion or match.literal


def _add_label(text: str) -> str:
    """Return the text of a user without white space around it, and with the label that NAAN and Name can lack."""
    text = text.strip()
    return f"ark:{text}" if _NO_LABEL.match(text) else text


Read = Callable[[Selection, "str | None", int], Page]
"""A function that returns a page of a selection: behind ``after``, with a maximum number of names."""


def named_first(read: Read, selection: Selection, after: str | None, limit: int) -> Page:
    """Return a page of at most ``limit`` names of a list whose words can be an identifier: its name comes first."""
    words, found = replace(selection, named=None), named_binding(read, selection)
    if found is None:
        return read(words, after, limit)
    if after is None and limit == 1:
        is_last = all(each.identifier == found.identifier for each in read(words, None, 2).names)
        return Page([found], None if is_last else _BEHIND_NAMED, [])
    first = [found] if after is None else []
    page = read(words, None if after == _BEHIND_NAMED else after, limit - len(first))
    return page._replace(names=[*first, *(each for each in page.names if each.identifier != found.identifier)])


def named_binding(read: Read, selection: Selection) -> Binding | None:
    """Return the name that the words of a selection are, if it meets the other conditions. A full stop at the end is a
    part of the name only if it is recorded (A-13).
    """
    for key in () if selection.named is None else dict.fromkeys((selection.named, selection.named.removesuffix("."))):
        if key.startswith(selection.prefix or ""):
            alone = replace(selection, named=None, words=(), prefix=key, sort="name", descending=False)
            if found := next((each for each in read(alone, None, 1).names if each.identifier == key), None):
                return found
    return None


def shoulder_of(key: str) -> str:
    """Return the beginning of a key up to its shoulder: letters that end with the first digit, otherwise the NAAN. For
    a URN, return its NID.

    >>> shoulder_of("ark:12345/x5np1"), shoulder_of("ark:12345/np1/3"), shoulder_of("urn:isbn:9780451450524")
    ('ark:12345/x5', 'ark:12345/np1', 'urn:isbn:')
    >>> shoulder_of("ark:12345/report")
    'ark:12345/'
    """
    label, rest = key[:4], key[4:]
    if label == "urn:":
        return f"{label}{rest.partition(':')[0]}:"
    naan, slash, name = rest.partition("/")
    for place, char in enumerate(name):
        if char.isdigit():
            return f"{label}{naan}{slash}{name[: place + 1]}"
        if not char.isalpha():
            break
    return f"{label}{naan}{slash}"


def group_of(name: Binding, by: Group | None) -> str:
    """Return the group of a name in a count: its shoulder, its state, or the month of its creation. It is "" without
    ``by``.
    """
    match by:
        case "shoulder":
            return shoulder_of(name.identifier)
        case "state":
            return name.status
        case "month":
            return rfc3339(name.created)[:7]
        case None:
            return ""


def cursor(*values: str | int) -> str:
    """Return the opaque text with which a list continues behind a row with these ``values``.

    >>> cursor("ark:12345/x", 7)
    'WyJhcms6MTIzNDUveCIsIDdd'
    """
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def position(after: str, kinds: tuple[type, ...]) -> list[str | int]:
    """Return the values of a text that :func:`cursor` made. Raises :class:`BindingError` (``list-after``) for another
    text.

    >>> position(cursor("a", 1), (str, int))
    ['a', 1]
    """
    try:
        values = json.loads(base64.b64decode(f"{after}{'=' * (-len(after) % 4)}", b"-_", validate=True))
        if isinstance(values, list) and [type(value) for value in values] == list(kinds):
            return values
    except (binascii.Error, ValueError, RecursionError):
        pass
    raise BindingError(
        "list-after", Translatable("%(after)s does not continue this list", after=validation.quote(after))
    )


_BEHIND_NAMED = cursor("named")
"""The position behind a first page with only the name that the words are."""


def moment(text: str) -> datetime:
    """Parse a date or a time in RFC 3339 that a user entered. Without a zone it is UTC. Raises ValueError, and
    OverflowError outside the years 1 to 9999 in UTC.

    >>> rfc3339(moment("2026-11-22"))
    '2026-11-22T00:00:00.000000Z'
    """
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _status(state: str) -> Status:
    for permitted in STATUSES:
        if state == permitted:
            return permitted
    raise BindingError("list-state", Translatable("the state %(state)s does not exist", state=validation.quote(state)))


def _hold(text: str) -> HoldFilter:
    for permitted in get_args(HoldFilter):
        if text == permitted:
            return permitted
    raise BindingError(
        "list-hold", Translatable("a list has no names whose hold is %(text)s", text=validation.quote(text))
    )


def _targets(target: str) -> tuple[str | None, tuple[str, ...]]:
    text = target.strip()
    if not text.isascii() or not text.isprintable() or len(text) > _MAX_TEXT:
        raise BindingError(
            "list-target",
            Translatable("%(target)s is not the beginning of a stored target", target=validation.quote(target)),
        )
    scheme, mark, rest = text.partition("://")
    if text.startswith("/"):
        return None, (text,)
    if mark:
        # A stored target has scheme and host in lower case.
        host, slash, path = rest.partition("/")
        return None, (f"{scheme.lower()}://{host.lower()}{slash}{path}",)
    host, slash, path = text.partition("/")
    host = host.lower()
    if path:
        return None, tuple(f"{scheme}://{host}{slash}{path}" for scheme in ("http", "https"))
    return host, (f"http://{host}", f"https://{host}")


def _words(text: str) -> tuple[str, ...]:
    words = tuple(text.split())
    if len(text) > _MAX_TEXT or NOT_STORED.search(text) or not folding.parts(words):
        raise BindingError(
            "list-text", Translatable("%(text)s has no words to search for", text=validation.quote(text))
        )
    return words


def _resource(text: str) -> str:
    if not text or len(text) > _MAX_TEXT or NOT_STORED.search(text):
        raise BindingError(
            "list-resource", Translatable("%(text)s is not the resource of a name", text=validation.quote(text))
        )
    return text


def _element(text: str) -> tuple[str, str]:
    element, _, value = text.partition("=")
    if not value or NOT_STORED.search(value):
        raise BindingError(
            "list-metadata", Translatable("%(text)s has no element and text", text=validation.quote(text))
        )
    try:
        return metadata_names.full_name(element), value
    except BindingError as error:
        raise BindingError("list-metadata", error.message) from None


def _sort(name: str) -> Sort:
    for permitted in SORTS:
        if name == permitted:
            return permitted
    raise BindingError("list-sort", Translatable("a list is not sorted by %(name)s", name=validation.quote(name)))


def _is_between(time: datetime, since: datetime | None, before: datetime | None) -> bool:
    return (since is None or time >= since) and (before is None or time < before)
