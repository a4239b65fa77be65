"""``ararat inspect``, ``equal`` and ``find``: what identifiers say, with nobody asked."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import suppress

import click

from ..identifiers import IdentifierError, examine, normalize
from ..identifiers.iri_policy import Profile
from ..webapp.report.comparison import compare
from . import streams
from .errors import DONE, NO, UNREADABLE, write
from .output import Sheet
from .policy_option import policy_option
from .render import reports

_CODES = {"strict": DONE, "liberal": NO, None: UNREADABLE}


@click.command("inspect", short_help="Say what an identifier is.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, as the web API has it.")
@click.option(
    "--input",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How identifiers are given: as they are, or each as a JSON string, so that any string can be.",
)
@policy_option(also=", to judge IRIs by; repeatable", multiple=True)
@click.argument("texts", metavar="TEXT...|-", nargs=-1, required=True)
def inspect_command(texts: tuple[str, ...], form: str, as_json: bool, profiles: tuple[Profile, ...]) -> int:
    """Say what identifiers are: parts, normal form and the steps to it, hierarchy, problems.

    One identifier gets a whole report, several get a line each. With - they are read from standard input, one a line.

    Exit code, the worst of many: 0 valid and strict, 1 valid by a liberal reading, 2 not valid.

    \b
      ararat inspect ark:/12345/x6-np1.pdf.en
      ararat inspect --json - < identifiers.txt
      ararat inspect --input json '"ark:12345/a\\u202eb"'
    """
    sheet = Sheet.of(sys.stdout)
    worst = DONE
    given = streams.identifiers(texts, form)
    first = list(itertools.islice(given, 2))
    for item in itertools.chain(first, given):
        if item.fault is not None:
            write(Sheet.of(sys.stderr).prose(f"ararat: {item.place}: {item.fault}", style="bad"), to=sys.stderr)
            worst = UNREADABLE
            continue
        report = examine(item.text, policies=profiles)
        worst = max(worst, _CODES[report.conformance])
        if as_json:
            streams.dump(report.as_dict())
        else:
            write(reports.report_lines(report, sheet) if len(first) == 1 else reports.row(report, sheet))
    return worst


@click.command("equal", short_help="Say whether two identifiers are equivalent.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
def equal_command(a: str, b: str) -> int:
    """Say whether two identifiers are equivalent, and where their normal forms part if they are not.

    Exit code: 0 equivalent, 1 not, 2 one of them cannot be read.
    """
    comparison = compare(a, b)
    write(reports.comparison_lines(comparison, Sheet.of(sys.stdout)))
    return {"equivalent": DONE, "different": NO, "unreadable": UNREADABLE}[comparison.verdict]


@click.command("find", short_help="List the identifiers in running text.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line; places are counted in code points from 0."
)
@click.argument("file", metavar="[FILE|-]", default="-")
def find_command(file: str, as_json: bool) -> int:
    """List the ARKs and URNs in running text, with line and column, and the normal form where that is another.

    Without FILE, or with -, the text is read from standard input. Where something else is probably meant than what
    stands there, closing punctuation say, that and the reason stand beside it.

    Exit code: 0 something was found, 1 nothing was, 66 the file cannot be read.
    """
    sheet = Sheet.of(sys.stdout)
    code = NO
    for found, normal_form in _readable(streams.matches(file)):
        code = DONE
        if as_json:
            match = found.match
            place = {"start": found.start, "end": found.end, "line": found.line, "column": found.column}
            readings = {"literal": match.literal, "suggestion": match.suggestion, "why": match.why}
            streams.dump(place | readings | {"normal_form": normal_form})
        else:
            write([reports.match_line(found.match, found.line, found.column, normal_form, sheet)])
    return code


def _readable(matches: Iterator[streams.Found]) -> Iterator[tuple[streams.Found, str]]:
    # A text that is one token is one match, whatever it is; here only what can be read was asked for.
    for found in matches:
        with suppress(IdentifierError):
            yield found, normalize(found.match.suggestion or found.match.literal)
