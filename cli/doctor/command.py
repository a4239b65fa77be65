"""``ararat doctor``: whether a deployment is well, and what to change where it is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, UNAVAILABLE, Refused, write
from ..options import json_option, optional_database_option
from ..output import Sheet, identifier

if TYPE_CHECKING:
    from ...middleware.settings import Settings
    from .finding import Finding


@click.command("doctor", short_help="Look whether a deployment is well.")
@click.option("--url", metavar="URL", help="The resolver prefix of a running deployment, to be probed.")
@click.option("--app", "place", metavar="MODULE:NAME", help="A WSGI application, to be imported from here.")
@click.option(
    "--prefix", metavar="URL", help="The prefix it should announce.  [default: the URL, or the application's]"
)
@click.option("--naan", "naans", metavar="NAAN", multiple=True, help="A NAAN of yours; repeatable.")
@click.option("--name", metavar="NAME", help="Who holds the NAANs, to be compared with the registry.")
@optional_database_option
@json_option
def doctor_command(
    url: str | None,
    place: str | None,
    prefix: str | None,
    naans: tuple[str, ...],
    name: str | None,
    database: str | None,
    as_json: bool,
) -> int:
    """Look whether a deployment is well, and say what to change and why. Nothing is changed.

    --url sends some twenty requests for names of NAAN 99999, which nobody can bind, and says what the front server and
    the server did to them on the way: to %2F, //, dot-segments, a bare ?, capitals, HEAD, long names. --app imports an
    application (Flask, Django, Pyramid, or any that is wrapped) and says which of its routes lie under reserved paths.
    --naan and --prefix, or those of the application, are compared with the registry. --database says whether a store
    can be read and written, each server of several.

    Exit code: 0 all well, 1 something to change, 64 usage, 69 nothing answers at the URL, or the application cannot be
    imported.

    \b
      ararat doctor --url https://example.org --naan 12148
    """
    if not (url or place or naans or database):
        raise click.UsageError("say what to look at: --url, --app, --naan or --database")
    if name is not None and not (naans or place):
        raise click.UsageError("--name is compared with what the registry has of a NAAN: say --naan too")
    announced = None if prefix is None else _prefix(prefix, "--prefix")
    found: list[Finding] = []
    for finding in _findings(url, place, announced, naans, name, database):
        found.append(finding)
        if as_json:
            streams.dump(finding.as_dict())
        else:
            _show(finding)
    if not as_json:
        from ..render.findings import summary_lines

        write(summary_lines(found, Sheet.of(sys.stdout)))
    return NO if any(finding.state == "bad" for finding in found) else DONE


def _show(finding: Finding) -> None:
    from ..render.findings import finding_lines

    write(finding_lines(finding, Sheet.of(sys.stdout)))
    # A probe may take its seconds, and whoever waits wants to see the last one.
    sys.stdout.flush()


def _findings(
    url: str | None,
    place: str | None,
    prefix: str | None,
    naans: tuple[str, ...],
    name: str | None,
    database: str | None,
) -> Iterator[Finding]:
    settings: Settings | None = None
    if place is not None:
        from . import applications

        try:
            application = applications.load(place)
        except applications.NotLoaded as error:
            if error.usage:
                raise click.BadParameter(str(error), param_hint="--app") from None
            raise Refused(f"{place} cannot be imported: {error}", exit_code=UNAVAILABLE) from None
        yield from applications.examine(application)
        settings = applications.settings_of(application)
    if url is not None:
        yield from _probed(_prefix(url, "--url"), prefix or (settings.prefix if settings else None))
    yield from _registered(url, prefix, naans, name, settings)
    if database is not None:
        from . import stores

        yield from stores.examine(database)


def _probed(url: str, prefix: str | None) -> Iterator[Finding]:
    from ...webapp.tracing.client import url as weburl
    from . import probes

    try:
        yield from probes.examine(weburl.parse(url), prefix=prefix)
    except weburl.BadURL as error:
        raise click.BadParameter(str(error), param_hint="--url") from None
    except probes.NotAnswered as error:
        raise Refused(
            f"nothing answers at {identifier(url)}: {error}",
            ("Next", "start the site, or say the address at which it can be reached from here"),
            exit_code=UNAVAILABLE,
        ) from None


def _registered(
    url: str | None, prefix: str | None, naans: tuple[str, ...], name: str | None, settings: Settings | None
) -> Iterator[Finding]:
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
        raise click.BadParameter(str(error), param_hint="--naan") from None


def _prefix(given: str, option: str) -> str:
    from ...middleware.bindings import origins
    from ...middleware.errors import PrefixError

    try:
        return origins.check_prefix(given)
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint=option) from None
