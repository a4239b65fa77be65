"""The sign-in that the options of ``ararat serve`` describe: a user that a proxy reports, and an OpenID provider."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...bindings.system.files import open_to_others
from ...middleware.http import trusted_proxy
from ..errors import NO_INPUT, USAGE, CommandError

if TYPE_CHECKING:
    from ...webapp.accounts.openid import OpenID

_MAX_SECRET = 1000

log = logging.getLogger(__name__)


class SignIn(NamedTuple):
    """The options of ``ararat serve`` for the sign-in by a proxy or an OpenID provider. None means not set."""

    remote_user: str | None
    remote_user_secret_file: str | None
    remote_user_secret_field: str
    openid_issuer: str | None
    openid_client: str | None
    openid_secret_file: str | None
    openid_title: str | None
    openid_claim: str | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> SignIn:
        """Return the options for the sign-in among all options of the command."""
        return cls(*(options[name] for name in cls._fields))

    def of_proxy(self, trusted_proxies: int) -> dict[str, str | None]:
        """Return the settings ``remote_user``, ``remote_user_secret`` and ``remote_user_secret_field``; {} without a
        user and a secret. Raises UsageError if no proxy can have set the fields, and CommandError without a secret or
        with a wrong file.
        """
        user, file = self.remote_user, self.remote_user_secret_file
        if user == "REMOTE_USER" and not file:
            return {"remote_user": user}
        if user not in (None, "REMOTE_USER") and (fault := trusted_proxy.fault_of_user_field(user)):
            raise CommandError(
                f"--remote-user: {fault.message}",
                ("Fix", fault.remedy),
                *trusted_proxy.proxy_lines(fault.name, self.remote_user_secret_field),
                exit_code=USAGE,
            )
        if user is None and file is None:
            return {}
        if not trusted_proxies:
            option = "--remote-user-secret-file" if user in (None, "REMOTE_USER") else "--remote-user"
            raise click.UsageError(f"{option} needs --trusted-proxies, because only a proxy can set the field")
        if user is not None and user != "REMOTE_USER":
            # A wrong name is refused before its lines are shown.
            trusted_proxy.environ_key(self.remote_user_secret_field, "remote_user_secret_field")
            if file is None:
                raise CommandError(
                    f"--remote-user {user} needs --remote-user-secret-file, because clients can send the field, too",
                    ("Fix", _NEW_SECRET),
                    *trusted_proxy.proxy_lines(user, self.remote_user_secret_field),
                    exit_code=USAGE,
                )
        secret = None if file is None else _secret(file, private=True)
        if secret is not None:
            try:
                trusted_proxy.ProxySecret(secret, self.remote_user_secret_field)
            except ValueError as error:
                raise CommandError(f"{file}: {str(error).partition(': ')[2]}", exit_code=NO_INPUT) from None
        return {
            "remote_user": user,
            "remote_user_secret": secret,
            "remote_user_secret_field": self.remote_user_secret_field,
        }

    def proxy_secret(self, trusted_proxies: int) -> trusted_proxy.ProxySecret | None:
        """Return the secret that the proxies must add, so that their fields are trusted, or None. No user is read."""
        secret = self._replace(remote_user=None).of_proxy(trusted_proxies).get("remote_user_secret")
        return trusted_proxy.ProxySecret(secret, self.remote_user_secret_field) if secret else None

    def user_source(self, trusted_proxies: int) -> trusted_proxy.RemoteUser | None:
        """Return the source of the user that a proxy has signed in, or None. Raises the errors of :meth:`of_proxy`."""
        user = self.of_proxy(trusted_proxies).get("remote_user")
        return None if user is None else trusted_proxy.RemoteUser.of_setting(user, self.proxy_secret(trusted_proxies))

    def openid(self) -> OpenID | None:
        """Return the OpenID provider of the options, or None. Raises UsageError, ValueError and CommandError."""
        if self.openid_issuer is None and not (self.openid_client or self.openid_secret_file):
            return None
        if self.openid_issuer is None or self.openid_client is None:
            raise click.UsageError("--openid-issuer and --openid-client need each other")
        try:
            from ...webapp.accounts.openid import OpenID
        except ImportError:
            fix = "install the extra oidc: pip install 'ararat[app,oidc]'"
            raise CommandError("the packages for OpenID Connect are not installed", ("Fix", fix)) from None
        return OpenID(
            issuer=self.openid_issuer,
            client_id=self.openid_client,
            client_secret=None if self.openid_secret_file is None else _secret(self.openid_secret_file),
            title=self.openid_title or "",
            claim=self.openid_claim,
        )


def warn_of_underscores(options: Mapping[str, Any]) -> None:
    """Log a warning if clients can send the header fields of the proxies: some servers pass on fields with an
    underscore. The WSGI environ has one key for both spellings.
    """
    server = trusted_proxy.server_that_keeps_underscores()
    if server is None or not options["trusted_proxies"] or options["remote_user_secret_file"]:
        return
    field, other = trusted_proxy.FORWARDED[0], trusted_proxy.FORWARDED[0].replace("-", "_")
    log.warning(
        "%s passes on %s as %s, so a client can send it; remove it in the proxy (Apache: %s. nginx: keep "
        "underscores_in_headers off)",
        server, other, field, trusted_proxy.removal(*trusted_proxy.FORWARDED),
    )  # fmt: skip


_NEW_SECRET = (
    f"write a random secret of {trusted_proxy.MIN_SECRET} or more characters to a file that other users cannot read, "
    "and let the proxy add it to each request"
)


def _secret(file: str, *, private: bool = False) -> str:
    try:
        with Path(file).open("rb") as stream:
            if private and (rights := open_to_others(os.fstat(stream.fileno()))):
                raise CommandError(
                    f"other users can read or change {file} ({rights})",
                    ("Fix", f"run: chmod o= {file}"),
                    exit_code=NO_INPUT,
                )
            text = stream.read(_MAX_SECRET + 1).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise CommandError(f"cannot read {file}: it is not UTF-8", exit_code=NO_INPUT) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(f"cannot read {file}: {why}", exit_code=NO_INPUT) from None
    if not text or not text.isprintable() or len(text) > _MAX_SECRET:
        raise CommandError(f"{file} does not contain one line with a secret", ("Expected", "at most 1,000 characters"))
    return text
