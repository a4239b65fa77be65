"""Options that several commands share."""

from __future__ import annotations

import functools
import getpass
import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import NO_INPUT, CommandError

if TYPE_CHECKING:
    from datetime import datetime

    from ..bindings.names.actor import Actor
    from ..identifiers.iri_policy import Profile
    from ..net.allowed_addresses import Network

DEFAULT_RESOLVER = "https://n2t.net"

# The names in iri_policy.SHIPPED. Most commands do not need that package, which takes long to load.
_POLICIES = "17beta, museum, repository"


def _actor() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # A container can run as a user without a name.
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _as_actor(ctx: click.Context, param: click.Parameter, name: str) -> Actor:
    """Return the actor of a command. Its changes are in the audit, as those of accounts are."""
    from ..bindings.names.actor import Actor

    return Actor(name=name, operation=".".join(ctx.command_path.split()[1:]))


def check_file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse "-" as the file of an option, whose content would be mixed with other output. For click's ``callback``."""
    if value == "-":
        raise click.BadParameter("- is not the name of a file, and standard output has the result", ctx, param)
    return value


def with_options(message: str, command: click.Command) -> str:
    """Return a message about settings with the options of a command instead of the names of the settings.

    >>> server = click.Command("serve", params=[click.Option(["--log"]), click.Option(["--log-folder"])])
    >>> with_options("log: the folder is missing; set log_folder=…", server)
    '--log: the folder is missing; set --log-folder …'
    """
    options = {param.name: param.opts[0] for param in command.params}
    setting, colon, rest = message.partition(": ")
    if setting not in options:
        return message
    rest = re.sub(r"\b([a-z_]+)=", lambda found: f"{options[found[1]]} " if found[1] in options else found[0], rest)
    return f"{options[setting]}{colon}{rest}"


def _database_option(*, required: bool) -> Callable[..., Any]:
    return click.option(
        "--database",
        metavar="URL",
        required=required,
        envvar="ARARAT_DATABASE",
        show_envvar=True,
        help="The store of the bindings: postgresql://..., sqlite:///FILE, or a file that ends in .sqlite, .sqlite3 "
        "or .db. A .csv, .tsv, .jsonl, .ndjson or .snapshot file can only be read.",
    )


database_option = _database_option(required=True)
optional_database_option = _database_option(required=False)

actor_option: Callable[..., Any] = click.option(
    "--actor",
    metavar="NAME",
    default=_actor,
    envvar="ARARAT_ACTOR",
    show_envvar=True,
    show_default="the user that runs the command",
    callback=_as_actor,
    help="Record NAME in the history as the author of the change.",
)

strict_option: Callable[..., Any] = click.option(
    "--strict", is_flag=True, help="Refuse a NAAN that is not registered. Without it, print a warning."
)


def _read_naans(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the normal forms of NAANs."""
    if not values:
        return values
    from ..middleware.resolution.settings import Settings

    try:
        return tuple(sorted(Settings(naans=values).naans or ()))
    except ValueError as error:
        raise click.BadParameter(str(error).removeprefix("naans: "), ctx, param) from None


naans_option: Callable[..., Any] = click.option(
    "--naans",
    multiple=True,
    metavar="NAAN",
    envvar="ARARAT_NAANS",
    show_envvar=True,
    callback=_read_naans,
    help="Accept this NAAN without a warning, registered or not. Can be repeated.",
)


def _keep_test_naans(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    """Keep the NAANs for tests in the context, where :func:`test_naans` reads them."""
    from ..bindings.names.naming import naans_for_tests

    try:
        ctx.meta[_TEST_NAANS] = naans_for_tests(values) if values else frozenset()
    except ValueError as error:
        raise click.BadParameter(str(error).removeprefix("test_naans: "), ctx, param) from None


_TEST_NAANS = f"{__name__}.test_naans"

test_naans_option: Callable[..., Any] = click.option(
    "--test-naans",
    multiple=True,
    metavar="NAAN",
    envvar="ARARAT_TEST_NAANS",
    show_envvar=True,
    expose_value=False,
    callback=_keep_test_naans,
    help="Allow names for tests below this NAAN: 99999. They are never in feeds or the log. Can be repeated.",
)


def test_naans() -> Collection[str]:
    """Return the NAANs of the option ``--test-naans`` of the running command. It is empty without the option."""
    context = click.get_current_context(silent=True)
    return () if context is None else context.meta.get(_TEST_NAANS, ())


json_option: Callable[..., Any] = click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")

input_option: Callable[..., Any] = click.option(
    "--input",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Read each argument or line as plain text or as a JSON string. JSON can express every character.",
)

format_option: Callable[..., Any] = click.option(
    "--format",
    type=click.Choice(["csv", "tsv", "jsonl"]),
    help="The format of FILE.  [default: by the file extension, else CSV]",
)

resolver_option: Callable[..., Any] = click.option(
    "--resolver",
    metavar="URL",
    help="The prefix of the resolver to start at. 'registry' selects the known resolver of the identifier.  "
    f"[default: {DEFAULT_RESOLVER}; for a URN, the known resolver of its namespace]",
)

PASSTHROUGHS = ("no", "normal", "given")
"""The values of the option --passthrough."""

NETWORK_CODES = ("blocked", "port")
"""The codes of traces that end at an address or port to which no request is allowed."""

ALLOW_NETWORK = "To allow other hosts or ports, give their network, for example --allow-network 127.0.0.0/8."


def network_options(*, tracing: bool = False) -> Callable[..., Any]:
    """Return the options for the servers to which a command sends requests: its parameter ``destinations``.
    With ``tracing``, there is also the option to send no requests to other hosts.
    """
    allow: Any = click.option(
        "--allow-network", "networks", metavar="CIDR", multiple=True, envvar="ARARAT_ALLOW_NETWORK", show_envvar=True,
        help="Allow requests to this private network, at any port. Can be repeated.",
    )  # fmt: skip
    deny: Any = click.option(
        "--deny-network", "denied", metavar="CIDR", multiple=True, envvar="ARARAT_DENY_NETWORK", show_envvar=True,
        help="Forbid requests to this network. Can be repeated.",
    )  # fmt: skip
    leave: Any = click.option(
        "--trace-elsewhere/--no-trace-elsewhere", "elsewhere", default=True, show_default="yes",
        envvar="ARARAT_TRACE_ELSEWHERE", show_envvar=True, help="Send requests to other hosts than this site.",
    )  # fmt: skip

    def decorate(command: Any) -> Any:
        @functools.wraps(command)
        def run(*given: Any, networks: Any, denied: Any, elsewhere: bool = True, **others: Any) -> Any:
            from ..net.allowed_addresses import Destinations

            allowed, refused = _networks("--allow-network", networks), _networks("--deny-network", denied)
            return command(*given, destinations=Destinations(allowed, refused, elsewhere), **others)

        return allow(deny(leave(run) if tracing else run))

    return decorate


def _networks(option: str, texts: Iterable[str]) -> tuple[Network, ...]:
    from ..net.allowed_addresses import parse_networks

    try:
        return parse_networks(texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def policy_option(use: str, **attributes: Any) -> Callable[..., Any]:
    """Return the option ``--policy``, for the parameter ``profile``. ``use`` is the first sentence of the help text.
    With ``multiple=True`` (of ``click.option``), the parameter is a tuple named ``profiles``.
    """
    return click.option(
        "--policy",
        "profiles" if attributes.get("multiple") else "profile",
        metavar="NAME|FILE",
        envvar="ARARAT_POLICY",
        show_envvar=True,
        callback=_load_each,
        help=f"{use} Give {_POLICIES}, or a TOML or JSON file."
        + (" Can be repeated." if attributes.get("multiple") else ""),
        **attributes,
    )


def load_policy(name_or_file: str) -> Profile:
    """Return a built-in IRI policy, or one in a TOML or JSON file. Raises :class:`~ararat.cli.errors.CommandError`.

    >>> load_policy("17beta").naan
    '21206'
    """
    from ..identifiers import iri_policy

    if name_or_file in iri_policy.SHIPPED:
        return iri_policy.built_in(name_or_file)
    try:
        with Path(name_or_file).open("rb") as stream:
            text = stream.read(4 * iri_policy.LARGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"cannot read the policy {name_or_file}: byte {error.start} is not UTF-8"
        raise CommandError(what, ("Expected", "a TOML or JSON file in UTF-8")) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(
            f"cannot read the policy {name_or_file}: {why}",
            ("Expected", f"{_POLICIES}, or a file with a policy"),
            exit_code=NO_INPUT,
        ) from None
    try:
        return iri_policy.read(text)
    except iri_policy.ProfileError as error:
        fix = "compare the file with the output of `ararat policy show`"
        raise CommandError(f"{name_or_file}: {error}", ("Fix", fix)) from None


def _load_each(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(load_policy, value))
    return None if value is None else load_policy(value)


def read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Return a date or an RFC 3339 time as a time in UTC, or None, for click's ``callback``.
    Raises :class:`click.BadParameter` for any other value.
    """
    from ..bindings.names.selection import moment

    try:
        return None if value is None else moment(value)
    except (ValueError, OverflowError):
        message = f"{value!r} is not a date or time; write 2026-11-22 or 2026-11-22T15:00:00Z"
        raise click.BadParameter(message, ctx, param) from None


def delimiter_of(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the separator of columns: one character, the word tab, or None, for click's ``callback``.
    Raises :class:`click.BadParameter` for a separator that CSV cannot have.
    """
    delimiter = "\t" if value in ("tab", "\\t") else value
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"\0'):
        raise click.BadParameter(f"{value!r} is not a separator; write one character, such as ; or tab", ctx, param)
    return delimiter


class WholeNumber(click.IntRange):
    name = "whole number"

    def _describe_range(self) -> str:
        return _range(self.min, self.max)


class Number(click.FloatRange):
    name = "number"

    def _describe_range(self) -> str:
        return _range(self.min, self.max)


def _range(least: float | None, most: float | None) -> str:
    """Return a range in words. The help text of an option shows it, and the error of a number outside of it.

    >>> _range(2, 64), _range(1, None), _range(None, None)
    ('2 to 64', '1 or more', '')
    """
    if least is None:
        return ""
    return f"{least} or more" if most is None else f"{least} to {most}"
