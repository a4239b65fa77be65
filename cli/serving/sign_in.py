"""The options of ``ararat serve`` for sign-in: a user that a proxy reports, and an OpenID provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..errors import NO_INPUT, Refused
from ..numbers import WholeNumber

if TYPE_CHECKING:
    from ...webapp.accounts.openid import OpenID

_MAX_SECRET = 1000


class SignIn(NamedTuple):
    """The values of the options. None means that an option is not given."""

    remote_user: str | None
    issuer: str | None
    client: str | None
    secret_file: str | None
    title: str | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> SignIn:
        """Return the values in the options of the command."""
        return cls(*(options[parameter] for _, parameter, _, _ in _OPTIONS))

    def require_proxy(self, trusted_proxies: int) -> str | None:
        """Return the header field of the user. Raises UsageError if no proxy can have set it."""
        if self.remote_user is None:
            return None
        if self.remote_user == "REMOTE_USER":
            raise click.UsageError("--remote-user needs the name of a header field, because this server sets no users")
        if not trusted_proxies:
            raise click.UsageError("--remote-user needs --trusted-proxies, because only a proxy can set the field")
        return self.remote_user

    def openid(self) -> OpenID | None:
        """Return the OpenID provider, or None. Raises UsageError, ValueError and Refused."""
        if self.issuer is None and not (self.client or self.secret_file):
            return None
        if self.issuer is None or self.client is None:
            raise click.UsageError("--openid-issuer and --openid-client need each other")
        try:
            from ...webapp.accounts.openid import OpenID
        except ImportError:
            fix = "install the extra oidc: pip install 'ararat[app,oidc]'"
            raise Refused("the packages for OpenID Connect are not installed", ("Fix", fix)) from None
        return OpenID(
            issuer=self.issuer,
            client_id=self.client,
            client_secret=None if self.secret_file is None else _secret(self.secret_file),
            title=self.title or "",
        )


def sign_in_options(command: Any) -> Any:
    """Add the options to a command."""
    command = click.option(
        "--session-idle", type=WholeNumber(5, 720), default=60, show_default=True, metavar="MINUTES",
        envvar="ARARAT_SESSION_IDLE", show_envvar=True,
        help="End the session of a browser that sends no request for this time.",
    )(command)  # fmt: skip
    for name, parameter, metavar, text in reversed(_OPTIONS):
        variable = f"ARARAT_{name[2:].upper().replace('-', '_')}"
        command = click.option(name, parameter, metavar=metavar, envvar=variable, show_envvar=True, help=text)(command)
    return command


_REMOTE_USER = (
    "Trust this header field for the user that a proxy has signed in. The proxy must set or remove it in each request. "
    "Needs --trusted-proxies."
)
_OPTIONS = (
    ("--remote-user", "remote_user", "FIELD", _REMOTE_USER),
    ("--openid-issuer", "openid_issuer", "URL", "Let users of this OpenID provider sign in. Needs --openid-client."),
    ("--openid-client", "openid_client", "ID", "The client ID of this site at the OpenID provider."),
    ("--openid-secret-file", "openid_secret_file", "FILE", "The file with the secret of the client, in one line."),
    ("--openid-title", "openid_title", "TEXT", "The name of the provider on the sign-in page.  [default: its host]"),
)


def _secret(file: str) -> str:
    try:
        with Path(file).open("rb") as stream:
            text = stream.read(_MAX_SECRET + 1).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Refused(f"cannot read {file}: it is not UTF-8", exit_code=NO_INPUT) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(f"cannot read {file}: {why}", exit_code=NO_INPUT) from None
    if not text or not text.isprintable() or len(text) > _MAX_SECRET:
        raise Refused(f"{file} does not contain one line with a secret", ("Expected", "at most 1,000 characters"))
    return text
