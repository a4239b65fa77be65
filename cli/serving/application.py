"""The applications that the options of ``ararat serve`` describe: inspector, resolver and demo behind one address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ...middleware.resolution.settings import ENGLISH, SCHEMES, Settings
from ...webapp import settings as inspector
from .sign_in import SignIn

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ...middleware import Bindings, Resolution

NOTHING: Mapping[str, Any] = MappingProxyType({})
_OF_PLACEMENT = ("prefix", "inspector", "trusted_hosts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """The place at which an application answers, and its role. The settings decide its answers.

    - ``prefix``: the public resolver prefix. ``address``: the URL of the server, which can be the same.
    - ``inspector``: the link to the inspector in error pages: "/" for the root of the prefix, a URL, or None.
    - ``trusted_hosts``: the host names of the inspector; None for any.
    - ``trusted_proxies``: the number of reverse proxies, each of which adds a value to X-Forwarded-For.
    - ``only``: the one role "names" or "desk", or None for both. ``demo``: mount the demo site.
    - ``resume``: carry out unfinished jobs now, in threads, and not after the first request to the desk or API.
    - ``first_secret``: the secret of the link that creates the first account.
    """

    prefix: str
    address: str
    inspector: str | None = "/"
    trusted_hosts: Sequence[str] | None = None
    trusted_proxies: int = 0
    only: Literal["names", "desk"] | None = None
    demo: bool = False
    resume: bool = True
    first_secret: str | None = None
    on_resolve: Callable[[Resolution], object] | None = None


def resolver_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the resolver that options of a command state, except its prefix and inspector.

    >>> resolver_settings({"cache": 60, "naans": (), "hsts": None, "cors": ("none",), "port": 8000})
    {'cache': 60, 'cors': False}
    """
    values = _given_options(Settings, options)
    if "cors" in values:
        values["cors"] = {("all",): True, ("none",): False}.get(values["cors"], values["cors"])
    return values


def inspector_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the inspector that options of a command state, except those of :class:`Placement`.
    Raises ValueError, UsageError and CommandError for a wrong option of the sign-in.
    """
    sign_in = SignIn.of(options)
    return {
        **_given_options(inspector.InspectorSettings, options),
        "policies": options["profiles"],
        "openid": sign_in.openid(),
        **sign_in.of_proxy(options["trusted_proxies"]),
    }


def _given_options(settings: type, options: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(settings) if field.init}.difference(_OF_PLACEMENT)
    return {name: value for name, value in options.items() if name in names and value not in (None, ())}


def wsgi_application_of(options: Mapping[str, Any], bindings: Bindings, placement: Placement) -> WSGIApplication:
    """Return the WSGI application with the resolver and the inspector for options of ``ararat serve``.
    Raises ValueError, NotImplementedError, UsageError and CommandError for a wrong option.
    """
    resolver = resolver_settings(options)
    if placement.only != "names":
        return compose(bindings, placement, inspector_settings(options), resolver)
    from .names_only import names_application

    return names_application(
        bindings,
        prefix=placement.prefix,
        also=(placement.address, *resolver.pop("also", ())),
        inspector=placement.inspector,
        trusted_proxies=placement.trusted_proxies,
        secret=SignIn.of(options).proxy_secret(placement.trusted_proxies),
        on_resolve=placement.on_resolve,
        **resolver,
    )


def compose(
    bindings: Bindings,
    placement: Placement,
    settings: Mapping[str, Any] = NOTHING,
    resolver: Mapping[str, Any] = NOTHING,
) -> WSGIApplication:
    """Return the WSGI application of ``ararat serve``: the resolver in front of the inspector, and of the demo site.

    ``settings`` and ``resolver`` are the settings of the inspector and of the resolver, without those of the
    ``placement``. Requests of a trace to the address are answered in process. At the prefix, only names are answered in
    process, unless the inspector is at the root of the prefix: another application can answer the other paths. Raises
    ValueError for an invalid setting, network, resolver or path.
    """
    from werkzeug.middleware.dispatcher import DispatcherMiddleware

    from ...middleware import ResolverMiddleware
    from ...middleware.http.trusted_proxy import ForwardedFields
    from ...tracing.in_process import NamesOnly
    from ...webapp.app import create_app, resume_jobs
    from ...webapp.config import KEY
    from .demo import MOUNT, create_demo
    from .mount import MountedWSGI, Mounts
    from .names_only import WithoutNames

    prefix, address, linked = placement.prefix, placement.address, placement.inspector
    local: dict[str, WSGIApplication] = {}
    at_root = linked is not None and linked.rstrip("/") in ("", prefix.rstrip("/"))
    on_prefix = at_root or (linked or "").startswith("/")
    chosen: dict[str, Any] = {
        **_given_options(inspector.InspectorSettings, resolver),  # the institution and the counts
        "language": next(iter(resolver.get("languages", ())), ENGLISH),
        **settings,
        "prefix": prefix,
        "inspector": prefix if on_prefix else linked or address,
        "local": local,
        "trusted_hosts": placement.trusted_hosts,
        "examples": inspector.DEMO_EXAMPLES if placement.demo else inspector.EXAMPLES,
        "temporary": placement.demo,
        "first_secret": placement.first_secret,
        "on_trace": lambda end: whole.metrics and whole.metrics.trace_ended(end.outcome),
    }
    app = create_app(bindings, **chosen)
    ezid, pages = settings.get("ezid"), app.first_segments() - {""}
    for setting in ("sitemap", "atom", "oai", "services", "log", "metrics"):
        path = (resolver.get(setting) or "").rstrip("/")
        # The resolver is in front of the inspector, so the pages there would no longer be reached.
        below_ezid = ezid is not None and f"{path}/".startswith(f"{ezid.rstrip('/')}/")
        if below_ezid or path.strip("/").partition("/")[0] in pages:
            raise ValueError(f"{setting}: the path {path} has other pages; choose another")
    if placement.resume:
        resume_jobs(app)
    site = DispatcherMiddleware(app, {MOUNT: create_demo()}) if placement.demo else app
    also = (address, *resolver.get("also", ()))
    own = {**resolver, "prefix": prefix, "also": also, "inspector": linked}
    whole = ResolverMiddleware(site, bindings, on_resolve=placement.on_resolve, **own)
    names = NamesOnly(whole, resolver.get("schemes") or SCHEMES)
    # The inspector reads this dictionary when a trace starts. The values wrap the inspector, so they are added last.
    local.update({prefix: whole if at_root else names, address: whole})
    public = (prefix if on_prefix else linked, prefix, *also)
    mounts = Mounts(each for each in public if each)
    served = WithoutNames(app, prefix, resolver.get("schemes")) if placement.only == "desk" else whole
    mounted = MountedWSGI(served, mounts) if mounts else served
    if not placement.trusted_proxies:
        return mounted
    return ForwardedFields(mounted, placement.trusted_proxies, app.extensions[KEY].settings.proxy_secret)
