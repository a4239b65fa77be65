"""What is doubtful in bindings, as far as one can tell without a network. Nothing is changed, and nobody asked.

>>> import tempfile
>>> from .collection import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> bindings.bind("ark:12345/annual_report.pdf", "https://example.org/report.pdf")
'bound'
>>> for finding in check(bindings):
...     print(finding.code, finding.message)
generic-missing ark:12345/annual_report is not bound
not-opaque the name looks meaningful: annual
>>> bindings.close(); folder.cleanup()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ...identifiers import Ark, Urn
from ...identifiers.iri_policy import Known, Profile, judge, meaning
from ..errors import BindingError, UnreadableBinding
from . import names, validation
from . import targets as destination
from .collection import Bindings
from .minting import is_registered
from .model import Binding
from .policy import UNPUBLISHED

if TYPE_CHECKING:
    from ..storage.store import Snapshot

CHECKS = {
    "trigger-missing": "A trigger that protects the tables is missing: ararat migrate adds it.",
    "history-differs": "A binding is not as the last event of its history has it: another program changed it.",
    "row-unreadable": "The row of a name cannot be read: another program wrote it.",
    "unreadable": "What is bound is no identifier by today's rules.",
    "urn-key": "A URN is bound under a key of an older Ararat, so that an equivalent URN can be bound too.",
    "generic-missing": "A name is bound, and one that contains it is not (ARK-035).",
    "dot-segment": "A segment is . or .. alone: clients leave it out before they ask.",
    "encoded-dot": "Two names differ in . and %2E alone: software may take one for the other.",
    "not-opaque": "The name looks meaningful: meanings change, names do not (ARK-010, POL-024).",
    "naan-unregistered": "The NAAN is not in the registry (ARK-015); said once for each.",
    "non-ascii": "The name has characters that are not ASCII (ARK-065).",
    "policy": "An IRI policy speaks against the name or an address that it leads to.",
    "reserved-target": "The target is a path of the resolver itself: a second redirect, or a round trip.",
}
"""What is looked for, by code."""

_AT_ONCE = 500
_NON_ASCII = re.compile("%[89A-F]")


class Finding(NamedTuple):
    """Something doubtful: the name in normal form, one code of :data:`CHECKS`, and a sentence in printable ASCII.

    Of a finding about the database the name is empty.
    """

    identifier: str
    code: str
    message: str


def check(
    bindings: Bindings,
    *,
    naans: Collection[str] = (),
    prefixes: Collection[str] = (),
    profile: Profile | None = None,
) -> Iterator[Finding]:
    """Whatever is doubtful in these bindings: missing triggers, differences from the history, then the names in order.

    ``naans`` are known to be right though no registry has them. ``prefixes`` are the resolver prefixes of this site, in
    their stored form: a target that begins with one is a path of this site. With a ``profile`` the names that are in
    use, and where they lead, are held to that IRI policy too. Withdrawn names are looked at too, but for their targets.
    The store is streamed as it is when this begins, so it may be of any size, and changed meanwhile.

    Raises :class:`BindingsUnavailable`.

    Source: ARK-010, ARK-015, ARK-035, ARK-065, POL-024; decision A-08; requirements 3.37.
    """
    known = {*naans}
    with bindings.store.snapshot() as snapshot:
        unreadable: list[UnreadableBinding] = []
        if bindings.is_file:
            every, find_bound = snapshot.bindings(), bindings.fetch
        else:
            yield from _against_history(snapshot)
            every, find_bound = snapshot.bindings(unreadable.append), snapshot.bound
        batch: list[Binding] | None = None
        while batch is None or batch:
            batch = list(islice(every, _AT_ONCE))
            for error in unreadable:
                yield Finding(error.identifier or "", "row-unreadable", error.message)
            unreadable.clear()
            read = [(binding, _read(binding.identifier)) for binding in batch]
            near = {key for binding, identifier in read for key in _beside(binding.identifier, identifier)}
            bound = find_bound(near)
            for binding, identifier in read:
                yield from _findings(binding, identifier, bound, known, prefixes)
                if profile is not None and binding.is_live:
                    yield from _by_policy(binding, profile)


def _against_history(snapshot: Snapshot) -> Iterator[Finding]:
    for name, table, _ in snapshot.missing_triggers():
        said = f"the trigger {name} of the table {table} is missing or disabled; run: ararat migrate"
        yield Finding("", "trigger-missing", said)
    for key, columns in snapshot.differences():
        if columns is None:
            said = "it is bound, and its history is empty"
        elif columns:
            said = f"not as in the last event of its history: {', '.join(columns)}"
        else:
            said = "it has a history, and is not bound"
        yield Finding(key, "history-differs", said)


def _read(key: str) -> Ark | Urn | None:
    try:
        return names.read(key)
    except BindingError:
        return None


def _beside(key: str, identifier: Ark | Urn | None) -> list[str]:
    """The names of which has to be known whether they are bound."""
    if isinstance(identifier, Urn):
        return [names.key(identifier)]
    containers = identifier.hierarchy[:-1] if identifier else ()
    return [*containers, *_twins(key)]


def _twins(key: str) -> list[str]:
    # Every pair has %2E on one side, and is said there.
    return names.confusable(key) if "%2E" in key else []


def _findings(
    binding: Binding,
    identifier: Ark | Urn | None,
    bound: Collection[str],
    known: set[str],
    prefixes: Iterable[str],
) -> Iterator[Finding]:
    key = binding.identifier

    def found(code: str, message: str) -> Finding:
        return Finding(key, code, message)

    if identifier is None:
        yield found("unreadable", "it cannot be asked for")
        return
    if any(segment.replace("%2E", ".") in (".", "..") for segment in key.split("/")):
        yield found("dot-segment", "no client asks for a segment that is . or .. alone")
    if isinstance(identifier, Urn) and binding.is_live and (shared := names.key(identifier)) != key:
        remedy = f"{shared} is bound too: withdraw one of them, then" if shared in bound else ""
        yield found("urn-key", f"this URN is equivalent to {shared}; {remedy} run ararat migrate".replace(";  ", "; "))
    if isinstance(identifier, Ark):
        yield from _of_ark(key, identifier, bound, known, found)
    if _NON_ASCII.search(key):
        yield found("non-ascii", "it has characters that are not ASCII")
    for target in filter(None, (binding.target, *binding.alternates.values()) if binding.is_live else ()):
        if _is_own(target, prefixes):
            yield found("reserved-target", f"{validation.shown(target, 100)} belongs to the resolver itself")


def _by_policy(binding: Binding, profile: Profile) -> Iterator[Finding]:
    """What the policy holds against the name, and against the addresses of its hosts that it leads to."""
    said = binding.metadata
    about = Known(
        persistent="persistence" in said,
        published=said.get("availability") != UNPUBLISHED,
        availability=said.get("availability"),
        # "Allocation of IRIs MUST be documented": by a title, by the resource on record, or by where more is said.
        documented=bool(said.get("what") or said.get("where") or binding.resource),
    )
    own = f"{profile.schemes[0]}://{profile.hosts[0]}"
    targets = filter(None, (binding.target, *binding.alternates.values()))
    places = dict.fromkeys(f"{own}{each}" if each.startswith("/") else each for each in targets)
    for verdict in (judge(binding.identifier, profile, about), *(judge(place, profile) for place in places)):
        for found in verdict.findings:
            if found.severity != "note":
                shown = validation.shown(verdict.iri, 100)
                yield Finding(binding.identifier, "policy", f"{shown}: {found.message} ({found.code})")


def _of_ark(
    key: str, ark: Ark, bound: Collection[str], known: set[str], found: Callable[[str, str], Finding]
) -> Iterator[Finding]:
    missing = [container for container in ark.hierarchy[:-1] if container not in bound]
    if missing:
        yield found("generic-missing", f"{validation.shown(missing[0], 100)} is not bound")
    for other in _twins(key):
        if other in bound:
            yield found(
                "encoded-dot", f"{validation.shown(other, 100)} is bound too: software may take one for the other"
            )
    if word := meaning(unquote(ark.hierarchy[0].partition("/")[2])):
        yield found("not-opaque", f"the name looks meaningful: {validation.shown(word, 60)}")
    naan = key[4:].partition("/")[0]
    if naan not in known:
        known.add(naan)
        if not is_registered(naan):
            yield found("naan-unregistered", f"NAAN {naan} is not registered: register with the ARK Maintenance Agency")


def _is_own(target: str, prefixes: Iterable[str]) -> bool:
    paths = [target[len(prefix) :] for prefix in prefixes if target.startswith(f"{prefix}/")]
    return any(map(destination.is_reserved, [target, *paths]))
