"""``ararat serve``: everything at one address."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .. import __version__
from .errors import NO_INPUT, UNAVAILABLE, Refused, store_errors, write
from .names import SERVED_ADVICE
from .output import Sheet, identifier
from .policy_option import policy_option

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings, Resolution

# The settings of the resolver, under the names they have there; what is not said stays as it is there.
_SETTINGS: dict[str, dict[str, Any]] = {
    "--also": {"multiple": True, "metavar": "URL", "help": "Another prefix that is this site too; repeatable."},
    "--naans": {
        "multiple": True,
        "metavar": "NAAN",
        "help": "Answer for this NAAN alone; repeatable.  [default: for all]",
    },
    "--schemes": {"multiple": True, "metavar": "SCHEME", "help": "Answer for ark or urn alone.  [default: for both]"},
    "--max-length": {"type": int, "metavar": "OCTETS", "help": "What is longer may be refused.  [default: 3500]"},
    "--ignore-trailing-slash/--no-ignore-trailing-slash": {
        "default": None,
        "help": "Take ark:12345/x/ for ark:12345/x.  [default: yes]",
    },
    "--ignored-parameters": {
        "multiple": True,
        "metavar": "NAME",
        "help": "A query parameter that asks for nothing; utm_* is a family of them; repeatable.",
    },
    "--forward-query": {"is_flag": True, "default": None, "help": "Hand an unknown query on to the target."},
    "--cache": {"type": int, "metavar": "SECONDS", "help": "How long a found answer may be kept.  [default: 300]"},
    "--services": {"metavar": "PATH", "help": "Answer the services of RFC 2169 below this path, usually /uri-res."},
    "--cors": {
        "multiple": True,
        "metavar": "ORIGIN|all|none",
        "help": "Pages of this origin may read the resolver's answers from a script; repeatable.  [default: all]",
    },
    "--referrer-policy": {
        "metavar": "POLICY",
        "help": "The field Referrer-Policy of the resolver's answers.  [default: no-referrer]",
    },
    "--hsts": {"metavar": "FIELD", "help": "The field Strict-Transport-Security of answers to secure requests."},
}


_LONGEST_EXAMPLE = 100


class _Store(NamedTuple):
    """Where bindings are: the URL or path, whether they are the demo's, and whether a file that is served as it is."""

    place: str
    is_demo: bool = False
    is_table: bool = False


def _options(command: Any) -> Any:
    for name, attributes in reversed(_SETTINGS.items()):
        variable = f"ARARAT_{name[2:].partition('/')[0].upper().replace('-', '_')}"
        command = click.option(name, envvar=variable, show_envvar=True, **attributes)(command)
    return command


@click.command("serve", short_help="Run the inspector and a resolver.")
@click.option(
    "--database",
    metavar="URL",
    envvar="ARARAT_DATABASE",
    show_envvar=True,
    help="Your bindings, in a database or a file.  [default: those of the demo]",
)
@click.option(
    "--create",
    is_flag=True,
    envvar="ARARAT_CREATE",
    show_envvar=True,
    help="Create the database if it is missing.  [default: no]",
)
@click.option(
    "--bindings",
    "table",
    metavar="FILE",
    envvar="ARARAT_BINDINGS",
    show_envvar=True,
    help="Serve a CSV, TSV or JSON Lines file as it stands, and again whenever it changes. "
    "So does --database where the name ends in .csv, .tsv or .jsonl.",
)
@click.option(
    "--state",
    metavar="FOLDER",
    envvar="ARARAT_STATE",
    show_envvar=True,
    help="Where to keep the copy of a file as it is served.  [default: the folder of the file]",
)
@click.option(
    "--prefix",
    metavar="URL",
    envvar="ARARAT_PREFIX",
    show_envvar=True,
    help="The resolver prefix to announce.  [default: the address]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    envvar="ARARAT_HOST",
    show_envvar=True,
    help="The address to listen at.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    envvar="ARARAT_PORT",
    show_envvar=True,
    help="0 for any.  [default: the first free from 8000]",
)
@click.option(
    "--trace-elsewhere/--no-trace-elsewhere",
    default=True,
    show_default="yes",
    envvar="ARARAT_TRACE_ELSEWHERE",
    show_envvar=True,
    help="Whether the page's traces ask other hosts, too.",
)
@click.option(
    "--trusted-host", "trusted_hosts", multiple=True, metavar="HOST", envvar="ARARAT_TRUSTED_HOST", show_envvar=True,
    help="Another host name at which the inspector answers; repeatable. Those of this machine and of the prefix are "
    "known. Only known host names are answered if this option or --allow-network is given, or if --host is a loopback "
    "address.",
)  # fmt: skip
@click.option(
    "--trusted-proxies", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
    envvar="ARARAT_TRUSTED_PROXIES", show_envvar=True,
    help="How many proxies are in front. So many values at the end of X-Forwarded-For and X-Forwarded-Proto are "
    "believed. Each proxy must set both fields.",
)  # fmt: skip
@click.option(
    "--inspector", metavar="URL|none", envvar="ARARAT_INSPECTOR", show_envvar=True,
    help="The address of the inspector, to which error pages of names link, or none.  [default: the prefix without "
    "--prefix, none with it]",
)  # fmt: skip
@click.option(
    "--allow-network", "networks", multiple=True, metavar="CIDR", envvar="ARARAT_ALLOW_NETWORK", show_envvar=True,
    help="A network that traces may enter though it is not public; repeatable.",
)  # fmt: skip
@click.option(
    "--deny-network", "denied_networks", multiple=True, metavar="CIDR", envvar="ARARAT_DENY_NETWORK", show_envvar=True,
    help="A network that traces never enter, such as the public addresses of this machine or a NAT64 prefix of its "
    "network; repeatable.",
)  # fmt: skip
@click.option(
    "--resolver", "resolvers", multiple=True, metavar="URL", envvar="ARARAT_RESOLVER", show_envvar=True,
    help="A resolver prefix that a reader may choose for a trace, too; repeatable.",
)  # fmt: skip
@policy_option(also=", to judge IRIs by; repeatable", multiple=True)
@click.option(
    "--access-log", metavar="FILE", envvar="ARARAT_ACCESS_LOG", show_envvar=True,
    help="Write a line of JSON for each identifier that was asked for, and nothing of who asked; - is standard output.",
)  # fmt: skip
@_options
def serve_command(
    database: str | None,
    create: bool,
    table: str | None,
    state: str | None,
    prefix: str | None,
    host: str,
    port: int | None,
    trace_elsewhere: bool,
    trusted_hosts: tuple[str, ...],
    trusted_proxies: int,
    inspector: str | None,
    networks: tuple[str, ...],
    denied_networks: tuple[str, ...],
    resolvers: tuple[str, ...],
    profiles: tuple[Profile, ...],
    access_log: str | None,
    **settings: Any,
) -> None:
    """Run the inspector and a resolver at one address, until Ctrl-C.

    Without --database or --bindings a small demo site and its names are served from a database that is gone afterwards;
    the samples are never put into a database of yours. A file of bindings is never written, nor copied: it is read
    again within about two seconds when it changes, and refused whole where it breaks a promise (see the README).
    """
    if database and table:
        raise click.UsageError("--database and --bindings are two places for the same thing; give one of them")
    from ..webapp.app import MissingAssets
    from . import server

    given = {name: value for name, value in settings.items() if value not in (None, ())}
    if "cors" in given:
        given["cors"] = {("all",): True, ("none",): False}.get(given["cors"], given["cors"])
    with (
        _listener(host, port) as listener,
        _store(database, table) as store,
        store_errors(),
        _opened(store, next(iter(profiles), None), create=create, state=state) as bindings,
        _access_log(access_log) as on_resolve,
    ):
        address = server.address_of(listener)
        if inspector is None and (prefix or address).rstrip("/") == address:
            inspector = "/"
        elif inspector == "none":
            inspector = None
        try:
            hosts: list[str] | None = None
            if trusted_hosts or networks or server.is_loopback(listener):
                announced = [each for each in (prefix, inspector, *given.get("also", ())) if each]
                hosts = [*server.hosts_of(listener, *announced), *trusted_hosts]
            app = server.compose(
                bindings,
                prefix=prefix or address,
                address=address,
                inspector=inspector,
                trusted_proxies=trusted_proxies,
                demo=store.is_demo,
                trace_elsewhere=trace_elsewhere,
                networks=networks,
                denied_networks=denied_networks,
                trusted_hosts=hosts,
                policies=profiles,
                on_resolve=on_resolve,
                resolvers=resolvers,
                **given,
            )
        except (ValueError, NotImplementedError) as error:
            raise click.UsageError(str(error)) from None
        except MissingAssets as error:
            raise Refused(str(error), exit_code=UNAVAILABLE) from None

        def ready() -> None:
            _announce(address, prefix, inspector, host, store, bindings, trace_elsewhere)
            if not store.is_demo:
                # Counting takes seconds in a database of millions, and must not delay the first answer.
                Thread(target=_warn_of_served, args=(bindings,), name="ararat-served", daemon=True).start()

        server.run(app, listener, ready)


def _listener(host: str, port: int | None) -> socket.socket:
    from . import server

    try:
        return server.listen(host, port)
    except OSError as error:
        asked = server.FIRST_PORT if port is None else port
        what = f"nothing can listen at {host}, port {asked}: {error.strerror or error}"
        advice = "another --port (0 for any that is free), or another --host"
        if error.errno == errno.EADDRINUSE:
            last = server.FIRST_PORT + server.TRIED - 1
            which = f"port {port}" if port is not None else f"every port from {asked} to {last}"
            what = f"{which} of {host} is taken: another process listens there ({os.strerror(errno.EADDRINUSE)})"
            advice = "--port 0 for any that is free, --port N for another one, or stop that process"
        raise Refused(what, ("Next", advice), exit_code=UNAVAILABLE) from None


@contextmanager
def _access_log(place: str | None) -> Iterator[Callable[[Resolution], None] | None]:
    """What writes the access log: to a file, which may be moved away and is then begun anew, or to standard output."""
    from ..middleware import log_resolutions

    if place is None:
        yield None
        return
    try:
        handler = logging.StreamHandler(sys.stdout) if place == "-" else WatchedFileHandler(place, encoding="ascii")
    except OSError as error:
        raise Refused(f"{place} cannot be written: {error.strerror or error}", exit_code=NO_INPUT) from None
    logger = logging.getLogger("ararat.resolutions")
    logger.setLevel(logging.INFO)
    # What is set up for other lines must neither repeat these nor change their form.
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield log_resolutions(logger)
    finally:
        logger.removeHandler(handler)
        handler.close()


@contextmanager
def _store(database: str | None, table: str | None) -> Iterator[_Store]:
    if database or table:
        yield _Store(database or table or "", is_table=not database)
        return
    folder = Path(tempfile.mkdtemp(prefix="ararat-"))
    try:
        yield _Store(f"sqlite:///{folder / 'bindings.sqlite'}", is_demo=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(store: _Store, profile: Profile | None, *, create: bool, state: str | None) -> Bindings:
    from ..middleware import open_bindings
    from ..middleware.bindings.collection import open_file
    from .demo import load

    if store.is_table:
        # A file that is in no other format is CSV.
        return open_file(Path(store.place), policy=profile, state=state)
    bindings = open_bindings(store.place, create=create or store.is_demo, policy=profile, state=state)
    if store.is_demo:
        load(bindings)
    return bindings


def _names(bindings: Bindings) -> str:
    from ..middleware import BindingsUnavailable

    try:
        return str(bindings.count())
    except BindingsUnavailable as error:
        return f"unknown; until the bindings can be read, names are answered with 503: {error}"


def _announce(
    address: str,
    prefix: str | None,
    inspector: str | None,
    host: str,
    store: _Store,
    bindings: Bindings,
    trace_elsewhere: bool,
) -> None:
    sheet = Sheet.of(sys.stdout)
    write([f"{sheet.paint(f'Ararat {__version__} at')} {sheet.paint(address, 'strong')}"])
    if store.is_demo:
        write(sheet.field("Demo site", f"{address}/demo/"))
    if prefix:
        write(sheet.field("Announced as", identifier(prefix)))
        linked = identifier(inspector) if inspector else "no link from error pages; set one with --inspector"
        write(sheet.field("Inspector", linked))
    elif host in ("0.0.0.0", "::"):  # noqa: S104 - a comparison
        write(sheet.field("Announced as", f"{address}, which other machines cannot reach; set --prefix"))
    fate = ", gone when this ends; keep yours with --database" if store.is_demo else ""
    if bindings.is_file:
        fate = ", read again whenever it changes, never written"
    write(sheet.field("Bindings", f"{bindings.where}{fate}"))
    write(sheet.field("Names", _names(bindings)))
    write(
        sheet.field(
            "Traces", "to other hosts, too; not with --no-trace-elsewhere" if trace_elsewhere else "to this site alone"
        )
    )
    write(sheet.field("Stop", "Ctrl-C"))
    sys.stdout.flush()


def _warn_of_served(bindings: Bindings) -> None:
    """Print a warning where the bindings have names that only a site behind ResolverMiddleware can serve."""
    from ..middleware import BindingsUnavailable

    try:
        with bindings.store.snapshot() as snapshot:
            number, example = snapshot.served()
    except BindingsUnavailable:
        # The resolver logs it with the first request.
        return
    if example is not None:
        shown = example[:_LONGEST_EXAMPLE]
        named = f"the served name {shown}" if number == 1 else f"{number:,} served names, such as {shown},"
        what = f"ararat: warning: {named} cannot be answered here: {SERVED_ADVICE}"
        write(Sheet.of(sys.stderr).prose(what, style="doubtful"), to=sys.stderr)
        sys.stderr.flush()
