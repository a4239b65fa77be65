"""Turn the events of a trace into lines for a terminal, one at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ...tracing import messages
from ...tracing.events import End, Event, Hop, Start
from ..output import Sheet, Style, identifier, words

_OUTCOMES: dict[str, Style] = {"success": "good", "failure": "error", "refused": "error", "unspecified": "warning"}
_INDENT = 6
_BAR = 40


def event_lines(event: Event, sheet: Sheet) -> Iterator[str]:
    """Yield the lines of one event of a trace: its start, a hop (one request with its response), or its end."""
    if isinstance(event, Start):
        yield from _start(event, sheet)
    elif isinstance(event, Hop):
        yield from _hop(event, sheet)
    else:
        yield from _end(event, sheet)


def _start(start: Start, sheet: Sheet) -> Iterator[str]:
    yield from sheet.prose(identifier(start.identifier), style="strong")
    yield from sheet.prose(
        f"resolver {identifier(start.resolver)}, method {start.method}, at most {start.max_redirects} redirects",
        style="soft",
    )
    for note in start.notes:
        yield from sheet.prose(note.text)
    yield ""


def _hop(hop: Hop, sheet: Sheet) -> Iterator[str]:
    request = sheet.prose(f"{hop.method} {identifier(hop.url)}", indent=_INDENT)
    yield f"{sheet.paint(str(hop.number).rjust(3), 'soft')}   {next(request).lstrip()}"
    yield from request
    start, took = f"at {round(hop.at * 1000):,} ms", f"{round(hop.seconds * 1000):,} ms"
    if hop.status is None:
        why = hop.failure.text if hop.failure else "no answer"
        yield from sheet.prose(f"{start}: no answer after {took}: {why}", indent=_INDENT, style="error")
        yield from _bar(hop, sheet, "error")
        return
    style = _status_style(hop.status)
    target = f" -> {identifier(hop.target)}" if hop.target else ""
    when = f"in {took}" if hop.age is None else f"answered {messages.ago(hop.age)}"
    answer = f"{start}: {messages.status_words(hop.status)} {when}, {hop.state}{target}"
    yield from sheet.prose(answer, indent=_INDENT, style=style)
    yield from _bar(hop, sheet, style)
    if hop.location is not None and hop.location != hop.target:
        yield from sheet.prose(f"Location as received: {words(hop.location)}", indent=_INDENT, style="soft")
    for note in hop.notes:
        about = f" {identifier(note.href)}" if note.href else ""
        yield from sheet.prose(note.text + about, indent=_INDENT, style="soft")


def _bar(hop: Hop, sheet: Sheet, style: Style) -> Iterator[str]:
    # The bar helps readers of a terminal. The number is printed anyway.
    if sheet.cut:
        yield " " * _INDENT + sheet.paint("=" * max(1, round(messages.bar_length(hop.seconds) * _BAR)), style)


def _end(end: End, sheet: Sheet) -> Iterator[str]:
    yield ""
    yield from sheet.prose(f"{end.outcome.capitalize()}. {end.sentence}", style=_OUTCOMES[end.outcome])


def _status_style(status: int) -> Style:
    if status < 300:
        return "good"
    return "name" if status < 400 else "error"
