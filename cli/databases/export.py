"""The command ``export``: write all bindings to a table, or the redirects of names for a front server."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

import click

from ...identifiers.text import display
from ...middleware.edge.front_servers import EDGE_NAMES
from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, writing
from ..options import database_option, delimiter_of, format_option, read_moment
from ..output import format_count
from ..progress import Progress
from .edge import edge_settings, write_redirects

if TYPE_CHECKING:
    from datetime import datetime

    from ...bindings.imports.exporting import ExportCounts
    from ...bindings.tables.text_tables import Format
    from ...middleware import Bindings
    from ...middleware.edge.front_servers import EdgeName


class _Form(NamedTuple):
    """The form of a table: the format of ``--format``, the separator, and whether it begins with a byte order mark."""

    format: str | None
    delimiter: str | None
    bom: bool

    def of(self, file: str) -> Format:
        """Return the format of a table in this file."""
        from ...bindings.tables.text_tables import format_of

        return format_of(file, self.format)


_OTHER_FORMATS = frozenset({".xlsx", ".xls", ".ods", ".json", ".xml", ".sqlite", ".sqlite3", ".db", ".snapshot"})


@click.command("export", short_help="Write all bindings to a table.")
@click.argument("file", metavar="[FILE|-]", default="-")
@format_option
@click.option(
    "--delimiter",
    metavar="CHAR",
    callback=delimiter_of,
    help="The separator of the columns. Write tab for a tab.  [default: the comma; a tab in TSV]",
)
@click.option("--bom", is_flag=True, help="Write CSV or TSV for Excel: with a byte order mark, and without formulas.")
@click.option("--history", is_flag=True, help="Write the whole history as JSON Lines instead of a table.")
@click.option(
    "--since",
    metavar="TIME",
    callback=read_moment,
    help="Only names changed at TIME (a date, or RFC 3339) or later. With --history, only changes since then.",
)
@click.option(
    "--edge",
    type=click.Choice(EDGE_NAMES),
    help="Write the redirects of the names for this front server or CDN instead of a table.",
)
@click.option(
    "--prefix",
    metavar="URL",
    help="With --edge: the public URL of the resolver.  [default: the variable ARARAT_PREFIX]",
)
@click.option("--omit", is_flag=True, help="With --edge: leave out the names that the format cannot represent.")
@database_option
def export_command(
    file: str,
    format: str | None,
    delimiter: str | None,
    bom: bool,
    history: bool,
    since: datetime | None,
    edge: EdgeName | None,
    prefix: str | None,
    omit: bool,
    database: str,
) -> int:
    """Write all bindings to a table, sorted by name. Withdrawn names are included.

    The table also contains rules, prefix records, counters, and minted names that are not bound. An import into an
    empty database restores them, and `ararat mint` creates no recorded name again. A table has no history.

    With --history, FILE contains every change with its date, actor and operation. An import of FILE into an empty
    database restores the names with their history. Accounts are not exported.

    FILE is replaced only after the whole table is written. An SQLite database is never replaced. A cell can begin with
    = + - or @, which a spreadsheet program runs as a formula. With --bom, an apostrophe makes it a text, and an import
    removes the apostrophe. Control characters are escaped if the output is a terminal.

    With --edge, FILE contains the live names whose redirect depends on nothing but the path. The front server answers
    for them, and sends all other requests to Ararat. The settings are those of `ararat serve` in the environment. If
    the format cannot represent a name, nothing is written. Write FILE again after each change of names.

    Exit code: 0 done, 2 the format cannot represent a name, 64 usage, 69 no database, 74 the file cannot be written.
    """
    if edge is None and (prefix or omit):
        raise click.UsageError("--prefix and --omit belong to --edge: pass --edge too")
    if edge is not None and (history or format or since):
        raise click.UsageError("--edge writes all redirects in its own format: omit --format, --history and --since")
    if history and format not in (None, "jsonl"):
        raise click.UsageError("--history writes JSON Lines: omit --format")
    form = _Form(format, delimiter, bom)
    if (delimiter or bom) and (edge or history or form.of(file) == "jsonl"):
        raise click.UsageError("--delimiter and --bom are for CSV and TSV: omit them")
    suffix = Path(file).suffix
    if suffix.lower() in _OTHER_FORMATS and not (edge or history or format):
        raise click.UsageError(
            f"{suffix} is not a format of export: end the name of FILE with .csv, .tsv, .jsonl or .ndjson, "
            "or pass --format"
        )
    settings = edge_settings(prefix, edge) if edge is not None else None

    def export(bindings: Bindings, stream: BinaryIO) -> str:
        if edge is not None and settings is not None:
            return write_redirects(bindings, stream, edge, settings, omit=omit)
        return _export(bindings, stream, file, form, since, history=history)

    with open_store(database, reading=True) as bindings:
        if file == "-":
            sys.stdout.flush()
            export(bindings, _standard_output())
        else:
            with writing(file), streams.replace_file(file) as stream:
                written = export(bindings, stream)
            sys.stderr.write(f"{written} written to {display.escape(file)}\n")
    return DONE


def counted_records(counts: Mapping[str, int]) -> str:
    """Return a sentence with the numbers of exported records, by their kinds.

    >>> counted_records({"name": 2, "prefix": 1})
    '2 names, 1 prefix'
    """
    return (
        ", ".join(
            format_count(number, kind.replace("-", " "), "prefixes" if kind == "prefix" else None)
            for kind, number in counts.items()
            if kind != "setting"
        )
        or "no records"
    )


def _count_words(written: ExportCounts) -> str:
    words = ("binding", "reserved name", "rule", "counter", "prefix record")
    return ", ".join(
        format_count(number, word) for word, number in zip(words, written, strict=True) if number or word == "binding"
    )


def _export(
    bindings: Bindings, stream: BinaryIO, file: str, form: _Form, since: datetime | None, *, history: bool
) -> str:
    """Write a table or a history, and return what was written in words."""
    from ...bindings.imports.exporting import export_table
    from ...bindings.imports.history import export_history

    with Progress(shown=not (file == "-" and sys.stdout.isatty())) as progress:
        if history:
            return counted_records(export_history(bindings, stream, since=since, progress=progress.count))
        options = {"format": form.of(file), "delimiter": form.delimiter, "bom": form.bom}
        return _count_words(export_table(bindings, stream, **options, since=since, progress=progress.count))


def _standard_output() -> BinaryIO:
    return cast(BinaryIO, _Terminal()) if sys.stdout.isatty() else sys.stdout.buffer


class _Terminal(RawIOBase):
    """Escapes control characters in the cells that it prints."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        lines = data.decode().split("\n")
        sys.stdout.write("\n".join("\t".join(map(display.escape, line.split("\t"))) for line in lines))
        return len(data)
