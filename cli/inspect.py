"""The commands ``inspect``, ``equal`` and ``find``, which send no requests."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import click

from . import streams
from .errors import DONE, NO, UNAVAILABLE, UNDECIDED, UNREADABLE, CommandError, store_errors, write
from .options import input_option, optional_database_option, policy_option
from .output import Sheet

if TYPE_CHECKING:
    from ..identifiers import Report
    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings
    from ..webapp.report.inspection import IdentifierVerdict, SiteRecord

_CODES = {"strict": DONE, "liberal": NO, "outside": UNREADABLE, None: UNREADABLE}


@click.command("inspect", short_help="Show the parts, normal form and problems of an identifier.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, as in the web API.")
@input_option
@policy_option("Also check IRIs against this IRI policy.", multiple=True)
@optional_database_option
@click.argument("texts", metavar="TEXT...|-", nargs=-1, required=True)
def inspect_command(
    texts: tuple[str, ...], form: str, as_json: bool, profiles: tuple[Profile, ...], database: str | None
) -> int:
    """Show the parts, normal form, hierarchy and problems of identifiers.

    One identifier gets a full report, several get one line each. With -, read identifiers from standard input, one a
    line. An argument of several lines is such a list, too. White space around an identifier does not count; with
    --input json it does.

    With --database, the verdict contains the facts of the store, as on the page of the inspector: whether the link
    worked, is on hold or dead, and which recorded name was probably meant. A store that cannot be read is reported, and
    the rest is still shown.

    Exit code, the highest of all: 0 valid, 1 valid with deviations from the syntax, 2 not valid or outside the
    specification.

    \b
      ararat inspect ark:/12345/x6-np1.pdf.en
      ararat inspect --json - < identifiers.txt
      ararat inspect --input json '"ark:12345/a\\u202eb"'
    """
    from ..identifiers import examine
    from .render import reports

    sheet = Sheet.of(sys.stdout)
    worst = DONE
    with _records_in(database) as look_up:
        inputs = streams.identifiers(texts, form)
        first = list(itertools.islice(inputs, 2))
        for item in itertools.chain(first, inputs):
            if item.fault is not None:
                write(Sheet.of(sys.stderr).prose(f"ararat: {item.place}: {item.fault}", style="error"), to=sys.stderr)
                worst = UNREADABLE
                continue
            report = examine(item.text, policies=profiles)
            worst = max(worst, _CODES[report.conformance])
            site = look_up(report)
            if as_json:
                known = {} if site is None else {"bound": None if site.unread else dict(site.bound or {})}
                streams.dump(report.as_dict() | known | {"verdict": _verdict(report, site).as_dict()})
            elif len(first) == 1:
                write(reports.report_lines(report, sheet, site))
            else:
                write(reports.row(report, sheet, site))
    return worst


@contextmanager
def _records_in(database: str | None) -> Iterator[Callable[[Report], SiteRecord | None]]:
    """Yield a function that returns what a store, if there is one, knows about an identifier.
    A store that cannot be read is reported once.
    """
    if database is None:
        yield lambda report: None
        return
    from ..webapp.report.inspection import UNREAD, keys, look_up
    from .bindings.stores import open_store

    bindings: Bindings | None = None

    def report_unread(error: CommandError) -> SiteRecord:
        nonlocal bindings
        if error.exit_code != UNAVAILABLE:
            raise error
        write(error.lines(Sheet.of(sys.stderr)), to=sys.stderr)
        bindings = None
        return UNREAD

    def record(report: Report) -> SiteRecord:
        if bindings is None:
            return UNREAD
        try:
            with store_errors():
                return look_up([keys(report)], bindings)[0]
        except CommandError as error:
            return report_unread(error)

    with ExitStack() as opened:
        try:
            bindings = opened.enter_context(open_store(database, reading=True))
        except CommandError as error:
            report_unread(error)
        yield record


def _verdict(report: Report, site: SiteRecord | None) -> IdentifierVerdict:
    from ..webapp.report.verdict import verdict

    return verdict(report, site)


@click.command("equal", short_help="Compare two identifiers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as in the web API.")
@optional_database_option
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
def equal_command(a: str, b: str, as_json: bool, database: str | None) -> int:
    """Compare two identifiers, show the verdict on each, and the first difference of their normal forms.

    With --database, the verdicts contain the facts of the store, as those of ararat inspect. A store that cannot be
    read is reported, and the comparison is still shown.

    Exit code: 0 equivalent, 1 different, 2 one of them is not valid, 3 different by the general procedure of URNs, and
    the rule of their namespace is not known to Ararat.
    """
    from ..webapp.report.comparison import compare
    from .render import reports

    comparison = compare(a, b)
    with _records_in(database) as look_up:
        found = [_verdict(report, look_up(report)) for report in (comparison.a, comparison.b)]
    if as_json:
        streams.dump(comparison.as_dict(found))
    else:
        write(reports.comparison_lines(comparison, Sheet.of(sys.stdout), found))
    codes = {"equivalent": DONE, "different": NO, "unreadable": UNREADABLE, "undecided": UNDECIDED}
    return codes[comparison.verdict]


@click.command("find", short_help="List the identifiers in a text.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON Lines. start and end are code points, counted from 0."
)
@click.argument("file", metavar="[FILE|-]", default="-")
def find_command(file: str, as_json: bool) -> int:
    """List the ARKs and URNs in a text with line, column and normal form.

    Without FILE, or with -, read the text from standard input. A match can end too late, for example with the full
    stop of a sentence, or too early, at a line break. The output then also has the identifier that was probably meant,
    and the reason. A word is never shortened silently: a word outside the specification is listed as a whole, and the
    reason states the rest of a row, as in ark:12345/x,Title.

    Exit code: 0 identifiers found, 1 no identifiers found, 66 the file cannot be read.
    """
    from .render import reports

    sheet = Sheet.of(sys.stdout)
    code = NO
    for found, normal_form in _readable(streams.matches(file)):
        code = DONE
        if as_json:
            match = found.match
            place = {"start": found.start, "end": found.end, "line": found.line, "column": found.column}
            readings = {"literal": match.literal, "suggestion": match.suggestion, "why": match.differences}
            streams.dump(place | readings | {"normal_form": normal_form})
        else:
            write([reports.match_line(found.match, found.line, found.column, normal_form, sheet)])
    return code


def _readable(matches: Iterator[streams.StreamMatch]) -> Iterator[tuple[streams.StreamMatch, str | None]]:
    """Yield the matches with their normal forms. A text that is not valid, or outside the specification, has none."""
    from ..identifiers import IdentifierError, normalize
    from ..identifiers.ark.outside import outside

    for match in matches:
        text = match.match.represented_text
        if text is None or (match.match.suggestion is None and outside(text) is not None):
            yield match, None
            continue
        with suppress(IdentifierError):
            yield match, normalize(text)
