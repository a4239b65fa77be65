"""The command ``serve``: run the inspector, a resolver and the demo site.
Each of its options has an environment variable, named ARARAT_ and the option.
"""

from __future__ import annotations

import errno
import logging
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...bindings.system.body_space import body_space
from .. import exposed_files
from ..bindings.stores import SERVED_ADVICE
from ..errors import UNAVAILABLE, CommandError, cannot_write, store_errors, write
from ..options import policy_option, with_options
from ..output import Sheet
from ..streams import refuse_database
from .application import Placement, wsgi_application_of
from .logs import LogFile, LogStream
from .mount import Mounts
from .server_options import resolver_options, server_options
from .sign_in import SignIn

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings, Resolution
    from ...net.allowed_addresses import Destinations

_MAX_EXAMPLE = 100


class StoreOption(NamedTuple):
    """The URL or path of the bindings in the options of ``ararat serve``. ``is_table`` means the option --bindings."""

    place: str
    is_demo: bool = False
    is_table: bool = False


@click.command("serve", short_help="Run the inspector and a resolver, by default with a demo site.")
@server_options
@policy_option("Also check IRIs against this IRI policy.", multiple=True)
@resolver_options
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
    inspector: str | None,
    networks: tuple[str, ...],
    rounds: float | None,
    profiles: tuple[Profile, ...],
    ezid: str | None,
    access_log: str | None,
    also: tuple[str, ...],
    **_others: Any,
) -> None:
    """Run the inspector and a resolver at one address, until Ctrl-C.

    Without --database or --bindings, a demo site runs with a temporary database. The demo never changes your database.
    To keep names, run: ararat serve --database museum.sqlite --create

    The server never writes a file of bindings. It reads a change of the file within about two seconds. It refuses a new
    version that reassigns or drops a name as a whole, and keeps the previous version.
    """
    if database and table:
        raise click.UsageError("--database and --bindings exclude each other")
    from ...net.allowed_addresses import Destinations, parse_networks
    from ...webapp.accounts import first_account
    from ...webapp.app import MissingAssets
    from ...webapp.body_routes import BodyLimits
    from . import banner, listening, server

    options = click.get_current_context().params
    if options["remote_user"] == "REMOTE_USER":
        raise click.UsageError("--remote-user needs the name of a header field, because this server sets no users")
    is_names = options["only"] == "names"
    if is_names and rounds is not None:
        raise click.UsageError("--rounds writes the state of links, and --only names writes nothing; omit one of them")
    with (
        _listener(host, port) as listener,
        _store(database, table) as store,
        store_errors(),
        open_store(
            store,
            next(iter(profiles), None),
            create=create and not is_names,
            state=state,
            test_naans=options["test_naans"],
            read_seconds=options["read_seconds"],
            search_seconds=options["search_seconds"],
            search_names=options["search_names"],
        ) as bindings,
        open_access_log(access_log) as on_resolve,
    ):
        address = listening.address_of(listener)
        if inspector is None and (prefix or address).rstrip("/") == address:
            inspector = "/"
        elif inspector == "none":
            inspector = None
        first_secret = first_account.new_secret() if not is_names and banner.has_no_account(bindings) else None
        try:
            hosts: list[str] | None = None
            if trusted_hosts or networks or listening.is_loopback(listener):
                announced = [each for each in (prefix, inspector, *also) if each]
                hosts = [*listening.hosts_of(listener, *announced), *trusted_hosts]
            placement = Placement(
                prefix=prefix or address,
                address=address,
                inspector=inspector,
                trusted_hosts=hosts,
                trusted_proxies=options["trusted_proxies"],
                only=options["only"],
                demo=store.is_demo,
                first_secret=first_secret,
                on_resolve=on_resolve,
            )
            app = wsgi_application_of(options, bindings, placement)
        except (ValueError, NotImplementedError) as error:
            raise click.UsageError(with_options(str(error), serve_command)) from None
        except MissingAssets as error:
            raise CommandError(str(error), exit_code=UNAVAILABLE) from None

        def ready() -> None:
            shown = banner.lines(
                Sheet.of(sys.stdout),
                bindings,
                options,
                address=address,
                inspector=inspector,
                first_secret=first_secret,
            )
            write(shown)
            sys.stdout.flush()
            if not store.is_demo and not is_names:
                exposed_files.warn(find_exposed_files(store, bindings, options))
                sys.stderr.flush()
                # In a database of millions the count takes seconds. It must not delay the first answer.
                Thread(target=_warn_of_served, args=(bindings,), name="ararat-served", daemon=True).start()

        destinations = Destinations(
            parse_networks(networks), parse_networks(options["denied_networks"]), trace_elsewhere
        )
        with _rounds(rounds, bindings, prefix or address, destinations):
            threads = options["threads"] or server.THREADS
            sign_in, proxies = SignIn.of(options), options["trusted_proxies"]
            if options["body_space"] is not None:
                body_space.use(options["body_space"] * 2**20)
            server.run(
                app,
                listener,
                ready,
                trusted_proxies=proxies,
                secret=sign_in.proxy_secret(proxies),
                mounts=Mounts(each for each in (prefix, inspector, *also) if each),
                limits=BodyLimits() if is_names else BodyLimits(sign_in.user_source(proxies), ezid),
                threads=threads,
            )


@contextmanager
def _rounds(days: float | None, bindings: Bindings, prefix: str, destinations: Destinations) -> Iterator[None]:
    """Trace the targets in a thread while the server runs."""
    if days is None:
        yield
        return
    if bindings.kind != "database":
        raise click.UsageError("--rounds needs a database, because a file has no place for the results")
    from ...tracing.links.rounds import Round, run_continuously

    stop = Event()

    def new_round() -> Round:
        return Round(bindings, older_than=timedelta(days=days), prefix=prefix, destinations=destinations, stop=stop)

    Thread(target=run_continuously, args=(new_round, stop), name="ararat-rounds", daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _listener(host: str, port: int | None) -> socket.socket:
    from . import listening

    try:
        return listening.listen(host, port)
    except UnicodeError:
        # Python raises it for a text that cannot be encoded as the name of a host.
        raise CommandError(
            f"{host} is not the name of a host", ("Fix", "set another --host"), exit_code=UNAVAILABLE
        ) from None
    except OSError as error:
        first_port = listening.FIRST_PORT if port is None else port
        what = f"cannot listen on {host}, port {first_port}: {error.strerror or error}"
        advice = "set another --port (0 for any free port) or another --host"
        if error.errno == errno.EADDRINUSE:
            last = listening.FIRST_PORT + listening.TRIED - 1
            which = f"port {port}" if port is not None else f"each port from {first_port} to {last}"
            what = f"{which} of {host} is used by another process ({os.strerror(errno.EADDRINUSE)})"
            advice = "set --port 0 for any free port, set another --port, or stop that process"
        raise CommandError(what, ("Fix", advice), exit_code=UNAVAILABLE) from None


@contextmanager
def open_access_log(place: str | None) -> Iterator[Callable[[Resolution], None] | None]:
    """Open the access log, and yield the function that logs a resolution; None without a ``place``. "-" is standard
    output. A file can be rotated: the log then continues in a new file.
    """
    from ...middleware import log_resolutions

    if place is None:
        yield None
        return
    refuse_database(place)
    try:
        handler = LogStream(sys.stdout, "the access log on standard output") if place == "-" else LogFile(place)
    except OSError as error:
        raise cannot_write(place, error) from None
    logger = logging.getLogger("ararat.resolutions")
    logger.setLevel(logging.INFO)
    # Handlers of the root logger must not repeat these lines.
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield log_resolutions(logger)
    finally:
        logger.removeHandler(handler)
        handler.close()


@contextmanager
def _store(database: str | None, table: str | None) -> Iterator[StoreOption]:
    if database or table:
        yield StoreOption(database or table or "", is_table=not database)
        return
    folder = Path(tempfile.mkdtemp(prefix="ararat-"))
    file = folder / "bindings.sqlite"
    try:
        yield StoreOption(f"sqlite:///{file}", is_demo=True)
    finally:
        if _has_only_samples(file):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            _print_kept(file)


def _has_only_samples(file: Path) -> bool:
    """Return whether a temporary database can be deleted: it has no account, and no name but those of the demo."""
    from ...middleware import BindingError, BindingsUnavailable, open_bindings
    from .demo import is_unchanged

    try:
        if not file.exists():
            return True
        with open_bindings(file) as bindings:
            return is_unchanged(bindings)
    except (BindingError, BindingsUnavailable, OSError):
        # It is not known what would be lost.
        return False


def _print_kept(file: Path) -> None:
    """Print where the temporary database is. The last line names the file and the command that starts with it."""
    from ...webapp.accounts.first_account import program

    why = (
        "The temporary database has accounts or names, so it is not deleted. Move it to another folder, because the "
        "system empties the folder of temporary files."
    )
    command = f"{program()} serve --database {shlex.quote(str(file))}"
    with suppress(OSError, ValueError):
        write([*Sheet.of(sys.stdout).prose(why), f"Kept: {file}. To start with it, run: {command}"])
        sys.stdout.flush()


def open_store(
    store: StoreOption,
    profile: Profile | None,
    *,
    create: bool,
    state: str | None,
    test_naans: Sequence[str] = (),
    read_seconds: float | None = None,
    search_seconds: float | None = None,
    search_names: int | None = None,
) -> Bindings:
    """Return the bindings of a store that a command names. ``create`` creates a missing database; else it is opened
    when it exists. ``state`` is the file with the served copy of a table. ``profile`` is the IRI policy of changes.
    ``test_naans`` are permitted NAANs for tests. ``read_seconds`` limits a statement of a reader; None permits any
    time. ``search_seconds`` and ``search_names`` limit a list or search.
    """
    from ...bindings.open import open_file
    from ...middleware import open_bindings
    from .demo import load

    if store.is_table:
        # The default format is CSV.
        return open_file(Path(store.place), policy=profile, state=state, test_naans=test_naans)
    bindings = open_bindings(
        store.place,
        create=create or store.is_demo,
        # The names of the demo have the NAANs for examples, which no policy has.
        policy=None if store.is_demo else profile,
        state=state,
        test_naans=test_naans,
        read_seconds=read_seconds,
        search_seconds=search_seconds,
        search_names=search_names,
        missing_ok=True,
    )
    if store.is_demo:
        load(bindings)
    return bindings


def find_exposed_files(
    store: StoreOption, bindings: Bindings, options: Mapping[str, Any]
) -> list[exposed_files.ExposedFile]:
    """Return the files of a database with accounts, and those with secrets, that other users can read."""
    database = [] if store.is_table else exposed_files.exposed_database(store.place, bindings)
    return [*database, *exposed_files.exposed_secrets(options)]


def _warn_of_served(bindings: Bindings) -> None:
    """Print a warning if the bindings contain served names, which this server cannot answer."""
    from ...middleware import BindingsUnavailable

    try:
        with bindings.store.snapshot() as snapshot:
            number, example = snapshot.count_served()
    except BindingsUnavailable:
        # The resolver logs this error with the first request.
        return
    if example is not None:
        shown = example[:_MAX_EXAMPLE]
        subject = f"the served name {shown}" if number == 1 else f"{number:,} served names, such as {shown},"
        what = f"ararat: warning: {subject} cannot be answered here: {SERVED_ADVICE}"
        write(Sheet.of(sys.stderr).prose(what, style="warning"), to=sys.stderr)
        sys.stderr.flush()
