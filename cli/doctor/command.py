"""``ararat doctor``: diagnose a deployment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from .. import streams
from ..errors import DONE, NO, UNAVAILABLE, CommandError, write
from ..log.trust import policy_file_option, read_trust_policy
from ..options import json_option, optional_database_option
from ..output import Sheet, identifier
from .finding import HealthFinding

if TYPE_CHECKING:
    from ...middleware.resolution.settings import Settings


class LogOptions(NamedTuple):
    """The options about a log, as they were given: its folder, the file of its key, its path and a policy."""

    folder: str | None
    key: str | None
    path: str | None
    policy: str | None


class _Site(NamedTuple):
    """The options about the site: its address, the names to request, its application, prefix, NAANs and files."""

    url: str | None
    identifiers: tuple[str, ...]
    place: str | None
    prefix: str | None
    naans: tuple[str, ...]
    name: str | None
    front: tuple[str, ...]


@click.command("doctor", short_help="Diagnose a deployment.")
@click.argument("given", metavar="[ADDRESS] [IDENTIFIER]...", nargs=-1)
@click.option("--url", metavar="URL", help="Probe the deployment at this resolver prefix, like ADDRESS.")
@click.option("--app", "place", metavar="MODULE:NAME", help="Import and check this WSGI or ASGI application.")
@click.option(
    "--prefix",
    metavar="URL",
    help="The expected resolver prefix of links.  [default: the URL, or the prefix of the application]",
)
@click.option("--naans", metavar="NAAN", multiple=True, help="Your NAAN. Can be repeated.")
@click.option("--name", metavar="NAME", help="The name of the holder of the NAANs, to compare with the registry.")
@optional_database_option
@click.option(
    "--front",
    metavar="FILE",
    multiple=True,
    help="The configuration of the front server, to name lines. Can be repeated.  [default: that of a front server on "
    "this machine]",
)
@click.option(
    "--only",
    type=click.Choice(["names", "desk"]),
    envvar="ARARAT_ONLY",
    show_envvar=True,
    help="The role of the server: names must not be able to write the database, and desk must be.",
)
@click.option(
    "--user",
    metavar="NAME",
    help="The user of the service, who must be able to read the database.  [default: the owner of its folder]",
)
@click.option("--edge", metavar="FILE", help="Compare this file of `ararat export --edge` with the database.")
@click.option("--log-folder", metavar="DIR", help="Check the log of the database, whose files are in this folder.")
@click.option("--log-key", metavar="FILE", help="The file of the secret key of the log.  [default: DIR.key]")
@click.option(
    "--log",
    "log_path",
    metavar="PATH",
    help="The path below the URL where the files of the log are served.  [default: /log]",
)
@policy_file_option
@json_option
def doctor_command(
    given: tuple[str, ...],
    url: str | None,
    place: str | None,
    prefix: str | None,
    naans: tuple[str, ...],
    name: str | None,
    database: str | None,
    front: tuple[str, ...],
    only: Literal["names", "desk"] | None,
    user: str | None,
    edge: str | None,
    log_folder: str | None,
    log_key: str | None,
    log_path: str | None,
    policy_file: str | None,
    as_json: bool,
) -> int:
    """Diagnose a deployment: print what to change and why. This command changes nothing.

    ADDRESS is the resolver prefix of the site. Each IDENTIFIER is a name that is bound there. Without one, names of
    each kind and shoulder are chosen from --database. Each name is requested as printed: over http and https, several
    times, and with ?info, a bare ?, %2F, a hyphen, ARK:, HEAD and No-Redirect. Status, Location, Link and Cache-Control
    are compared with the database. The resolvers of delegated prefixes are requested, too. Other requests use random
    names of NAAN 99999. They show how front server and server change requests. If a rate limit refuses
    requests, they are sent more slowly.

    --app does the same for a WSGI or ASGI application in this process (Flask, Django, FastAPI or another one), and
    reports its routes under reserved paths. --naans and --prefix are compared with the registry; the default is the
    settings of the application. --database reports whether each server of a store can be read and written, whether the
    user of the service can read its file, and whether other users can read accounts, secrets and tokens. --log-folder
    compares the log with its database, counts unpublished changes and cosignatures, and checks the file of the key.
    With an address, it also compares the served checkpoint. --edge counts the changes of names since an export for a
    front server.

    Exit code: 0 no error found (warnings can be found), 1 something must be changed, 64 usage, 69 no server answers at
    the address, or the application cannot be imported.

    \b
      ararat doctor https://example.org ark:12345/x6np1
      ararat doctor https://example.org --database bindings.sqlite --naans 12345
    """
    url, identifiers = _address(given, url)
    if identifiers and not (url or place):
        raise click.UsageError("the identifiers are requested from a site: pass its address too")
    if name is not None and not (naans or place):
        raise click.UsageError("--name is compared with the registry entry of a NAAN: pass --naans too")
    if (log_folder or log_key or log_path) and not database:
        raise click.UsageError("the log is compared with its database: pass --database too")
    if edge is not None and not database:
        raise click.UsageError("the export is compared with its database: pass --database too")
    if user is not None and not database:
        raise click.UsageError("--user is compared with the file of a database: pass --database too")
    if not (url or place or naans or database):
        raise click.UsageError("nothing to check: pass an address, --app, --naans or --database")
    if log_path is not None and not log_path.startswith("/"):
        raise click.BadParameter("the path must begin with /, for example /log", param_hint="--log")
    options = LogOptions(log_folder, log_key, log_path, policy_file)
    announced = None if prefix is None else _prefix(prefix, "--prefix")
    results: list[HealthFinding] = []
    site = _Site(url, identifiers, place, announced, naans, name, front)
    findings = _findings(site, database, options, only)
    for finding in chain(findings, _files(database, user), _examine_export(edge, database)):
        results.append(finding)
        if as_json:
            streams.dump(finding.as_dict())
        else:
            _show(finding)
    if not as_json:
        from .finding import summary_lines

        write(summary_lines(results, Sheet.of(sys.stdout)))
    return NO if any(finding.state == "error" for finding in results) else DONE


def _show(finding: HealthFinding) -> None:
    from .finding import finding_lines

    write(finding_lines(finding, Sheet.of(sys.stdout)))
    # A probe can take some seconds. Show the previous one meanwhile.
    sys.stdout.flush()


def _address(arguments: tuple[str, ...], url: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Return the address of the site, and the identifiers in a form that can be the end of a URL. The first argument
    can also be the URL of a name: the address is then its beginning.
    """
    from ...bindings.names import naming
    from ...bindings.names.errors import BindingError

    identifiers: list[str] = []
    for each in arguments:
        match = re.search(r"(?i)/(?=(?:ark|urn)(?::|%3a))", each) if "://" in each else None
        address = each[: match.start()] if match else each
        if "://" in each:
            if url is not None and address.rstrip("/") != url.rstrip("/"):
                raise click.UsageError(f"two addresses were given, {identifier(url)} and {identifier(address)}")
            url = address
        if "://" not in each or match:
            text = each[match.end() :] if match else each
            try:
                key = naming.key_of(text)
            except BindingError as error:
                raise click.UsageError(f"{identifier(text)} is not an identifier: {error.message}") from None
            # The spelling of the user is requested if it can be a part of a URL.
            identifiers.append(text if re.fullmatch(r"[!-~]+", text) and not set(text) & set('?#"<>\\^`{|}') else key)
    return url, tuple(identifiers)


def _findings(
    site: _Site, database: str | None, log: LogOptions, only: Literal["names", "desk"] | None = None
) -> Iterator[HealthFinding]:
    settings: Settings | None = None
    application: Any = None
    if site.place is not None:
        from . import applications

        try:
            application = applications.load(site.place)
        except applications.NotLoaded as error:
            if error.usage:
                raise click.BadParameter(str(error), param_hint="--app") from None
            remedy = "run the command in the folder of the application, in its virtual environment"
            fix = [("Fix", remedy)] if isinstance(error.__cause__, ImportError) else []
            raise CommandError(f"{site.place} cannot be imported: {error}", *fix, exit_code=UNAVAILABLE) from None
        yield from applications.examine(application)
        settings = applications.settings_of(application)
    if settings is not None:
        yield from _probe(site, settings, database, application)
    if site.url is not None:
        yield from _probe(site, settings, database)
    yield from _examine_registration(site.url, site.prefix, site.naans, site.name, settings)
    if database is not None:
        from . import stores

        yield from stores.examine(database, only)
        folder = log.folder or (settings.log_folder if settings else None)
        if folder is not None:
            path = log.path or (settings.log if settings else None) or "/log"
            yield from _examine_log(database, Path(folder), path.rstrip("/"), site.url, log)


def _files(database: str | None, user: str | None) -> Iterator[HealthFinding]:
    if database is not None:
        from . import files

        try:
            yield from files.examine(database, user, os.environ)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--user") from None


def _examine_export(edge: str | None, database: str | None) -> Iterator[HealthFinding]:
    if edge is not None and database is not None:
        from .edge import examine

        yield from examine(Path(edge), database)


def _examine_log(
    database: str, folder: Path, path: str, url: str | None, options: LogOptions
) -> Iterator[HealthFinding]:
    from ...net import url as weburl
    from . import log, served_log

    policy = read_trust_policy(options.policy, None)
    status = log.read_status(database, folder)
    if isinstance(status, HealthFinding):
        yield status
        return
    key = folder.with_name(f"{folder.name}.key") if options.key is None else Path(options.key)
    yield from log.examine(status, folder, key, policy)
    if url is not None:
        yield from served_log.examine(weburl.parse(_prefix(url, "ADDRESS")), path, folder, status.key)


def _probe(
    site: _Site, settings: Settings | None, database: str | None, application: Any = None
) -> Iterator[HealthFinding]:
    """Probe the site, or an application in this process, and request names from it."""
    from ...middleware import BindingError, BindingsUnavailable, open_bindings
    from ...net import url as weburl
    from . import applications, in_process, names, requests
    from .configuration import FrontConfiguration
    from .deployment import checks
    from .deployment.deployment import Deployment, NotAnswered

    prefix = site.prefix or (settings.prefix if settings else None)
    if application is not None:
        address, client = prefix or "http://localhost", in_process.client_of(application)
    else:
        address, client = _prefix(site.url or "", "ADDRESS"), requests.network
    try:
        url = weburl.parse(address)
    except weburl.BadURL as error:
        raise click.BadParameter(str(error), param_hint="ADDRESS") from None
    settings_of_app = {} if settings is None else applications.arguments_of(settings)
    arguments = settings_of_app or _environment()
    with ExitStack() as stack:
        bindings = None
        if database is not None:
            with suppress(BindingError):
                bindings = stack.enter_context(open_bindings(database, read_seconds=None, missing_ok=True))
        elif application is not None:
            bindings = applications.bindings_of(application)
        chosen = site.identifiers
        if bindings is not None and not chosen:
            # The check of the store reports why it cannot be read.
            with suppress(BindingError, BindingsUnavailable):
                chosen = tuple(names.choose(bindings))
        port = url.port if application is None and requests.is_this_machine(url) else None
        deployment = Deployment(
            url,
            requests.PatientClient(client),
            prefix=prefix,
            has_urns=any(each.lower().startswith("urn:") for each in chosen),
            schemes=arguments.get("schemes"),
            configuration=FrontConfiguration(map(Path, site.front), port),
            is_local=application is not None,
            is_on_network=application is None,
        )
        part = "app" if application is not None else "url"
        try:
            for finding in checks.findings(deployment):
                yield finding._replace(part=part)
        except NotAnswered as error:
            raise CommandError(
                f"no server answers at {identifier(address)}: {error}",
                ("Next", "start the site, or pass an address that this machine can reach"),
                exit_code=UNAVAILABLE,
            ) from None
        reached = deployment.reached
        if reached is not None and chosen:
            expected = None
            if bindings is not None:
                expected = names.ReferenceResolver(
                    bindings, reached.announced or address, arguments, are_known=bool(settings_of_app)
                )
            for finding in names.examine(reached, chosen, expected):
                yield finding._replace(part=part)
        if reached is not None and bindings is not None:
            elsewhere = requests.PatientClient(requests.network)
            with suppress(BindingsUnavailable):
                yield from names.delegations(bindings, reached.announced or address, elsewhere)
        yield from deployment.limits()


def _environment() -> dict[str, Any]:
    """Return the settings of the resolver that the variables of ``ararat serve`` contain on this machine."""
    if not any(name.startswith("ARARAT_") for name in os.environ):
        return {}
    from ...middleware.resolution.settings import Settings
    from ..serving.application import resolver_settings
    from ..serving.serve import serve_command
    from .applications import without_resources

    try:
        options = serve_command.make_context("ararat", []).params
    except click.ClickException:
        return {}
    arguments = without_resources(resolver_settings(options))
    try:
        Settings(**{"prefix": "https://example.org", **arguments})
    except ValueError:
        return {}
    return arguments


def _examine_registration(
    url: str | None, prefix: str | None, naans: tuple[str, ...], name: str | None, settings: Settings | None
) -> Iterator[HealthFinding]:
    from . import registered

    own = naans or tuple(sorted((settings.naans or ()) if settings else ()))
    if not own:
        return
    prefixes = [prefix] if prefix else [*settings.own_prefixes] if settings else []
    if not prefixes and url is not None:
        prefixes = [_prefix(url, "ADDRESS")]
    try:
        yield from registered.examine(own, prefixes, name)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--naans") from None


def _prefix(given: str, option: str) -> str:
    from ...bindings.names import origins
    from ...bindings.names.errors import PrefixError

    try:
        return origins.check_prefix(given)
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint=option) from None
