"""The institution that records the address of a link, which is the one that can correct it after a failed trace."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.names.branding.model import contact_address
from ...identifiers import examine
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from ...middleware import BindingsUnavailable
from ...tracing.target import link_origin
from ..config import Site, url
from ..report import inspection
from ..report.standing import host_of
from ..report.verdict import holder, naan


@dataclass(frozen=True, kw_only=True, slots=True)
class Responsible:
    """The one to ask about a link that does not work: a ``sentence``, and the ``label`` and ``address`` of a link."""

    sentence: str
    label: str | None = None
    address: str | None = None


def responsible_for(text: str, known: Site) -> Responsible | None:
    """Return who can correct a link, or None if this is not known. For a name of this site, it is the institution of
    its prefix record. For another ARK, it is the holder of its NAAN. For a URL without an identifier, it is its host.
    """
    if link_origin(text) is not None:
        said = Translatable(
            "This link has no identifier, so no institution keeps it. Ask the operator of %(host)s.", host=host_of(text)
        )
        return Responsible(sentence=said)
    report = examine(text)
    key = next(reversed(inspection.keys(report)), None)
    if key is not None and known.bindings is not None:
        try:
            own = _own(key, known)
        except BindingsUnavailable:
            own = None
        if own is not None:
            return own
    if name := holder(report):
        said = Translatable("%(holder)s records this address.", holder=name)
        page = url("reference.naan", naan=naan(report))
        return Responsible(sentence=said, label=Translatable("Entry in the registry"), address=page)
    return None


def _own(key: str, known: Site) -> Responsible | None:
    """Return the institution that records a name of this site, or None for a name of another site."""
    bindings = known.bindings
    if bindings is None or not inspection.look_up([(key,)], bindings)[0].is_own:
        return None
    source = bindings.source
    inherited = source.prefix_records().inherited_text(key, "who")
    name = source.branding().institution if inherited is None else inherited.text
    said = Translatable("This site records this address.")
    if name:
        said = Translatable("%(holder)s records this address.", holder=display.visible(name))
    contact = inspection.contact_of(bindings, key)
    if not contact:
        return Responsible(sentence=said)
    return Responsible(
        sentence=said,
        label=Translatable("Report it to %(contact)s", contact=display.visible(contact)),
        address=contact_address(contact),
    )
