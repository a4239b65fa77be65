"""Check that the site answers for a name of the kind "served". If only names are sent to Ararat, no site can."""

from __future__ import annotations

from collections.abc import Iterator

from ...identifiers.text import display
from ...middleware import BindingError, BindingsUnavailable, open_bindings
from ...webapp.tracing.client.url import WebURL
from ...webapp.tracing.hop import HopFailed
from ..output import counted
from .finding import HealthFinding
from .requests import Ask, raw_request

_SHOWN = 100


def examine(url: WebURL, url_or_path: str, *, asking: Ask | None = None) -> Iterator[HealthFinding]:
    """Request the first served name of a store from the deployment with the prefix ``url``, and yield the finding.

    ``url_or_path`` is a store as for ``--database``. Yield nothing for a store without served names, and for one that
    cannot be read: :mod:`.stores` reports it. ``asking`` replaces the network.
    """
    try:
        with open_bindings(url_or_path) as bindings, bindings.store.snapshot() as snapshot:
            number, name = snapshot.served()
    except (BindingError, BindingsUnavailable):
        return
    if name is None:
        return
    target, shown = f"{url.target.rstrip('/')}/{name}", display.percent(name[:_SHOWN])
    try:
        status = (asking("GET", target) if asking else raw_request(url, target)).status
    except HopFailed as failed:
        yield HealthFinding(
            "url", "served", "error", "served names", f"No answer for {shown}: {failed.sentence}.", _CHANGE
        )
        return
    all_names = counted(number, "served name")
    if status < 400:
        yield HealthFinding("url", "served", "ok", "served names", f"The site answers for {shown}, of {all_names}.")
        return
    message = f"The served name {shown} is answered by {status}. The database has {all_names}."
    yield HealthFinding("url", "served", "error", "served names", message, _CHANGE)


_CHANGE = (
    "If the front server sends only names to Ararat, the site is not behind it: change the kind to located "
    "(ararat relocate NAME URL --kind located). If ResolverMiddleware wraps the site, check that the site has the path."
)
