"""Relocate many names: replace the beginning of their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import assignment, naming, selection, targets, validation
from ..names.actor import Actor
from ..names.assignment import Change
from ..names.binding import Binding, Passthrough
from ..names.errors import BindingError
from ..names.naming import Name
from ..names.passthrough import can_append
from .plan import BulkResult, NotedName, Plan, PlannedChange, lock_bindings
from .plan_names import carry_out

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction

_MAX_PREFIX = 400
_END_OF_HOST = _END_OF_SEGMENT = "/?#"
# A beginning with one of these at its end is whole. So is the part of a query before the next parameter, and in a
# fragment also a segment, as in "#/items/1".
_SEPARATORS = "/?#&;="
_END_OF_PARAMETER = "&;#"
_END_IN_FRAGMENT = "/?&;"


def relocate_prefix(
    bindings: Bindings,
    source: str,
    destination: str,
    *,
    prefix: str | None = None,
    below: Name | None = None,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    expected: str | None = None,
) -> BulkResult:
    """Replace the beginning of the targets of many names, for example after a site has moved to another host.

    - ``source``: the beginning of a URL ("https://old.example/items/"), a path of this site ("/items/"), or a host
      ("old.example") with both schemes. It matches whole segments: "https://old.example/coll/1" matches itself,
      ".../coll/1/a" and ".../coll/1?a=b", but not ".../coll/12". With ``*`` at its end, "https://old.example/coll/1*"
      matches inside a segment, too. A URL without a path includes the whole host, and never a longer one.
    - ``destination``: of the same form. For a host as ``source`` it is a host (keeps scheme and port), or a URL or path
      (replaces the scheme); then targets with a port stay. A ``*`` at its end is ignored after a ``source`` with ``*``.
    - ``prefix``: only names that begin with this text. ``below``: only this name and the names below it.

    The caller decides that each new target leads to the same resource. Reserved names are changed too, and withdrawn
    ones left alone. A name is refused if its new target cannot be bound. The other arguments and the errors are those
    of :func:`~ararat.bindings.operations.plan_names.carry_out`. Raises :class:`BindingError` with the code
    ``relocate-prefix``, ``list-prefix``, ``nothing-below``, or those of targets and names.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x1", "https://old.example/items/1?a=b")
    'bound'
    >>> result = relocate_prefix(b, "https://old.example/items/", "https://new.example/")
    >>> result.operation, result.counts["relocated"], b.lookup("ark:12345/x1").target
    (1, 1, 'https://new.example/1?a=b')
    >>> b.close(); folder.cleanup()
    """
    from ..storage.writing.operations import KeyRange

    rewriting = Rewriting.of(source, destination)
    if prefix is not None and below is not None:
        raise BindingError("relocate-prefix", Translatable("prefix and below exclude each other"))
    parameters = {"from": source, "to": destination}
    keys = None
    if prefix is not None:
        keys, parameters["prefix"] = KeyRange(selection.beginning(prefix)), prefix
    elif below is not None:
        keys = KeyRange(container(below), is_below=True)
        parameters["below"] = keys.beginning

    def find(transaction: Transaction) -> Iterator[str]:
        return transaction.operations.keys_with_targets(rewriting.sources, rewriting.ends, keys)

    def decide(transaction: Transaction, names: Sequence[str]) -> Iterator[PlannedChange]:
        for binding in lock_bindings(transaction, names, keys):
            yield PlannedChange(binding.identifier, binding, lambda now, known=binding: rewriting.change(known, now))

    plan = Plan("relocate", parameters, find, decide, kept=rewriting.suffixes)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress, expected=expected)


def set_passthrough(
    bindings: Bindings,
    prefix: str,
    passthrough: Passthrough,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Set for many names whether the rest of a longer identifier is appended to their targets. The targets stay.

    ``passthrough`` is False, True for the rest in normal form, or "given" for the rest as requested. The names begin
    with ``prefix``, such as ``ark:12345/x5``. Withdrawn names are left alone. Unless it is False, so are URNs, and
    names without a target that can be extended. The other arguments and the errors are those of
    :func:`relocate_prefix`.
    """
    from ..storage.writing.operations import KeyRange

    keys = KeyRange(selection.beginning(prefix))

    def change(binding: Binding, now: datetime) -> Change | NotedName:
        if binding.is_withdrawn:
            return NotedName(binding.identifier, "withdrawn", Translatable("the name is withdrawn"))
        if passthrough and (binding.target is None or not can_append(binding.target)):
            return NotedName(
                binding.identifier, "passthrough-without-path", Translatable("the name has no target with a path")
            )
        if passthrough and binding.identifier.startswith("urn:"):
            return NotedName(binding.identifier, "nothing-below", Translatable("a URN cannot contain other names"))
        if binding.passthrough == passthrough:
            return Change("unchanged", binding, None)
        after = assignment.next_revision(binding, replace(binding, passthrough=passthrough), now)
        return Change("updated", after, "updated")

    def decide(transaction: Transaction, names: Sequence[str]) -> Iterator[PlannedChange]:
        for binding in lock_bindings(transaction, names, keys):
            yield PlannedChange(binding.identifier, binding, lambda now, known=binding: change(known, now))

    def find(transaction: Transaction) -> Iterator[str]:
        return transaction.operations.keys_in(keys)

    word = {False: "no", True: "normal", "given": "given"}[passthrough]
    plan = Plan("relocate", {"passthrough": word, "prefix": prefix}, find, decide)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)


def container(identifier: Name) -> str:
    """Return the key of an ARK that can have names below it, as ark:12345/x has ark:12345/x/p1. Raises
    :class:`BindingError` (``nothing-below``) for a URN.
    """
    key = naming.key_of(identifier)
    if key.startswith("urn:"):
        raise BindingError("nothing-below", identifier=key)
    return key


class Rewriting(NamedTuple):
    """A rule that replaces the first matching beginning of ``sources`` in targets by that of ``destinations``. ``ends``
    are the characters that can follow a source in a target; "" permits all.
    """

    sources: tuple[str, ...]
    destinations: tuple[str, ...]
    ends: str

    @classmethod
    def of(cls, source: str, destination: str) -> Rewriting:
        """Create the rule from texts of a user, which can be hosts. Raises :class:`BindingError` with the code
        ``relocate-prefix`` or the codes of targets.
        """
        is_inside = source.rstrip().endswith("*")
        if is_inside:
            source, destination = source.rstrip()[:-1], destination.rstrip().removesuffix("*")
        sources, destinations = _beginnings(source), _beginnings(destination)
        if sources == destinations:
            raise BindingError("relocate-prefix", Translatable("both beginnings are the same"))
        if len(destinations) > len(sources):
            message = Translatable(
                "%(destination)s has no scheme, and %(source)s has one",
                destination=validation.quote(destination),
                source=validation.quote(source),
            )
            raise BindingError("relocate-prefix", message)
        is_host = _is_origin(sources[0])
        if is_inside and is_host:
            raise BindingError(
                "relocate-prefix",
                Translatable("%(source)s* would match inside the name of a host", source=validation.quote(source)),
            )
        ends = "" if is_inside else _ends(sources[0])
        if is_host and len(destinations) > 1 and _is_origin(destinations[0]):
            ends += ":"
        return cls(sources, destinations * (len(sources) // len(destinations)), ends)

    def __call__(self, target: str) -> str:
        """Return the target with its new beginning, or the same target if it has another one.

        >>> Rewriting.of("old.example", "new.example")("http://old.example:8080/a")
        'http://new.example:8080/a'
        >>> Rewriting.of("https://old.example", "https://new.example")("https://old.example.org/b")
        'https://old.example.org/b'
        >>> Rewriting.of("/coll/1", "/one")("/coll/12"), Rewriting.of("/coll/1*", "/one")("/coll/12")
        ('/coll/12', '/one2')
        """
        match = self._match(target)
        return target if match is None else _join(*match)

    def suffixes(self, binding: Binding) -> Mapping[str, str]:
        """Return the part of each target that the rule keeps, by "target" or selector (:class:`.plan.Effect`)."""
        places = {"target": binding.target or "", **binding.alternates}
        return {place: match[2] for place, target in places.items() if (match := self._match(target))}

    def _match(self, target: str) -> tuple[str, str, str] | None:
        """Return the source that a target begins with, its destination, and the rest of the target, or None."""
        for source, destination in zip(self.sources, self.destinations, strict=True):
            if target.startswith(source):
                rest = target[len(source) :]
                if not rest or not self.ends or rest[0] in self.ends:
                    return source, destination, rest
        return None

    def change(self, binding: Binding, now: datetime) -> Change | NotedName | None:
        """Return the change that rewrites the targets of a name, None if no target matches, or the reason for a
        withdrawn one.
        """
        target = None if binding.target is None else self(binding.target)
        alternates = {selector: self(each) for selector, each in binding.alternates.items()}
        if target == binding.target and alternates == binding.alternates:
            return None
        if binding.is_withdrawn:
            return NotedName(binding.identifier, "withdrawn", Translatable("the name is withdrawn"))
        return assignment.moved_to(binding, replace(binding, target=target, alternates=alternates), now)


def _beginnings(text: str) -> tuple[str, ...]:
    """Return the beginnings of stored targets that a user named: two for a text without a scheme."""
    text_without_space = text.strip()
    if text_without_space.startswith("/") or "://" in text_without_space:
        whole = (targets.check(text_without_space, "located"),)
    else:
        whole = tuple(targets.check(f"{scheme}://{text_without_space}", "located") for scheme in ("http", "https"))
    beginnings = tuple(each for each in whole if each is not None)
    if max(map(len, beginnings)) > _MAX_PREFIX:
        raise BindingError(
            "relocate-prefix",
            Translatable(
                "%(text)s has more than %(max_prefix)s characters", text=validation.quote(text), max_prefix=_MAX_PREFIX
            ),
        )
    return beginnings


def _ends(beginning: str) -> str:
    """Return the characters that can follow a whole beginning of a target; "" permits all."""
    if _is_origin(beginning):
        return _END_OF_HOST
    if beginning[-1] in _SEPARATORS:
        return ""
    if "#" in beginning:
        return _END_IN_FRAGMENT
    return _END_OF_PARAMETER if "?" in beginning else _END_OF_SEGMENT


def _is_origin(beginning: str) -> bool:
    """Return whether a beginning of a target is a URL that ends with its host or port."""
    host = beginning.partition("://")[2]
    return bool(host) and not any(char in host for char in _END_OF_HOST)


def _join(source: str, destination: str, rest: str) -> str:
    """Join a destination and a rest with one slash where one of them has it. The rest is never joined to a host."""
    after_host = f"{_END_OF_HOST}:" if _is_origin(source) else _END_OF_HOST
    if _is_origin(destination) and rest and rest[0] not in after_host:
        return f"{destination}/{rest}"
    if destination.endswith("/") and rest.startswith("/") and not source.endswith("/"):
        return f"{destination}{rest[1:]}"
    return f"{destination}{rest}"
