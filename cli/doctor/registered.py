"""Compare the settings of a site with the NAAN registry (ARK-022, ARK-088). "Every NAA MUST contact the ARK Maintenance
Agence when necessary to keep up to date the prefix of its authoritative resolver and in the same way SHOULD keep up to
date the other information kept in the registry." (ARK draft, section 3.1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...identifiers import registries
from ...identifiers.registries import Disagreement
from ...identifiers.registries.tables import NAANS
from ...identifiers.text import display
from ...middleware.resolution.settings import Settings
from .finding import HealthFinding

_REFERENCE = "ARK draft, section 3.1"
_REPORT = "Report the change to the ARK Maintenance Agency, which maintains the registry"


def examine(naans: Collection[str], prefixes: Sequence[str] = (), name: str | None = None) -> Iterator[HealthFinding]:
    """Compare the registration of each NAAN with the resolver prefixes of the site and the name of the holder, if
    given. A different resolver is an error; any other difference is a warning. Raises ValueError if a text is not a
    NAAN.

    >>> [finding.state for finding in examine(["12148"], ["https://ark.bnf.fr"])]
    ['ok']
    >>> [finding.state for finding in examine(["12148"], ["https://ark.example"])]
    ['error']
    """
    own = Settings(naans=naans).naans or ()
    day = registries.current().table(NAANS).snapshot.date
    for naan in sorted(own):
        disagreements = list(registries.disagreements(naan, prefixes, name=name))
        # Prefixes of the setting "also" may be private. One prefix must be the registered one.
        agreed = sum(each.field == "prefix" for each in disagreements) < len(prefixes)
        for each in disagreements:
            yield _finding(naan, each, agreed, day)
        if not disagreements:
            resolver = "with this resolver" if prefixes else "but the resolver was not compared: no prefix is known"
            holder = registries.authority(naan)
            held = f" for {holder.name}" if holder else ""
            message = f"It is in the registry of {day}{held}, {resolver}."
            yield HealthFinding("registry", "registered", "ok", f"NAAN {naan}", message)


def _finding(naan: str, disagreement: Disagreement, agreed: bool, day: str) -> HealthFinding:
    shown = f"NAAN {naan}"
    here, registered = (display.escape(text or "none") for text in (disagreement.here, disagreement.registered))
    if disagreement.field == "naan":
        message = f"It is not in the registry of {day}."
        change = "Register the NAAN with the ARK Maintenance Agency, or update the tables: ararat registry update."
        return HealthFinding("registry", "naan-unregistered", "warning", shown, message, change, _REFERENCE)
    if disagreement.field == "prefix" and not agreed:
        message = f"In the registry of {day} its resolver is {registered}, not {here}."
        change = f"{_REPORT}, or set the prefix that is registered."
        return HealthFinding("registry", "resolver-differs", "error", shown, message, change, _REFERENCE)
    if disagreement.field == "prefix":
        message = f"{here} is not its resolver in the registry of {day}; {registered} is."
        return HealthFinding("registry", "prefix-unregistered", "warning", shown, message, reference=_REFERENCE)
    message = f"In the registry of {day} it belongs to {registered}, not to {here}."
    return HealthFinding(
        "registry", f"{disagreement.field}-differs", "warning", shown, message, f"{_REPORT}.", _REFERENCE
    )
