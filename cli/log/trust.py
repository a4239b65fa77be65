"""The options that state which logs and witnesses a reader trusts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import CommandError
from ..output import words

if TYPE_CHECKING:
    from ...bindings.log.verification.policy import Policy

policy_file_option: Callable[..., Any] = click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    envvar="ARARAT_LOG_POLICY",
    show_envvar=True,
    help="The logs and witnesses to trust, and the quorum, in the format c2sp.org/tlog-policy.",
)

vkey_option: Callable[..., Any] = click.option(
    "--vkey",
    metavar="VKEY",
    envvar="ARARAT_LOG_VKEY",
    show_envvar=True,
    help="The public key of the log, as `ararat log init` prints it. It requires no witness.",
)


def read_trust_policy(policy_file: str | None, vkey: str | None) -> Policy | None:
    """Return the trusted logs and witnesses of ``--policy`` (a path) or ``--vkey`` (a public key), or None without
    both. Raises :class:`CommandError` for a wrong value or a missing package, and click.UsageError with both.
    """
    from ...bindings.log.errors import LogError
    from ...bindings.log.notes.keys import VerifierKey, require_signatures
    from ...bindings.log.verification.policy import MAX_BYTES, Party, Policy

    try:
        # Without this check, a correct log would be reported as a wrong one.
        require_signatures()
    except LogError as error:
        raise CommandError(str(error)) from None
    if policy_file is not None and vkey is not None:
        raise click.UsageError("--policy contains the keys of logs; leave out --vkey")
    if policy_file is not None:
        from .remote import read_file

        try:
            return Policy.of_bytes(read_file(policy_file, MAX_BYTES))
        except LogError as error:
            raise CommandError(f"{words(policy_file)}: {error}") from None
    if vkey is not None:
        try:
            return Policy(logs=[Party(key=VerifierKey.of_text(vkey))])
        except LogError as error:
            raise CommandError(str(error), ("Fix", "copy the key from the web site of the log")) from None
    return None
