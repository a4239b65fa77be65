"""The option ``--edge`` of ``export``: write the redirects of the names for a front server or a CDN."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from ..errors import CommandError
from ..options import with_options
from ..output import format_count
from ..progress import Progress

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ...middleware.edge.front_servers import EdgeName
    from ...middleware.resolution.settings import Settings


def edge_settings(prefix: str | None, name: EdgeName) -> Settings:
    """Return the settings of the resolver for an export: those of ``ararat serve`` in the environment.
    Without ``prefix``, this is read there, too. Raises :class:`click.UsageError` if the settings are wrong or have no
    prefix, or if the format ``name`` cannot have them.
    """
    from ...middleware.edge.front_servers import edge_format
    from ...middleware.edge.redirects import EdgeRedirects
    from ...middleware.resolution.settings import Settings
    from ..serving.application import resolver_settings
    from ..serving.serve import serve_command

    options = serve_command.make_context("ararat", []).params
    prefix = prefix or options["prefix"]
    if prefix is None:
        raise click.UsageError("--edge needs the public URL of the resolver: pass --prefix, or set ARARAT_PREFIX")
    try:
        settings = Settings(prefix=prefix, **resolver_settings(options))
        redirects = EdgeRedirects(settings)
        edge_format(name, redirects.prefix, redirects.fields)
    except (ValueError, NotImplementedError) as error:
        raise click.UsageError(with_options(str(error), serve_command)) from None
    return settings


def write_redirects(bindings: Bindings, stream: BinaryIO, name: EdgeName, settings: Settings, *, omit: bool) -> str:
    """Write the redirects of all names for a front server, and return a sentence about what was written.
    ``omit`` omits names that the format cannot represent. Otherwise such a name raises :class:`CommandError`.
    """
    from ...bindings.holding import holds_at
    from ...middleware.edge.exporting import NotRepresentable, export_redirects

    try:
        with Progress("redirects") as progress:
            marker, _ = export_redirects(bindings, stream, name, settings, omit=omit, progress=progress.count)
    except NotRepresentable as error:
        omitted = error.omitted
        more = omitted.number - len(omitted.first)
        raise CommandError(
            f"the format {name} cannot represent {format_count(omitted.number, 'name')}",
            *(("Name", f"{key}: {reason}") for key, reason in omitted.first),
            *([("Name", f"{more:,} more")] if more else []),
            ("Fix", "pass --omit to leave these names out, so that Ararat answers for them"),
        ) from None
    wrote = f"redirects of {marker.redirects:,} of {format_count(marker.state.names, 'name')}"
    if holds := holds_at(bindings, bindings.now()):
        first = min(each.until for each in holds)
        wrote += (
            f" ({format_count(len(holds), 'hold')}; write it again when the first ends, {first:%Y-%m-%d %H:%M:%SZ})"
        )
    return wrote
