"""Options and arguments of the commands for accounts: passwords, expiry, and the accounts of a store."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from .. import streams
from ..errors import NO_INPUT, CommandError

_MAX_BYTES = 8192
_UNITS = {"h": 1, "d": 24, "w": 168}
_PERIOD = re.compile(r"([1-9][0-9]{0,4})([hdw])", re.ASCII)

force_option: Callable[..., Any] = click.option(
    "--force", is_flag=True, help="Also change the last administrator. Then only this command can manage accounts."
)

prefix_option: Callable[..., Any] = click.option(
    "--prefix",
    "prefixes",
    multiple=True,
    metavar="PREFIX",
    help="A NAAN, a shoulder, or the beginning of URNs. Can be repeated.",
)


def read_password() -> str:
    """Return the password in the only line of standard input.
    On a terminal, ask for it without showing it. Raises :class:`~ararat.cli.errors.CommandError`.
    """
    stream = streams.standard_input()
    try:
        if stream.isatty():
            with _end_after_prompt():
                return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        text = stream.read(_MAX_BYTES + 1)
        line = text.removesuffix(b"\n").removesuffix(b"\r")
        if not line or b"\n" in line or len(text) > _MAX_BYTES:
            raise CommandError(
                "standard input does not contain one password",
                ("Expected", "one line of at most 8,192 bytes"),
                exit_code=NO_INPUT,
            )
        return line.decode()
    except UnicodeDecodeError as error:
        what = f"cannot read the password: byte {error.start} of standard input is not UTF-8"
        raise CommandError(what, exit_code=NO_INPUT) from None


class _Stopped(BaseException):
    """SIGTERM arrived. The prompt must not catch it as an Exception."""


@contextmanager
def _end_after_prompt() -> Iterator[None]:
    """Let SIGTERM end the process only after the prompt has restored the echo of the terminal."""

    def stop(number: int, frame: object) -> None:
        raise _Stopped

    before = signal.getsignal(signal.SIGTERM)
    if before in (signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except _Stopped:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def read_expiry(ctx: click.Context, param: click.Parameter, value: str) -> datetime | timedelta | None:
    """Return a period such as 12h, 90d or 52w, a time in UTC, or None for "never", for click's ``callback``."""
    from ...bindings.names.selection import moment

    if value == "never":
        return None
    if period := _PERIOD.fullmatch(value):
        return timedelta(hours=int(period[1]) * _UNITS[period[2]])
    try:
        return moment(value).astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"{value!r} is not a period, a date or a time; write 12h, 90d, 52w, 2026-11-22 or never"
        raise click.BadParameter(message, ctx, param) from None
