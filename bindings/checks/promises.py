"""Find names that are promised as persistent, and that do not keep the promise. The checks send no requests.

A name is promised if its availability, or that of its prefix, is "lifetime" or "subinfinite"
(:func:`~ararat.bindings.names.metadata.persistence.is_promised`). Its target is on a host of others if this is neither
in ``hosts`` of its prefix records, nor a host of the site, nor a subdomain of one. Without any known host, no target
is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import urlsplit

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import validation
from ..names.binding import Binding
from ..names.metadata import persistence
from ..names.prefixes.prefixes import PrefixRecords
from .name_findings import NameFinding

PROMISE_CHECKS = {
    "promise-dead": "The name is promised as persistent, but the last trace of its target failed.",
    "promise-withdrawn": "The name is promised as persistent, but it was withdrawn without a reason.",
    "promise-host": "The name is promised as persistent, but a target is on a host of others.",
}
"""The checks, by code."""

DeadTargets = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns, of the names that it gets, those whose current target is recorded as dead, with a sentence about it."""

_BATCH = 500


def check_promises(bindings: Bindings, dead: DeadTargets, *, hosts: Collection[str] = ()) -> Iterator[NameFinding]:
    """Check the names that are promised as persistent. Yield those that break the promise, for example by a dead
    target. ``dead`` returns, of keys, those whose target is recorded as dead, each with a sentence. ``hosts`` are hosts
    of the site, besides those of the prefix records. Raises :class:`BindingsUnavailable`.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.prefixes.set("12345", availability="lifetime", hosts="museum.example")
    'set'
    >>> b.bind("ark:12345/x1", "https://www.museum.example/1"), b.bind("ark:12345/x2", "https://cloud.example/2")
    ('bound', 'bound')
    >>> [(finding.identifier, finding.code) for finding in check_promises(b, lambda names: {})]
    [('ark:12345/x2', 'promise-host')]
    >>> b.close(); folder.cleanup()
    """
    with bindings.store.snapshot() as snapshot:
        records = PrefixRecords(snapshot.prefixes())
        # ararat verify lists the rows that cannot be read.
        every = snapshot.bindings(lambda error: None)
        while batch := list(islice(every, _BATCH)):
            yield from findings(batch, records, dead, hosts)


def findings(
    batch: Sequence[Binding], records: PrefixRecords, dead: DeadTargets, hosts: Collection[str] = ()
) -> Iterator[NameFinding]:
    """Yield the broken promises of the names in ``batch``. Names for tests have no promises."""
    promised = [binding for binding in batch if not binding.is_test and is_promised(binding, records)]
    failed = dead([binding.identifier for binding in promised if binding.is_live])
    for binding in promised:
        key = binding.identifier
        if binding.is_withdrawn and not binding.reason and not binding.successor:
            yield NameFinding(
                key, "promise-withdrawn", Translatable("the name was withdrawn without a reason or a successor")
            )
        if not binding.is_live:
            continue
        if key in failed:
            yield NameFinding(key, "promise-dead", failed[key])
        record = records.inherited_text(key, "hosts")
        own = {*hosts, *(record.text.split() if record else ())}
        for host in dict.fromkeys(map(_host, (binding.target, *binding.alternates.values()))):
            if own and host and not _is_of(host, own):
                message = Translatable(
                    "the target is on %(host)s, which is not a host of the institution",
                    host=validation.quote(host, 100),
                )
                yield NameFinding(key, "promise-host", message)


def is_promised(binding: Binding, records: PrefixRecords) -> bool:
    """Return whether the name ``binding`` is promised as persistent by its own statements or by its prefix records."""
    statements = {**records.statements(binding.identifier, binding.metadata).texts, **binding.metadata}
    return persistence.is_promised(statements.get("erc.availability"), statements.get("erc.persistence"))


def _host(target: str | None) -> str | None:
    """Return the host of a target in lower case. A path of this site has none."""
    if not target or target.startswith("/"):
        return None
    return (urlsplit(target).hostname or "").rstrip(".") or None


def _is_of(host: str, own: Collection[str]) -> bool:
    return any(host == each or host.endswith(f".{each}") for each in own)
