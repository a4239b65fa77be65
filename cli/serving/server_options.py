"""The options of ``ararat serve``, which are also the variables of ``ararat.wsgi`` and ``ararat.asgi``.

Each option is declared once: those of the server and the inspector in :data:`SERVER_OPTIONS`, the settings of the
resolver in :class:`~ararat.middleware.resolution.settings.Settings`. The variables and docs/settings.md come from the
declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import click

from ...middleware.resolution.settings import SettingDescription, described
from ...webapp.trusted_proxy import SECRET_FIELD
from ..options import PASSTHROUGHS, Number, WholeNumber


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerOption:
    """The declaration of an option of ``ararat serve`` that is not a setting of the resolver.

    - ``name``: the option, such as "--port". An option with "/" has a second name, which means no.
    - ``text``: what it does, for ``ararat serve --help`` and docs/settings.md.
    - ``metavar``: the name of its value. An option without it is a flag.
    - ``type``: the type of its value; None for a text.
    - ``default``: the default. ``shown``: the default in words.
    - ``parameter``: the name of the parameter, if it is not that of the option.
    - ``is_list``: whether the option can be repeated.
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
        return _variable(self.name[2:].partition("/")[0])

    def add(self, command: Any) -> Any:
        """Add the option to a command of click, and return the command. ``command`` is the command or its function."""
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
        "--database also accepts a file that ends in .csv, .tsv or .jsonl.",
    ),
    ServerOption(
        name="--state",
        metavar="DIR",
        text="The folder for the copy of the served file.",
        shown="the folder of the file",
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
        name="--threads",
        metavar="N",
        type=WholeNumber(1, 1000),
        text="The number of threads of a process that answer requests. Work that waits holds a part of them. "
        "For ararat.wsgi, it is the number of the WSGI server.",
        shown="96; for ararat.wsgi that of the server if it is known, otherwise 8",
    ),
    ServerOption(
        name="--trace-elsewhere/--no-trace-elsewhere",
        text="Let traces in the inspector send requests to other hosts.",
        default=True,
        shown="yes",
    ),
    ServerOption(
        name="--trusted-host",
        parameter="trusted_hosts",
        metavar="HOST",
        is_list=True,
        text="Another host name of the inspector, besides this machine and the prefix. Other host names are refused if "
        "this option or --allow-network is given, or if --host is a loopback address.",
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
        name="--allow-network",
        parameter="networks",
        metavar="CIDR",
        is_list=True,
        text="Allow traces to this private network.",
    ),
    ServerOption(
        name="--deny-network",
        parameter="denied_networks",
        metavar="CIDR",
        is_list=True,
        text="Forbid traces to this network, such as the public addresses of this machine or its NAT64 prefix.",
    ),
    ServerOption(
        name="--resolver",
        parameter="resolvers",
        metavar="URL",
        is_list=True,
        text="Offer this resolver prefix for traces in the inspector.",
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
        name="--remote-user",
        metavar="FIELD",
        text="Trust this header field for the user that a proxy has signed in, such as XRemoteUser, or REMOTE_USER of "
        "a server that sets it itself. The name of a field has letters and digits only. The proxy must set or remove "
        "the field in each request. A field needs --trusted-proxies and --remote-user-secret-file.",
    ),
    ServerOption(
        name="--remote-user-secret-file",
        metavar="FILE",
        text="The file with a secret of 32 or more characters, in one line. Other users must not be able to read it. "
        "The user and the forwarded fields of a request count only if it has the secret in --remote-user-secret-field.",
    ),
    ServerOption(
        name="--remote-user-secret-field",
        metavar="FIELD",
        text="The header field with that secret.",
        default=SECRET_FIELD,
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
        name="--session-idle",
        metavar="MINUTES",
        type=WholeNumber(5, 720),
        default=60,
        text="End the session of a browser that sends no request for this time.",
    ),
    ServerOption(
        name="--resource-label",
        metavar="TEXT",
        default="Inventory number",
        text="The label of the resource of a name in the desk, such as Shelfmark.",
    ),
    ServerOption(
        name="--ezid",
        metavar="PATH",
        text="Answer the EZID API below this path, such as /ezid. It needs an account (ararat account add).",
    ),
    ServerOption(
        name="--ezid-passthrough",
        type=click.Choice(PASSTHROUGHS),
        default="given",
        text="The passthrough of names that get their first target by the EZID API.",
    ),
    ServerOption(
        name="--access-log",
        metavar="FILE",
        text="Log each requested identifier to FILE as a line of JSON, without data of the client. - is standard "
        "output.",
    ),
)
"""The options of the server and the inspector, in the order of the help."""


def server_options(command: Any) -> Any:
    """Add the options :data:`SERVER_OPTIONS` of the server to a command of click, and return the command.

    ``command`` is the command or its function.
    """
    for each in reversed(SERVER_OPTIONS):
        command = each.add(command)
    return command


def resolver_options(command: Any) -> Any:
    """Add an option for each setting of the resolver to a command of click, and return the command.

    ``command`` is the command or its function. An option that is not given keeps the default of the setting.
    """
    for each in reversed([*described()]):
        name, more = f"--{each.name.replace('_', '-')}", dict[str, Any](default=None)
        variable = _variable(each.name)
        if each.metavar:
            more = {"multiple": each.is_list, "metavar": each.metavar}
            more |= {"type": WholeNumber()} if each.type == "int" else {}
        elif each.type != "bool" or each.metavar is not None:
            continue  # prefix and inspector are options of the server; the others have no text form
        elif each.default == "yes":
            name = f"{name}/--no-{name[2:]}"
        else:
            more["is_flag"] = True
        command = click.option(name, envvar=variable, show_envvar=True, help=_help(each), **more)(command)
    return command


def _help(each: SettingDescription) -> str:
    """Return the help of the option of a setting."""
    text = re.sub("``([a-z]+_[a-z_]+|prefix)``", lambda found: f"--{found[1].replace('_', '-')}", each.text)
    repeated = " Can be repeated." if each.is_list else ""
    default = "" if each.default in ("none", "no") else f"  [default: {each.default}]"
    return f"{text.replace('``', '')}{repeated}{default}"


def _variable(name: str) -> str:
    return f"ARARAT_{name.upper().replace('-', '_')}"
