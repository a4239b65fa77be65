"""What a site says of itself, beside what the registry of NAANs has of it (ARK-022, ARK-088).

"Every NAA MUST contact the ARK Maintenance Agence when necessary to keep up to date the prefix of its authoritative
resolver and in the same way SHOULD keep up to date the other information kept in the registry." (ARK draft, section
3.1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...identifiers import registries
from ...identifiers.registries import Disagreement
from ...identifiers.registries.tables import NAANS
from ...identifiers.text import display
from ...middleware.settings import Settings
from .finding import Finding

_REFERENCE = "ARK draft, section 3.1"
_TELL = "Tell the ARK Maintenance Agency, who keep the registry"


def examine(naans: Collection[str], prefixes: Sequence[str] = (), name: str | None = None) -> Iterator[Finding]:
    """How each NAAN stands in the registry, beside the prefixes and the name of the site, where these are known.

    That the resolver is another one is bad; that anything else is, only doubtful. Raises ValueError for a text that is
    no NAAN.

    >>> [finding.state for finding in examine(["12148"], ["https://ark.bnf.fr"])]
    ['well']
    >>> [finding.state for finding in examine(["12148"], ["https://ark.example"])]
    ['bad']
    """
    own = Settings(naans=naans).naans or ()
    day = registries.current().table(NAANS).snapshot.date
    for naan in sorted(own):
        found = list(registries.disagreements(naan, prefixes, name=name))
        # "also" has addresses that are this site for itself alone; one prefix has to be the registered one.
        agreed = sum(each.field == "prefix" for each in found) < len(prefixes)
        for each in found:
            yield _finding(naan, each, agreed, day)
        if not found:
            what = "with this resolver" if prefixes else "as it should be; which resolver it has was not compared"
            holder = registries.authority(naan)
            held = f" for {holder.name}" if holder else ""
            message = f"It stands in the registry of {day}{held}, {what}."
            yield Finding("registry", "registered", "well", f"NAAN {naan}", message)


def _finding(naan: str, found: Disagreement, agreed: bool, day: str) -> Finding:
    shown = f"NAAN {naan}"
    here, registered = (display.escape(text or "none") for text in (found.here, found.registered))
    if found.field == "naan":
        message = f"It is not in the registry of {day}."
        change = "Register it with the ARK Maintenance Agency, or bring the tables up to date: ararat registry update."
        return Finding("registry", "naan-unregistered", "doubtful", shown, message, change, _REFERENCE)
    if found.field == "prefix" and not agreed:
        message = f"The registry of {day} sends its names to another resolver: {registered}, not {here}."
        change = f"{_TELL}, or announce the prefix that they have."
        return Finding("registry", "resolver-differs", "bad", shown, message, change, _REFERENCE)
    if found.field == "prefix":
        message = f"{here} is not its resolver in the registry of {day}, which has {registered}."
        return Finding("registry", "prefix-unregistered", "doubtful", shown, message, reference=_REFERENCE)
    message = f"The registry of {day} has it for {registered}, not for {here}."
    return Finding("registry", f"{found.field}-differs", "doubtful", shown, message, f"{_TELL}.", _REFERENCE)
