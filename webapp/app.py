"""Create the inspector, a Flask application."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from flask import Flask, Response, current_app

from .. import __version__
from ..bindings.names import origins
from ..bindings.names.branding.model import Branding
from ..bindings.names.branding.model import Field as BrandingField
from ..bindings.names.branding.model import check as check_branding
from ..bindings.names.errors import BindingError
from ..bindings.system.concurrency import ConcurrencyLimit
from ..bindings.system.thread_slots import slots
from ..identifiers import iri_policy
from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text import display
from ..middleware.resolution.settings import ENGLISH
from ..net import uri as web_reference
from ..net.allowed_addresses import Destinations, parse_networks
from . import errors, security
from .accounts import first_account
from .admission import BodyLimit, FieldLimit, share_pages
from .application import Application
from .config import (
    EXAMPLES,
    FACTS,
    KEY,
    MAX_LABEL,
    MIN_SESSION_IDLE,
    RESOURCE_LABEL,
    SESSION_IDLE,
    Example,
    Resolver,
    Site,
    url,
)
from .navigation import header, navigation
from .report import excerpt
from .trace_results import Results
from .tracing.limits.cache import ResponseCache
from .tracing.limits.rate_limit import HostRateLimiter
from .trusted_proxy import SECRET_FIELD, ProxySecret, RemoteUser
from .views import api, compare, docs, inspect, reference, trace
from .views import language as languages
from .views import policy as policy_pages
from .views import traces as trace_lists

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings
    from ..middleware.statistics.counts import CountStore
    from .accounts.openid import OpenID
    from .accounts.store import Accounts
    from .tracing.events import End

VENDORED = ("vendor/htmx-2.min.js", "vendor/hx-sse-2.min.js")
"""Files below static/ that the build copies there (setup.py)."""


class MissingAssets(RuntimeError):
    """Raised if the static files of htmx are missing. The message contains the command that installs them."""


def create_app(
    bindings: Bindings | None = None,
    *,
    prefix: str | None = None,
    inspector: str | None = None,
    local: Mapping[str, WSGIApplication] = MappingProxyType({}),
    trace_elsewhere: bool = True,
    networks: Sequence[str] = (),
    denied_networks: Sequence[str] = (),
    threads: int | None = None,
    traces: int | None = None,
    traces_each: int = 3,
    host_rate: int = 30,
    host_rate_each: int = 20,
    trusted_hosts: Sequence[str] | None = None,
    examples: Sequence[Example] = EXAMPLES,
    policies: Sequence[str | Profile] = (),
    resolvers: Sequence[str | Resolver] = (),
    remote_user: str | None = None,
    remote_user_secret: str | None = None,
    remote_user_secret_field: str = SECRET_FIELD,
    openid: OpenID | None = None,
    session_idle: int = SESSION_IDLE,
    resource_label: str = RESOURCE_LABEL,
    ezid: str | None = None,
    ezid_passthrough: str = "given",
    on_trace: Callable[[End], object] | None = None,
    statistics: str | None = None,
    institution: str | None = None,
    logo: str | None = None,
    contact: str | None = None,
    colour: str | None = None,
    statement: str | None = None,
    language: str = ENGLISH,
    temporary: bool = False,
    first_secret: str | None = None,
) -> Application:
    """Create an inspector, a WSGI application that can be mounted under any path.

    Parameters:

    - ``bindings``: the store that pages look names up in. None: pages show no bindings.
    - ``prefix``: the resolver prefix of this site, a URL.
    - ``inspector``: the URL of this inspector, used for printed permalinks. None: the origin of ``prefix``.
    - ``local``: WSGI applications by URL prefix. A trace calls them instead of sending requests to these URLs.
      The mapping is read when a trace starts.
    - ``trace_elsewhere``: whether a trace sends requests to other hosts.
    - ``networks``: networks in CIDR notation that a trace can reach although their addresses are not public.
    - ``denied_networks``: networks in CIDR notation that a trace never reaches.
    - ``threads``: the number of threads of this process that answer requests, for the limits of work that waits
      (:mod:`~ararat.bindings.system.thread_slots`). None: the number of the server if it is known, else 8.
    - ``traces``: the maximum of concurrent traces in this process. None: a quarter of the threads, which is also the
      limit of a larger number.
    - ``traces_each``: the maximum of concurrent traces of one client.
    - ``host_rate``: the maximum of requests to another host per minute.
    - ``host_rate_each``: the same maximum for the requests of one client.
    - ``trusted_hosts``: the host names that the Host field can contain. None: any.
    - ``examples``: the examples on the home page.
    - ``policies``: IRI policies that also apply to IRIs: profiles, or names of shipped profiles
      (:mod:`~ararat.identifiers.iri_policy`).
    - ``resolvers``: further resolvers that users can select for a trace: resolver prefixes, or
      :class:`~ararat.webapp.config.Resolver` with a title.
    - ``remote_user``: the source of the user that the web server has signed in: "REMOTE_USER" for the variable of WSGI,
      or the name of a header field that a proxy sets, of letters and digits. None: no user is trusted.
    - ``remote_user_secret``: the secret, 32 characters or more, that the proxy adds to each request in the field
      ``remote_user_secret_field``. A header field of the user needs it, and counts only together with it.
    - ``openid``: the OpenID provider whose users can sign in (:class:`~ararat.webapp.accounts.openid.OpenID`). It needs
      ``inspector`` or ``prefix``.
    - ``session_idle``: the time in minutes, at least 5, after which a session of a browser that is not used ends. Every
      session ends after 12 hours.
    - ``resource_label``: what the desk calls the resource of a name, the key of the thing in the catalogue.
    - ``ezid``: the path of the EZID API, such as "/ezid". None: there is no such API. It needs a prefix and a database.
    - ``ezid_passthrough``: the passthrough of names that get their first target by the EZID API: "no", "normal" or
      "given", as in EZID.
    - ``on_trace``: a function that is called with the :class:`~.tracing.events.End` of each trace, for a counter.
    - ``statistics``: the place of the counts of requests, as for :class:`~ararat.middleware.ResolverMiddleware`, which
      the desk shows. None: the desk shows none.
    - ``institution``, ``logo``: the institution in the header, as for :class:`~ararat.middleware.ResolverMiddleware`.
      ``contact``, ``colour`` and ``statement`` are those of its public pages. The page of the branding shows all five.
      The branding in the store comes first.
    - ``language``: the language of the institution, such as "de", for browsers that ask for no language of the pages.
    - ``temporary``: whether the names are lost when the server stops. The pages of the desk then have a notice.
    - ``first_secret``: the secret of the link ``/first-account/SECRET``, which creates the first administrator once. It
      works over https and on the machine of the server. None: there is no such link.

    Accounts are those in the database of ``bindings``. Until an account exists, ``/desk`` and ``/sign-in`` show the
    command that adds one, and their other pages answer 404.

    A client is the address in REMOTE_ADDR; an IPv6 client is its /56 network. Behind a proxy all clients have the
    address of the proxy and share one limit. In this case, wrap the application in
    ``ForwardedFields(app, 1)`` of :mod:`ararat.webapp.trusted_proxy` and replace 1 by the number of proxies. Do this
    only behind a proxy. With a :class:`~ararat.webapp.trusted_proxy.ProxySecret`, only requests of the proxy count.

    Raises :class:`MissingAssets` if the files of htmx are missing. Raises ValueError for an invalid prefix, policy,
    resolver, ``remote_user``, ``ezid``, ``statistics``, ``threads``, ``session_idle`` or ``resource_label``. It is also
    raised for ``openid`` without a URL of this inspector.

    >>> create_app().test_client().get("/?q=ark:12345/x").status
    '200 OK'
    """
    if openid is not None and not (inspector or prefix):
        raise ValueError("openid: the URL of this inspector is missing, to which the provider returns; set inspector=…")
    if threads is not None:
        slots.use(threads)
    if session_idle < MIN_SESSION_IDLE:
        raise ValueError(f"session_idle: {session_idle} minutes is too short; set at least {MIN_SESSION_IDLE}")
    if not (resource_label.strip() and resource_label.isprintable() and len(resource_label) <= MAX_LABEL):
        raise ValueError(f"resource_label: use 1 to {MAX_LABEL} printable characters")
    if resource_label == RESOURCE_LABEL:
        # The default of a command is not translatable.
        resource_label = RESOURCE_LABEL
    destinations = Destinations(parse_networks(networks), parse_networks(denied_networks), trace_elsewhere)
    if openid is not None:
        openid.denied_networks = destinations.denied
    site = Site(
        bindings=bindings,
        prefix=prefix if prefix is None else origins.check_prefix(prefix),
        inspector=inspector,
        local=local,
        destinations=destinations,
        traces=traces,
        traces_each=traces_each,
        large_slots=ConcurrencyLimit(4, 1),
        rate_limiter=HostRateLimiter(host_rate, host_rate_each),
        cache=ResponseCache(),
        results=Results(),
        examples=tuple(examples),
        policies=tuple(iri_policy.built_in(each) if isinstance(each, str) else each for each in policies),
        resolvers=tuple(map(_resolver, resolvers)),
        accounts=_accounts(bindings),
        remote_user=_remote_user(remote_user, remote_user_secret, remote_user_secret_field),
        openid=openid,
        language=language,
        is_temporary=temporary,
        session_idle=timedelta(minutes=session_idle),
        resource_label=resource_label,
        on_trace=on_trace,
        statistics=None if statistics is None else _counts(statistics),
        branding=_branding(
            {
                "institution": institution,
                "logo": logo,
                "contact": contact,
                "colour": colour,
                "statement": statement,
            }
        ),
    )
    app = Application(_shared(site.accounts is not None, openid is not None))
    _require_assets(app)
    app.extensions[KEY] = site
    app.wsgi_app = security.PathsOnly(FieldLimit(BodyLimit(app.wsgi_app)))
    app.jinja_env.globals.update(has_policy=bool(policies), resource_label=resource_label, origin=site.origin)
    if trusted_hosts:
        security.require_hosts(app, trusted_hosts)
    if first_secret is not None:
        first_account.offer(app, first_secret)
    if site.accounts is not None:
        _open_desk(app, site)
    if ezid is not None:
        _answer_ezid(app, site, ezid, ezid_passthrough)
    share_pages(app)
    return app


@cache
def _shared(with_accounts: bool, with_openid: bool) -> Application:
    """Return the application that all sites of this process share: all sites with accounts, or all others."""
    app = Application()
    app.add_url_rule("/static/<path:filename>", "static", _static_file)
    environment = app.jinja_env
    environment.globals.update(
        address=inspect.address,
        answered=trace.answered,
        ascii=display.percent,
        asset=asset,
        duration=trace.duration,
        span=trace.span,
        header=header,
        is_demonstration=first_account.is_demonstration,
        keeping_command=first_account.keeping_command,
        split_address=trace.split_address,
        navigation=navigation,
        official=OFFICIAL_PREFIX,
        plain=excerpt.plain,
        today=lambda: f"{datetime.now(UTC):%Y-%m-%d}",
        url_for=url,
        version=__version__,
    )
    environment.filters.update(escape_hidden=excerpt.escape_hidden, shown=excerpt.shown)
    languages.init_app(app)
    security.init_app(app, languages.describe)
    errors.init_app(app)
    for view in (inspect, compare, trace, trace_lists, api, reference, policy_pages, docs):
        app.register_blueprint(view.blueprint)
    if with_accounts:
        _register_accounts(app, with_openid)
    return app


def _static_file(filename: str) -> Response:
    return current_app.send_static_file(filename)


def _resolver(given: str | Resolver) -> Resolver:
    if isinstance(given, str):
        return Resolver(web_reference.parse(origins.check_prefix(given)).host, origins.check_prefix(given))
    return Resolver(given.title, origins.check_prefix(given.prefix))


def _accounts(bindings: Bindings | None) -> Accounts | None:
    from ..middleware import Bindings

    if not isinstance(bindings, Bindings) or bindings.kind != "database":
        return None
    # SQLAlchemy takes long to load, and only a database needs it.
    from .accounts.store import Accounts

    return Accounts(bindings)


def _branding(values: Mapping[BrandingField, str | None]) -> Branding:
    """Return the checked branding of the settings. Raises ValueError."""
    try:
        return check_branding(values)
    except BindingError as error:
        raise ValueError(f"institution, logo, contact, colour or statement: {error}") from None


def _counts(place: str) -> CountStore:
    """Return the counts of requests without opening them. Raises ValueError."""
    from ..middleware.statistics.counts import CountStore

    try:
        return CountStore.at(place)
    except BindingError as error:
        raise ValueError(f"statistics: {error}") from None


def _register_accounts(app: Application, with_openid: bool) -> None:
    from . import api as management_api
    from .desk import blueprint as desk
    from .views import one_time_links, sign_in

    for blueprint in (sign_in.blueprint, one_time_links.blueprint, desk, management_api.blueprint):
        app.register_blueprint(blueprint)
    if with_openid:
        from .views import openid

        app.register_blueprint(openid.blueprint)


def _open_desk(app: Application, site: Site) -> None:
    """Give the application of a site with accounts what its desk and its API keep."""
    from ..bindings.digest import Recent
    from . import api as management_api
    from .desk.counts import COUNTS, CountCache

    assert site.accounts is not None, "only such a site has a desk"  # noqa: S101
    app.extensions[FACTS] = Recent(site.accounts.bindings)
    app.extensions[COUNTS] = CountCache()
    management_api.init_app(app, site)


def resume_jobs(app: Flask) -> None:
    """Carry out the jobs of the application ``app``, such as imports, that an earlier process did not finish.

    `ararat serve` calls it at its start. Under another server the first request to the desk or the API does the same.
    """
    if app.extensions[KEY].accounts is not None:
        from .jobs.imports import resume

        resume(app)


def _answer_ezid(app: Application, site: Site, path: str, passthrough: str) -> None:
    """Answer the EZID API below a path. Raises ValueError."""
    if site.bindings is None or site.accounts is None or site.prefix is None:
        raise ValueError("the EZID API needs a prefix, and bindings in a database")
    from .ezid import dispatch
    from .management import Management

    management = Management(site.bindings, site.accounts)
    dispatch.init_app(app, path, prefix=site.prefix, management=management, passthrough=passthrough)


def _remote_user(name: str | None, secret: str | None, field: str) -> RemoteUser | None:
    """Return the source of the user that the web server has signed in, or None. Raises ValueError."""
    known = None if secret is None else ProxySecret(secret, field)
    return None if name is None else RemoteUser.of_setting(name, known)


def _require_assets(app: Flask) -> None:
    folder = Path(str(app.static_folder))
    missing = [name for name in VENDORED if not (folder / name).is_file()]
    if missing:
        raise MissingAssets(
            f"{folder / 'vendor'} does not contain {' and '.join(Path(name).name for name in missing)}, "
            "because the package was not built. Run `make run` or `python -m pip install -e .` in the checkout."
        )


def asset(name: str) -> str:
    """Return the URL of a file of the pages. ``name`` is its path in the folder ``static/``.

    The query parameter ``v`` of the URL is a hash of the content, so that browsers can cache the file for long.
    """
    return url("static", filename=name, v=_digest(name))


@lru_cache
def _digest(name: str) -> str:
    folder = Path(__file__).parent.parent / "static"
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
