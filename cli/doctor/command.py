"""``ararat doctor``: diagnose a deployment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from .. import streams
from ..errors import DONE, NO, UNAVAILABLE, CommandError, write
from ..log.trust import policy_file_option, trusted
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


@click.command("doctor", short_help="Diagnose a deployment.")
@click.option("--url", metavar="URL", help="Probe the deployment at this resolver prefix.")
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
    url: str | None,
    place: str | None,
    prefix: str | None,
    naans: tuple[str, ...],
    name: str | None,
    database: str | None,
    user: str | None,
    edge: str | None,
    log_folder: str | None,
    log_key: str | None,
    log_path: str | None,
    policy_file: str | None,
    as_json: bool,
) -> int:
    """Diagnose a deployment: print what to change and why. This command changes nothing.

    --url sends about thirty requests for names of NAAN 99999, which cannot be bound. It reports how the reverse proxy
    and the server change them: %2F, //, dot-segments, a bare ?, capitals, HEAD and long names. --app imports a WSGI
    or ASGI application (Flask, Django, FastAPI or another one) and reports its routes under reserved paths. --naans and
    --prefix are compared with the registry; the default is the settings of the application. --database reports whether
    each server of a store can be read and written, whether the user of the service can read its file, and whether other
    users can read accounts, secrets and tokens. With --url, it also requests a served name. --log-folder compares
    the log with its database, counts unpublished changes and cosignatures, and checks the file of the key. With --url,
    it also compares the served checkpoint. --edge counts the changes of names since an export for a front server.

    Exit code: 0 no error found, 1 something must be changed, 64 usage, 69 no server answers at the URL, or the
    application cannot be imported.

    \b
      ararat doctor --url https://example.org --naans 12148
    """
    if name is not None and not (naans or place):
        raise click.UsageError("--name is compared with the registry entry of a NAAN: pass --naans too")
    if (log_folder or log_key or log_path) and not database:
        raise click.UsageError("the log is compared with its database: pass --database too")
    if edge is not None and not database:
        raise click.UsageError("the export is compared with its database: pass --database too")
    if user is not None and not database:
        raise click.UsageError("--user is compared with the file of a database: pass --database too")
    if not (url or place or naans or database):
        raise click.UsageError("nothing to check: pass --url, --app, --naans or --database")
    if log_path is not None and not log_path.startswith("/"):
        raise click.BadParameter("the path must begin with /, for example /log", param_hint="--log")
    options = LogOptions(log_folder, log_key, log_path, policy_file)
    announced = None if prefix is None else _prefix(prefix, "--prefix")
    found: list[HealthFinding] = []
    findings = _findings(url, place, announced, naans, name, database, options)
    for finding in chain(findings, _files(database, user), _exported(edge, database)):
        found.append(finding)
        if as_json:
            streams.dump(finding.as_dict())
        else:
            _show(finding)
    if not as_json:
        from .finding import summary_lines

        write(summary_lines(found, Sheet.of(sys.stdout)))
    return NO if any(finding.state == "error" for finding in found) else DONE


def _show(finding: HealthFinding) -> None:
    from .finding import finding_lines

    write(finding_lines(finding, Sheet.of(sys.stdout)))
    # A probe can take some seconds. Show the previous one meanwhile.
    sys.stdout.flush()


def _findings(
    url: str | None,
    place: str | None,
    prefix: str | None,
    naans: tuple[str, ...],
    name: str | None,
    database: str | None,
    log: LogOptions,
) -> Iterator[HealthFinding]:
    settings: Settings | None = None
    if place is not None:
        from . import applications

        try:
            application = applications.load(place)
        except applications.NotLoaded as error:
            if error.usage:
                raise click.BadParameter(str(error), param_hint="--app") from None
            remedy = "run the command in the folder of the application, in its virtual environment"
            fix = [("Fix", remedy)] if isinstance(error.__cause__, ImportError) else []
            raise CommandError(f"{place} cannot be imported: {error}", *fix, exit_code=UNAVAILABLE) from None
        yield from applications.examine(application)
        settings = applications.settings_of(application)
    if url is not None:
        yield from _probed(_prefix(url, "--url"), prefix or (settings.prefix if settings else None))
    yield from _registered(url, prefix, naans, name, settings)
    if database is not None:
        from . import stores

        yield from stores.examine(database)
        if url is not None:
            from ...webapp.tracing.client import url as weburl
            from . import served

            yield from served.examine(weburl.parse(_prefix(url, "--url")), database)
        folder = log.folder or (settings.log_folder if settings else None)
        if folder is not None:
            path = log.path or (settings.log if settings else None) or "/log"
            yield from _logged(database, Path(folder), path.rstrip("/"), url, log)


def _files(database: str | None, user: str | None) -> Iterator[HealthFinding]:
    if database is not None:
        from . import files

        try:
            yield from files.examine(database, user, os.environ)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--user") from None


def _exported(edge: str | None, database: str | None) -> Iterator[HealthFinding]:
    if edge is not None and database is not None:
        from .edge import examine

        yield from examine(Path(edge), database)


def _logged(database: str, folder: Path, path: str, url: str | None, options: LogOptions) -> Iterator[HealthFinding]:
    from ...webapp.tracing.client import url as weburl
    from . import log, served_log

    policy = trusted(options.policy, None)
    status = log.read_status(database, folder)
    if isinstance(status, HealthFinding):
        yield status
        return
    key = folder.with_name(f"{folder.name}.key") if options.key is None else Path(options.key)
    yield from log.examine(status, folder, key, policy)
    if url is not None:
        yield from served_log.examine(weburl.parse(_prefix(url, "--url")), path, folder, status.key)


def _probed(url: str, prefix: str | None) -> Iterator[HealthFinding]:
    from ...webapp.tracing.client import url as weburl
    from . import probes

    try:
        yield from probes.examine(weburl.parse(url), prefix=prefix)
    except weburl.BadURL as error:
        raise click.BadParameter(str(error), param_hint="--url") from None
    except probes.NotAnswered as error:
        raise CommandError(
            f"no server answers at {identifier(url)}: {error}",
            ("Next", "start the site, or pass a URL that this machine can reach"),
            exit_code=UNAVAILABLE,
        ) from None


def _registered(
    url: str | None, prefix: str | None, naans: tuple[str, ...], name: str | None, settings: Settings | None
) -> Iterator[HealthFinding]:
    from . import registered

    own = naans or tuple(sorted((settings.naans or ()) if settings else ()))
    if not own:
        return
    prefixes = [prefix] if prefix else [*settings.own_prefixes] if settings else []
    if not prefixes and url is not None:
        prefixes = [_prefix(url, "--url")]
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
