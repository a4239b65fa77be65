"""The options of ``ararat serve``, which are also the variables of ``ararat.wsgi`` and ``ararat.asgi``.
Each is declared once: here (:data:`SERVER_OPTIONS`), in :class:`~ararat.webapp.settings.InspectorSettings`, or in
:class:`~ararat.middleware.resolution.settings.Settings`. The variables and docs/settings.md come from these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import click

from ...bindings.storage.protocols import READ_SECONDS
from ...middleware.resolution.declared_settings import SettingDescription, describe_settings
from ...middleware.resolution.settings import Settings
from ...webapp import settings as inspector
from ..options import Number, WholeNumber


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerOption:
    """The declaration of an option of ``ararat serve``, unless it is a setting of the resolver.
    An option with "/" in its ``name`` has a second name, which means no. One without ``metavar`` is a flag. ``shown``
    is the default in words. ``is_list``: the option can be repeated.
    """

    name: str
    text: str
    metavar: str | None = None
    type: click.ParamType | None = None
    default: Any = None
    shown: str | None = None
    parameter: str | None = None
    is_list: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets the option, such as ARARAT_PORT.

        >>> ServerOption(name="--trusted-host", text="").variable
        'ARARAT_TRUSTED_HOST'
        """
        return _variable(self.name)

    def add(self, command: Any) -> Any:
        """Add the option to a command of click, or to the function of one, and return the command or function."""
        text = self.text + (" Can be repeated." if self.is_list else "")
        more: dict[str, Any] = {"default": self.default, "show_default": self.shown or self.default is not None}
        if self.metavar is None and self.type is None:
            more["is_flag"] = True
        elif self.is_list:
            more = {"multiple": True}
        if self.shown and self.default is None:
            text, more["show_default"] = f"{text}  [default: {self.shown}]", False
        names = [self.name, *([self.parameter] if self.parameter else ())]
        return click.option(
            *names, metavar=self.metavar, type=self.type, envvar=self.variable, show_envvar=True, help=text, **more
        )(command)


SERVER_OPTIONS: Final = (
    ServerOption(
        name="--database",
        metavar="URL",
        text="The store of the bindings.",
        shown="a temporary database of the demo",
    ),
    ServerOption(
        name="--only",
        metavar="names|desk",
        type=click.Choice(["names", "desk"]),
        text="Run one role: names answers readers and only reads the store; desk has the inspector, the desk and the "
        "APIs, and no names.",
        shown="both roles",
    ),
    ServerOption(name="--create", text="Create the database if it is missing.  [default: no]"),
    ServerOption(
        name="--bindings",
        parameter="table",
        metavar="FILE",
        text="Serve the bindings of a CSV, TSV or JSON Lines file, and read it again when it changes. "
        "--database also accepts a file that ends in .csv, .tsv, .jsonl or .ndjson.",
    ),
    ServerOption(
        name="--state",
        metavar="DIR",
        text="The folder for the copy of the served file.",
        shown="the folder of the file",
    ),
    ServerOption(
        name="--read-seconds",
        metavar="SECONDS",
        type=Number(0.1, 60),
        default=READ_SECONDS,
        text="The time after which PostgreSQL stops a statement of a reader.",
    ),
    ServerOption(
        name="--search-seconds",
        metavar="SECONDS",
        type=Number(0.01, 60),
        text="The time after which a page of a list or search has the names that were found so far.",
        shown="0.1",
    ),
    ServerOption(
        name="--search-names",
        metavar="N",
        type=WholeNumber(1000),
        text="The number of names that a list sorts. If it is less than 5,000, one query compares no more names.",
        shown="20,000",
    ),
    ServerOption(
        name="--prefix",
        metavar="URL",
        text="The public URL of the resolver.",
        shown="the address of the server",
    ),
    ServerOption(name="--host", metavar="ADDRESS", text="The address to listen on.", default="127.0.0.1"),
    ServerOption(
        name="--port",
        metavar="N",
        type=WholeNumber(0, 65535),
        text="The port to listen on, 0 for any free port.",
        shown="the first free port from 8000",
    ),
    ServerOption(
        name="--trusted-proxies",
        metavar="N",
        type=WholeNumber(0),
        default=0,
        text="The number of reverse proxies. The last N values of X-Forwarded-For and X-Forwarded-Proto are trusted. "
        "Each proxy must set both fields.",
    ),
    ServerOption(
        name="--inspector",
        metavar="URL|none",
        text="The URL of the inspector, for links on error pages, or none.",
        shown="the prefix without --prefix, none with it",
    ),
    ServerOption(
        name="--rounds",
        metavar="DAYS",
        type=Number(1, 3650),
        text="Trace each target of the database every DAYS days, and record which are dead, moved or refused "
        "(ararat rounds).",
        shown="never",
    ),
    ServerOption(
        name="--remote-user-secret-file",
        metavar="FILE",
        text="The file with a secret of 32 or more characters, in one line. Other users must not be able to read it. "
        "The user and the forwarded fields of a request count only if it has the secret in --remote-user-secret-field.",
    ),
    ServerOption(
        name="--openid-issuer",
        metavar="URL",
        text="Let users of this OpenID provider sign in. Needs --openid-client.",
    ),
    ServerOption(
        name="--openid-client",
        metavar="ID",
        text="The client ID of this site at the OpenID provider.",
    ),
    ServerOption(
        name="--openid-secret-file",
        metavar="FILE",
        text="The file with the secret of the client, in one line.",
    ),
    ServerOption(
        name="--openid-title",
        metavar="TEXT",
        text="The name of the provider on the sign-in page.",
        shown="its host",
    ),
    ServerOption(
        name="--openid-claim",
        metavar="NAME",
        text="Link people before their first sign-in by this claim: email (if email_verified), eppn, orcid or another "
        "one that the provider verifies (ararat account link --claim).",
        shown="the subject only",
    ),
    ServerOption(
        name="--access-log",
        metavar="FILE",
        text="Log each requested identifier to FILE as a line of JSON, without data of the client. - is standard "
        "output.",
    ),
)
"""The options of the server itself, in the order of the help."""


def inspector_options() -> list[ServerOption]:
    """Return the options of ``ararat serve`` that are settings of the inspector, in the order of their declarations."""
    return [
        ServerOption(
            name=f"{each.option}/--no-{each.option[2:]}" if each.value is True else each.option,
            text=each.text,
            metavar=each.metavar,
            type=_type(each),
            default=None if each.is_list else each.value,
            shown=None if each.is_list or each.default in ("none", str(each.value)) else each.default,
            parameter=each.name if each.option != _option(each.name) else None,
            is_list=each.is_list,
        )
        for each in describe_settings(inspector.InspectorSettings)
        if each.has_option
    ]


def server_options(command: Any) -> Any:
    """Add the options of the server and of the inspector to a command of click or its function, and return this."""
    for each in reversed([*SERVER_OPTIONS, *inspector_options()]):
        command = each.add(command)
    return command


def resolver_options(command: Any) -> Any:
    """Add an option for each setting of the resolver to a command of click or its function, and return this.
    An option that is not given keeps the default of the setting.
    """
    for each in reversed([each for each in describe_settings(Settings) if each.has_option]):
        name, more = each.option, dict[str, Any](default=None)
        if each.metavar:
            more = {"multiple": each.is_list, "metavar": each.metavar}
            more |= {"type": WholeNumber()} if each.type == "int" else {}
        elif each.default == "yes":
            name = f"{name}/--no-{name[2:]}"
        else:
            more["is_flag"] = True
        command = click.option(name, envvar=_variable(each.option), show_envvar=True, help=_help(each), **more)(command)
    return command


def _type(each: SettingDescription) -> click.ParamType | None:
    if each.choices:
        return click.Choice(each.choices)
    if not each.type.startswith("int"):
        return None
    return WholeNumber(each.limits[0], each.limits[1]) if each.limits else WholeNumber()


def _help(each: SettingDescription) -> str:
    """Return the help of the option of a setting."""
    text = re.sub("``([a-z]+_[a-z_]+|prefix)``", lambda found: _option(found[1]), each.text)
    repeated = " Can be repeated." if each.is_list else ""
    default = "" if each.default in ("none", "no") else f"  [default: {each.default}]"
    return f"{text.replace('``', '')}{repeated}{default}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _variable(option: str) -> str:
    return f"ARARAT_{option[2:].partition('/')[0].upper().replace('-', '_')}"
