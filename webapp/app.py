"""The inspector as a Flask application, composed from what it is given."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import Flask
from htmx_flask import Htmx
from jinja2 import StrictUndefined

from .. import __version__
from ..identifiers import iri_policy
from ..identifiers.report import OFFICIAL_PREFIX
from ..identifiers.text import display
from ..middleware.bindings import origins
from . import errors, security
from .config import EXAMPLES, FORM_OVERHEAD, FORM_PARTS, KEY, MOST_OCTETS, Example, Resolver, Site, url
from .report import excerpt
from .trace_results import Results
from .tracing import uri as web_reference
from .tracing.client.addresses import parse_networks
from .tracing.limits.cache import ResponseCache
from .tracing.limits.concurrency import ConcurrencyLimit
from .tracing.limits.rate_limit import HostRateLimiter
from .views import api, compare, docs, inspect, reference, trace
from .views import policy as policy_pages
from .views import traces as rounds

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings

VENDORED = ("vendor/htmx-2.min.js", "vendor/hx-sse-2.min.js")
"""Files below static/ that a build puts there (setup.py)."""


class MissingAssets(RuntimeError):
    """htmx is not where a build puts it. The text says what to run."""


def create_app(
    bindings: Bindings | None = None,
    *,
    prefix: str | None = None,
    inspector: str | None = None,
    local: Mapping[str, WSGIApplication] = MappingProxyType({}),
    trace_elsewhere: bool = True,
    networks: Sequence[str] = (),
    denied_networks: Sequence[str] = (),
    traces: int = 50,
    traces_each: int = 3,
    host_rate: int = 30,
    host_rate_each: int = 20,
    trusted_hosts: Sequence[str] | None = None,
    examples: Sequence[Example] = EXAMPLES,
    policies: Sequence[str | Profile] = (),
    resolvers: Sequence[str | Resolver] = (),
) -> Flask:
    """Make an inspector, a WSGI application that can be mounted under any path.

    Parameters: ``bindings``, whose names are marked as bound here (None: nothing is said of bindings); ``prefix``, the
    resolver prefix of this site; ``inspector``, the address of this inspector, with which printed permalinks begin
    (None: that of ``prefix``); ``local``, WSGI applications by the prefix of the hops that they answer in process,
    looked at when a trace starts; ``trace_elsewhere``, whether a trace of the page goes to other hosts, with
    ``networks`` (CIDR notation) that it may enter though their addresses are not public, and ``denied_networks`` that
    it never enters; ``traces`` at once in this process, ``traces_each`` of one client; ``host_rate``, how often this
    process asks another host within a minute, ``host_rate_each`` for one client; ``trusted_hosts``, the only host names
    that the field Host may have (None: any); ``examples`` of the empty page; ``policies``, profiles of IRI policies, or
    names of those that ship (:mod:`.iri_policy`), by which IRIs are judged too; ``resolvers``, which a
    reader may choose for a trace beside this site, the official one and the one that is expected to know the
    identifier, each a resolver prefix or, with a title, a :class:`~ararat.webapp.config.Resolver`.

    A client is the address in REMOTE_ADDR, an IPv6 client its /56. Behind a proxy all clients have the address of the
    proxy and share one limit: wrap the application in ``ProxyFix(app, x_for=1, x_proto=1)`` of
    :mod:`werkzeug.middleware.proxy_fix` there, with the number of proxies for 1. Do so only behind a proxy.

    Raises :class:`MissingAssets` where htmx was not built in, ValueError for a prefix, policy or resolver that is none.

    >>> create_app().test_client().get("/?q=ark:12345/x").status
    '200 OK'
    """
    # The name of the whole package: Flask finds templates/ and static/ beside it.
    app = Flask(__name__.partition(".")[0])
    app.config.update(
        # A form field is not spooled to a file, so the two are one limit; the rest is the form around the paste.
        MAX_CONTENT_LENGTH=MOST_OCTETS + FORM_OVERHEAD,
        MAX_FORM_MEMORY_SIZE=MOST_OCTETS + FORM_OVERHEAD,
        MAX_FORM_PARTS=FORM_PARTS,
        # The address of an asset changes with its content.
        SEND_FILE_MAX_AGE_DEFAULT=31_536_000,
    )
    _require_assets(app)
    app.extensions[KEY] = Site(
        bindings=bindings,
        prefix=prefix if prefix is None else origins.check_prefix(prefix),
        inspector=inspector,
        local=local,
        trace_elsewhere=trace_elsewhere,
        networks=parse_networks(networks),
        denied=parse_networks(denied_networks),
        places=ConcurrencyLimit(traces, traces_each),
        large=ConcurrencyLimit(4, 1),
        pace=HostRateLimiter(host_rate, host_rate_each),
        answers=ResponseCache(),
        results=Results(),
        examples=tuple(examples),
        policies=tuple(iri_policy.known(each) if isinstance(each, str) else each for each in policies),
        resolvers=tuple(map(_resolver, resolvers)),
    )
    # The router answers 308 of its own accord where slashes are doubled or missing; here nothing is ever moved for
    # good.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    app.jinja_env.globals.update(
        address=inspect.address,
        answered=trace.answered,
        ascii=display.percent,
        asset=asset,
        duration=trace.duration,
        figure="{:,}".format,
        official=OFFICIAL_PREFIX,
        origin=_origin(app.extensions[KEY].prefix if inspector is None else inspector),
        plain=excerpt.plain,
        plan=trace.plan,
        today=lambda: f"{datetime.now(UTC):%Y-%m-%d}",
        url_for=url,
        version=__version__,
    )
    app.jinja_env.filters["unseen"] = excerpt.unseen
    Htmx(app)
    security.init_app(app)
    if trusted_hosts:
        security.require_hosts(app, trusted_hosts)
    errors.init_app(app)
    for room in (inspect, compare, trace, rounds, api, reference, policy_pages, docs):
        app.register_blueprint(room.blueprint)
    return app


def _origin(address: str | None) -> str:
    """Scheme and authority of an announced address, never those that a request names; "" where none is announced."""
    return "://".join(urlsplit(address)[:2]) if address else ""


def _resolver(given: str | Resolver) -> Resolver:
    if isinstance(given, str):
        return Resolver(web_reference.parse(origins.check_prefix(given)).host, origins.check_prefix(given))
    return Resolver(given.title, origins.check_prefix(given.prefix))


def _require_assets(app: Flask) -> None:
    folder = Path(str(app.static_folder))
    missing = [name for name in VENDORED if not (folder / name).is_file()]
    if missing:
        raise MissingAssets(
            f"htmx is not in {folder / 'vendor'}: it is put there when the package is built. "
            "Run `make run`, or `python -m pip install -e .` in the checkout."
        )


def asset(name: str) -> str:
    """The address of a static file, which changes with its content."""
    return url("static", filename=name, v=_digest(name))


@lru_cache
def _digest(name: str) -> str:
    folder = Path(__file__).parent.parent / "static"
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
