"""Create the inspector, a Flask application."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from flask import Flask, Response, current_app

from .. import __version__
from ..bindings.names.errors import BindingError
from ..bindings.system.body_space import body_space
from ..bindings.system.concurrency import ConcurrencyLimit
from ..bindings.system.thread_slots import slots
from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text import display
from ..middleware.resolution.declared_settings import parameters, require_known
from ..tracing.limits.cache import ResponseCache
from ..tracing.limits.rate_limit import HostRateLimiter
from . import errors, security
from . import settings as declared
from .accounts import first_account
from .admission import Admission
from .application import Application
from .body_routes import BodyLimits
from .config import FACTS, KEY, Site, url
from .navigation import header, navigation
from .report import excerpt
from .trace_results import Results
from .views import api, compare, docs, inspect, reference, trace, trace_fragments
from .views import language as languages
from .views import policy as policy_pages
from .views import traces as trace_lists

if TYPE_CHECKING:
    from ..middleware import Bindings
    from ..middleware.statistics.counts import CountStore
    from .accounts.store import Accounts
    from .settings import InspectorArguments

VENDORED = ("vendor/htmx-2.min.js", "vendor/hx-sse-2.min.js")
"""Files below static/ that the build copies there (setup.py)."""


class MissingAssets(RuntimeError):
    """Raised if the static files of htmx are missing. The message contains the command that installs them."""


def create_app(bindings: Bindings | None = None, **settings: Unpack[InspectorArguments]) -> Application:
    """Create an inspector, a WSGI application that can be mounted under any path.

    :param bindings: the store that pages look names up in. None: pages show no bindings.
    {settings}

    Accounts are those in the database of ``bindings``. Until an account exists, ``/desk`` and ``/sign-in`` show the
    command that adds one, and their other pages answer 404.

    A client is the address in REMOTE_ADDR; an IPv6 client is its /56 network. Behind a proxy, all clients have the
    address of the proxy and share one limit. Only there, wrap the application in ``ForwardedFields(app, 1)`` of
    :mod:`ararat.middleware.http.trusted_proxy`, with the number of proxies. With a
    :class:`~ararat.middleware.http.trusted_proxy.ProxySecret`, only requests of the proxy count.

    Raises :class:`MissingAssets` if the files of htmx are missing. Raises ValueError for a wrong setting, and for
    ``openid`` without a URL of this inspector.

    >>> create_app().test_client().get("/?q=ark:12345/x").status
    '200 OK'
    """
    require_known(settings, declared.InspectorSettings)
    chosen = declared.InspectorSettings(**settings)
    if chosen.threads is not None:
        slots.use(chosen.threads)
    if chosen.body_space is not None:
        body_space.use(chosen.body_space * 2**20)
    if chosen.openid is not None:
        chosen.openid.denied_networks = chosen.destinations.denied
    site = Site(
        bindings=bindings,
        settings=chosen,
        accounts=_accounts(bindings),
        large_slots=ConcurrencyLimit(4, 1),
        rate_limiter=HostRateLimiter(chosen.host_rate, chosen.host_rate_each),
        cache=ResponseCache(),
        results=Results(),
        statistics=None if chosen.statistics is None else _counts(chosen.statistics),
    )
    app = Application(_shared_application(site.accounts is not None, chosen.openid is not None))
    _require_assets(app)
    app.extensions[KEY] = site
    app.wsgi_app = admission = Admission(app, BodyLimits(chosen.user_source, chosen.ezid))
    app.jinja_env.globals.update(
        has_policy=bool(chosen.profiles), resource_label=chosen.resource_label, origin=site.origin
    )
    if chosen.trusted_hosts:
        security.require_hosts(app, chosen.trusted_hosts)
    if chosen.first_secret is not None:
        first_account.offer(app, chosen.first_secret)
    if site.accounts is not None:
        _open_desk(app, site, admission)
    if chosen.ezid is not None:
        _answer_ezid(app, site, chosen.ezid, admission)
    return app


# The texts of the settings are written once, where the settings are declared. Python can omit docstrings (-OO).
create_app.__doc__ = create_app.__doc__ and create_app.__doc__.replace(
    "{settings}", parameters(declared.InspectorSettings)
)


@cache
def _shared_application(with_accounts: bool, with_openid: bool) -> Application:
    """Return the application that all sites of this process share: all sites with accounts, or all others."""
    app = Application()
    app.add_url_rule("/static/<path:filename>", "static", _static_file)
    environment = app.jinja_env
    environment.globals.update(
        address=inspect.address,
        answered=trace_fragments.cache_age,
        ascii=display.percent,
        asset=asset,
        duration=trace_fragments.duration,
        span=trace_fragments.span,
        header=header,
        is_demonstration=first_account.is_demonstration,
        keeping_command=first_account.keeping_command,
        split_address=trace_fragments.split_address,
        navigation=navigation,
        official=OFFICIAL_PREFIX,
        plain=excerpt.plain,
        today=lambda: f"{datetime.now(UTC):%Y-%m-%d}",
        url_for=url,
        version=__version__,
    )
    environment.filters.update(escape_hidden=excerpt.escape_hidden, shown=excerpt.render_pieces)
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


def _accounts(bindings: Bindings | None) -> Accounts | None:
    from ..middleware import Bindings

    if not isinstance(bindings, Bindings) or bindings.kind != "database":
        return None
    # SQLAlchemy takes long to load, and only a database needs it.
    from .accounts.store import Accounts

    return Accounts(bindings)


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


def _open_desk(app: Application, site: Site, admission: Admission) -> None:
    """Give the application of a site with accounts what its desk and its API keep."""
    from ..bindings.digest import Recent
    from . import api as management_api

    assert site.accounts is not None, "only such a site has a desk"  # noqa: S101
    app.extensions[FACTS] = Recent(site.accounts.bindings)
    management_api.init_app(app, site)
    admission.refusals[security.MANAGED] = management_api.refusal


def resume_jobs(app: Flask) -> None:
    """Carry out the jobs of an application, such as imports, that an earlier process did not finish.
    `ararat serve` calls it at its start. Under another server the first request to the desk or the API does the same.
    """
    if app.extensions[KEY].accounts is not None:
        from .jobs.imports import resume

        resume(app)


def _answer_ezid(app: Application, site: Site, path: str, admission: Admission) -> None:
    """Answer the EZID API below a path. Raises ValueError."""
    prefix = site.settings.prefix
    if site.bindings is None or site.accounts is None or prefix is None:
        raise ValueError("the EZID API needs a prefix, and bindings in a database")
    from .ezid import dispatch

    passthrough = site.settings.ezid_passthrough
    dispatch.init_app(app, path, prefix=prefix, accounts=site.accounts, passthrough=passthrough)
    admission.refusals[app.extensions[dispatch.KEY].path] = dispatch.refusal


def _require_assets(app: Flask) -> None:
    folder = Path(str(app.static_folder))
    missing = [name for name in VENDORED if not (folder / name).is_file()]
    if missing:
        raise MissingAssets(
            f"{folder / 'vendor'} does not contain {' and '.join(Path(name).name for name in missing)}, "
            "because the package was not built. Run `make run` or `python -m pip install -e .` in the checkout."
        )


def asset(name: str) -> str:
    """Return the URL of a file in the folder ``static/``.
    It contains a hash of the content (``v``), so that browsers can cache the file for long.
    """
    return url("static", filename=name, v=_digest(name))


@lru_cache
def _digest(name: str) -> str:
    folder = Path(__file__).parent.parent / "static"
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
