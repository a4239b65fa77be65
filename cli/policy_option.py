"""The option ``--policy`` of several commands: the profile of an IRI policy, by its name or from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..identifiers import iri_policy
from ..identifiers.iri_policy import Profile, ProfileError
from .errors import NO_INPUT, Refused

VARIABLE = "ARARAT_POLICY"
_WHAT = f"An IRI policy: {' or '.join(iri_policy.SHIPPED)}, or a profile, a file of TOML or JSON"


def policy_option(*, also: str = "", **attributes: Any) -> Callable[..., Any]:
    """The option, whose value is a Profile, or None; ``also`` is what the command does with it."""
    return click.option(
        "--policy",
        "profile" if not attributes.get("multiple") else "profiles",
        metavar="NAME|FILE",
        envvar=VARIABLE,
        show_envvar=True,
        callback=_chosen,
        help=f"{_WHAT}{also}.",
        **attributes,
    )


def load(name_or_file: str) -> Profile:
    """The profile of this name, or in this file. Raises :class:`~ararat.cli.errors.Refused`."""
    if name_or_file in iri_policy.SHIPPED:
        return iri_policy.known(name_or_file)
    try:
        with Path(name_or_file).open("rb") as stream:
            text = stream.read(4 * iri_policy.LARGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"{name_or_file} is no profile: octet {error.start} is not UTF-8"
        raise Refused(what, ("Expected", "a file of TOML or JSON in UTF-8")) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(
            f"the policy {name_or_file} cannot be read: {why}",
            ("Expected", f"{' or '.join(iri_policy.SHIPPED)}, or a file with a profile"),
            exit_code=NO_INPUT,
        ) from None
    try:
        return iri_policy.read(text)
    except ProfileError as error:
        said = "a profile like the one that `ararat policy show` prints"
        raise Refused(f"{name_or_file}: {error}", ("Expected", said)) from None


def _chosen(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(load, value))
    return None if value is None else load(value)
