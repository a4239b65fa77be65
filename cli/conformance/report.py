"""Write the results of a conformance check as an HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from markupsafe import Markup, escape

from ... import __version__
from .resolver import RequirementResult

_PAGE = Markup("""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Conformance of {address}</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }}
body {{ max-width: 75rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8888 }}
td:nth-child(4) {{ overflow-wrap: anywhere }}
</style>
<h1>Conformance of {address}</h1>
<p>{date}. {passed} of {total} requests are answered as the standards require. Ararat {version}.</p>
<p>{command}</p>
<table>
<tr><th scope="col">Result<th scope="col">Client<th scope="col">Requirement<th scope="col">Request and answer</tr>
{rows}
</table>
""")
_ROW = Markup("<tr><td>{outcome}<td>{reader}<td>{reference}<td>{request}<br>{words}</tr>\n")


def html_page(address: str, command: str, results: Sequence[RequirementResult], now: datetime) -> bytes:
    """Return the results as an HTML page in UTF-8, with the checked ``address``, the ``command`` and a row for each."""
    rows = Markup("").join(
        _ROW.format(
            outcome=each.outcome, reader=each.reader, reference=each.reference, request=each.request, words=each.words
        )
        for each in results
    )
    passed = sum(each.outcome == "pass" for each in results)
    page = _PAGE.format(
        address=address, date=f"{now:%Y-%m-%d}", passed=passed, total=len(results), version=__version__, rows=rows,
        command=escape(command),
    )  # fmt: skip
    return page.encode()
