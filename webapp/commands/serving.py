"""``ararat serve``: everything at one address."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ... import __version__
from ..terminal.layout import Sheet, identifier
from . import UNAVAILABLE, Refused, store_errors, write
from .importing import refused_lines, run_import
from .policies import policy_option

if TYPE_CHECKING:
    from ...identifiers.policy import Profile
    from ...middleware import Bindings

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
    "--hsts": {"metavar": "FIELD", "help": "The field Strict-Transport-Security of answers to secure requests."},
}


class _Store(NamedTuple):
    """Where bindings are: the URL; whether they go when the server does; the table they are copied from, if any."""

    url: str
    passing: bool
    table: str | None

    @property
    def is_demo(self) -> bool:
        """Whether nothing of the user's is in it, so that the samples may be."""
        return self.passing and self.table is None


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
    help="Your bindings.  [default: those of the demo]",
)
@click.option(
    "--bindings",
    "table",
    metavar="FILE",
    envvar="ARARAT_BINDINGS",
    show_envvar=True,
    help="A CSV table of bindings, read at start.",
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
    "--trace-elsewhere",
    is_flag=True,
    envvar="ARARAT_TRACE_ELSEWHERE",
    show_envvar=True,
    help="Let the page's traces ask other hosts.",
)
@click.option(
    "--allow-network", "networks", multiple=True, metavar="CIDR", envvar="ARARAT_ALLOW_NETWORK", show_envvar=True,
    help="A network that traces may enter though it is not public; repeatable.",
)  # fmt: skip
@policy_option(also=", to judge IRIs by; repeatable", multiple=True)
@_options
def serve_command(
    database: str | None,
    table: str | None,
    prefix: str | None,
    host: str,
    port: int | None,
    trace_elsewhere: bool,
    networks: tuple[str, ...],
    profiles: tuple[Profile, ...],
    **settings: Any,
) -> None:
    """Run the inspector and a resolver at one address, until Ctrl-C.

    Without --database or --bindings a small demo site and its names are served from a database that is gone afterwards;
    the samples are never put into a database of yours.
    """
    if database and table:
        raise click.UsageError("--database and --bindings are two places for the same thing; give one of them")
    from .. import serve
    from ..application import MissingAssets

    given = {name: value for name, value in settings.items() if value not in (None, ())}
    with (
        _listener(host, port) as listener,
        _store(database, table) as store,
        store_errors(),
        _opened(store, next(iter(profiles), None)) as bindings,
    ):
        address = serve.address_of(listener)
        try:
            app = serve.compose(
                bindings,
                prefix=prefix or address,
                address=address,
                demo=store.is_demo,
                trace_elsewhere=trace_elsewhere,
                networks=networks,
                policies=profiles,
                **given,
            )
        except (ValueError, NotImplementedError) as error:
            raise click.UsageError(str(error)) from None
        except MissingAssets as error:
            raise Refused(str(error), exit_code=UNAVAILABLE) from None
        serve.run(app, listener, lambda: _announce(address, prefix, host, store, bindings, trace_elsewhere))


def _listener(host: str, port: int | None) -> socket.socket:
    from .. import serve

    try:
        return serve.listen(host, port)
    except OSError as error:
        asked = serve.FIRST_PORT if port is None else port
        what = f"nothing can listen at {host}, port {asked}: {error.strerror or error}"
        raise Refused(
            what, ("Next", "another --port (0 for any that is free), or another --host"), exit_code=UNAVAILABLE
        ) from None


@contextmanager
def _store(database: str | None, table: str | None) -> Iterator[_Store]:
    if database:
        yield _Store(database, False, None)
        return
    folder = Path(tempfile.mkdtemp(prefix="ararat-"))
    owner = os.getpid()
    try:
        yield _Store(f"sqlite:///{folder / 'bindings.sqlite'}", True, table)
    finally:
        # The worker is a fork, and leaves through here too.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)


def _opened(store: _Store, profile: Profile | None) -> Bindings:
    from ...middleware import open_bindings
    from ..demo import load

    with open_bindings(store.url, policy=profile) as bindings:
        if store.is_demo:
            load(bindings)
        if store.table is not None:
            _copy(store.table, bindings)
    # Opened anew: what was used here must not be used on the other side of a fork.
    return open_bindings(store.url, policy=profile)


def _copy(table: str, bindings: Bindings) -> None:
    summary = run_import(bindings, table, actor="ararat serve")
    if summary.refusals:
        write(refused_lines(summary, Sheet.of(sys.stderr)), to=sys.stderr)
        raise Refused(f"{table} is not served: {summary.refusals:,} of its {summary.lines:,} lines are refused")


def _announce(
    address: str, prefix: str | None, host: str, store: _Store, bindings: Bindings, trace_elsewhere: bool
) -> None:
    sheet = Sheet.of(sys.stdout)
    source = f"a copy of {store.table} in " if store.table else ""
    write([f"{sheet.paint(f'Ararat {__version__} at')} {sheet.paint(address, 'strong')}"])
    if store.is_demo:
        write(sheet.field("Demo site", f"{address}/demo/"))
    if prefix:
        write(sheet.field("Announced as", identifier(prefix)))
    elif host in ("0.0.0.0", "::"):  # noqa: S104 - a comparison
        write(sheet.field("Announced as", f"{address}, which is nothing to other machines; say --prefix"))
    write(
        sheet.field(
            "Bindings",
            f"{source}{bindings.store}{', gone when this ends; keep yours with --database' if store.passing else ''}",
        )
    )
    write(
        sheet.field(
            "Traces", "also to other hosts" if trace_elsewhere else "to this site; to others with --trace-elsewhere"
        )
    )
    write(sheet.field("Stop", "Ctrl-C"))
    sys.stdout.flush()
