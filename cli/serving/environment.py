"""The ready applications ``ararat.wsgi`` and ``ararat.asgi``, which read the variables of ``ararat serve``.
The same environment gives the same answers. The server decides the address and the processes: ``ARARAT_HOST`` and
``ARARAT_PORT`` are not read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from ..errors import CommandError
from .application import Placement, resolver_settings, wsgi_application_of
from .logs import FOR_SERVERS, log_plainly
from .mount import MountedASGI, Mounts
from .sign_in import warn_of_underscores

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ...middleware import Bindings, Resolution, ResolverASGIMiddleware

_log = logging.getLogger(__name__)

# The access log is open until the process ends.
_open = ExitStack()


class InvalidEnvironment(Exception):
    """Raised when a variable is missing or wrong. The text names the variable and the fix."""


def wsgi_application() -> WSGIApplication:
    """Return the application of ``ararat serve`` as the environment configures it: the resolver and the inspector.
    Raises :class:`InvalidEnvironment`. If the database cannot be opened, the reason is written to the server log, and
    requests for names are answered with 503.
    """
    options = _options()
    warn_of_underscores(options)
    from . import listening

    prefix = options["prefix"]
    inspector = None if options["inspector"] == "none" else options["inspector"]
    announced = [each for each in (prefix, inspector, *options["also"]) if each]
    try:
        hosts = [*listening.host_names("127.0.0.1", *announced), *options["trusted_hosts"]]
        bindings, on_resolve = _open_bindings(options)
        placement = Placement(
            prefix=prefix,
            address=prefix,
            inspector=inspector,
            trusted_hosts=hosts,
            trusted_proxies=options["trusted_proxies"],
            only=options["only"],
            resume=False,
            on_resolve=on_resolve,
        )
        return wsgi_application_of(options, bindings, placement)
    except CommandError as error:
        raise InvalidEnvironment("\n".join([error.what, *map(": ".join, error.details)])) from error
    except (ValueError, NotImplementedError, click.UsageError) as error:
        raise InvalidEnvironment(str(error)) from error


def asgi_application() -> ResolverASGIMiddleware | MountedASGI:
    """Return the resolver of ``ararat serve`` as an ASGI application, with ``/healthz``. Other paths answer 404.
    The inspector is a WSGI application, so it is not included. Raises :class:`InvalidEnvironment`.
    """
    from ...middleware import ResolverASGIMiddleware
    from .names_only import NamesOnlySite

    options = _options()
    if options["only"] == "desk":
        raise InvalidEnvironment("ARARAT_ONLY is desk, which ararat.asgi does not have; use ararat.wsgi for the desk")
    inspector = None if options["inspector"] == "none" else options["inspector"]
    try:
        bindings, on_resolve = _open_bindings(options)
        settings = resolver_settings(options) | {"prefix": options["prefix"], "inspector": inspector}
        resolver = ResolverASGIMiddleware(NamesOnlySite(bindings), bindings, on_resolve=on_resolve, **settings)
        mounts = Mounts([options["prefix"], *options["also"]])
        return MountedASGI(resolver, mounts) if mounts else resolver
    except (ValueError, NotImplementedError, CommandError) as error:
        raise InvalidEnvironment(str(error)) from error


def _options() -> dict[str, Any]:
    """Return the values of the options of ``ararat serve`` from the environment."""
    from .serve import serve_command

    log_plainly(FOR_SERVERS)
    try:
        options = serve_command.make_context("ararat", []).params
    except click.ClickException as error:
        raise InvalidEnvironment(error.format_message()) from None
    if not (options["database"] or options["table"]):
        raise InvalidEnvironment("ARARAT_DATABASE is missing; set it to the path or URL of the database of the names")
    if options["database"] and options["table"]:
        raise InvalidEnvironment("ARARAT_DATABASE and ARARAT_BINDINGS exclude each other; unset one of them")
    if not options["prefix"]:
        raise InvalidEnvironment("ARARAT_PREFIX is missing; set it to the public URL of the resolver")
    if options["rounds"] is not None:
        raise InvalidEnvironment("ARARAT_ROUNDS is only for `ararat serve`; unset it and run `ararat rounds` regularly")
    return options


def _open_bindings(options: dict[str, Any]) -> tuple[Bindings, Callable[[Resolution], None] | None]:
    from .serve import StoreOption, find_exposed_files, open_access_log, open_store

    store = StoreOption(options["database"] or options["table"], is_table=not options["database"])
    policy = next(iter(options["profiles"]), None)
    creates = options["create"] and options["only"] != "names"
    given = {name: options[name] for name in ("state", "test_naans", "read_seconds", "search_seconds", "search_names")}
    bindings = open_store(store, policy, create=creates, **given)
    for each in find_exposed_files(store, bindings, options) if options["only"] != "names" else ():
        _log.warning("%s; run: %s", each.message, each.fix)
    return bindings, _open.enter_context(open_access_log(options["access_log"]))
