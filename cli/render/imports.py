"""Turn the result of an import into lines for a terminal and into JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from ...bindings.imports.keyed_rows import ANSWERS, QUESTIONS
from ..output import Sheet, Style, format_count, words
from .bindings import difference_lines, name_and_target
from .operations import undo_line

if TYPE_CHECKING:
    from ...bindings.imports.sources.checksum import Checksum
    from ...bindings.imports.sources.importing import Migration
    from ...bindings.imports.summary import ImportEffect, NotedLine, Summary

_STYLES: dict[str, Style] = {
    "bound": "good",
    "published": "warning",
    "updated": "good",
    "claimed": "name",
    "relocated": "name",
    "withdrawn": "warning",
    "reserved": "good",
    "set": "good",
    "refused": "error",
    "left out": "error",
    "warning": "warning",
}
_CHANGES = {
    "added": "to add",
    "published": "to publish",
    "updated": "to update",
    "claimed": "to claim",
    "relocated": "to move",
    "withdrawn": "to withdraw",
    "reserved": "to reserve",
    "rules": "rules to set",
    "prefixes": "records to set",
    "settings": "counters to set",
}
_DONE = {"relocated": "moved", "rules": "rules set", "prefixes": "records set", "settings": "counters set"}
_NO_NAME = "the row has no name", "an ARK or a URN; to mint names for such rows, add --mint SHOULDER"
_LINE = 10
_INDENT = 20
_MAX_OMITTED = 10


def refused_lines(
    summary: Summary, sheet: Sheet, report_file: str | None = None, word: str = "refused"
) -> Iterator[str]:
    """Yield the lines about the refused rows of a table, each with its line number and reason.
    ``report_file`` has all refused rows, and is named if not all are listed. ``word`` begins each line, such as "left
    out". The first row with an error code also states the expected value.
    """
    yield from _rest_lines(word, summary.refused, summary.refusals, sheet, report_file, advise=True)


def warned_lines(summary: Summary, sheet: Sheet, report_file: str | None = None) -> Iterator[str]:
    """Yield the lines about the rows of a table that have a warning, each with its line number and reason.
    ``report_file`` has all warnings, and is named if not all are listed.
    """
    yield from _rest_lines("warning", summary.warned, summary.warnings, sheet, report_file)


def change_lines(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """Yield the lines of the first changes of an import, each with its line number and the recorded values."""
    for imported in summary.listed:
        yield from _difference_lines(imported, sheet)
    more = sum(getattr(summary, name) for name in _CHANGES) - len(summary.listed)
    if more:
        yield f"... and {more:,} more"


def _difference_lines(imported: ImportEffect, sheet: Sheet) -> Iterator[str]:
    from ...middleware import Binding

    after, before = imported.after, imported.before
    if not isinstance(after, Binding):
        cells = after.cells()
        leads = f" -> {cells['target']}" if "target" in cells else ""
        yield from _line(imported.outcome, imported.line, words(f"{cells['identifier']}{leads}"), sheet)
        return
    yield from _line(imported.outcome, imported.line, name_and_target(before, after), sheet)
    if before is not None:
        yield from difference_lines(before, after, sheet, indent=_INDENT)


def result_lines(summary: Summary, sheet: Sheet, word: str = "refused") -> Iterator[str]:
    """Yield the lines of the result of an import: how the file was read, the counts, and how to undo it.
    ``word`` is that for the rows that were not imported, such as "left out".
    """
    yield from _reading(summary, sheet)
    yield from sheet.prose(_counts(summary, word))
    yield from undo_line(summary.operation, sheet)


def omitted_lines(migration: Migration, sheet: Sheet) -> Iterator[str]:
    """Yield lines about the first values of a dump that are not imported, each with its reason and a remedy."""
    for line, name, (element, reason, remedy) in migration.omitted[:_MAX_OMITTED]:
        place = sheet.paint(f"line {line}".ljust(_LINE - 1), "soft")
        yield f"{sheet.paint('omitted'.ljust(_LINE), 'warning')}{place} {name}"
        yield from sheet.prose(f"{words(element)}: {words(reason, most=200)}; {words(remedy)}", indent=_INDENT)


def dump_lines(migration: Migration, sheet: Sheet, report: str | None) -> Iterator[str]:
    """Yield the lines of the result of an import of a dump: what was read, what was not imported, and the checksums."""
    states = ", ".join(f"{migration.states[state]:,} {state}" for state in sorted(migration.states))
    number = sum(migration.states.values())
    yield from sheet.prose(f"Read {format_count(number, 'name')} of {migration.source}: {states or 'none'}.")
    if migration.minted:
        yield from sheet.prose(f"Minted and never bound, so reserved: {migration.minted:,}.")
    if migration.appended:
        said = "Targets with a query or fragment, to which the rest of a request is appended as text"
        yield from sheet.prose(f"{said}: {migration.appended:,}.")
    if migration.skipped:
        yield from sheet.prose(f"Names of other systems or of tests, not imported: {migration.skipped:,}.")
    if migration.omissions:
        where = f"see {report}" if report else "use --report FILE to list all"
        yield from sheet.prose(f"Values not imported, or changed: {migration.omissions:,}; {where}.")
    if left := migration.summary.refusals:
        yield from sheet.prose(f"Names that cannot be bound, so left out: {left:,}.", style="error")
    yield from _checksum("Dump", migration.given, sheet)
    yield from _checksum("Database", migration.result, sheet)
    if migration.result is not None:
        same = migration.result == migration.given
        message = "The database has all names of the dump with their targets."
        if not same and migration.summary.refusals:
            message = "The database lacks the names that were left out, or has other targets than the dump."
        elif not same:
            message = "The database has other names or targets than the dump; a target may be written in another way."
        yield from sheet.prose(message, style="good" if same else "warning")


def as_dict(summary: Summary) -> dict[str, Any]:
    """Return a summary for JSON: the counts by name, ``refused``, ``warned``, ``listed`` and ``read_as``."""
    from ...middleware import Binding

    counts = {each.name: getattr(summary, each.name) for each in fields(summary)}
    listed = [
        {
            "line": each.line,
            "outcome": each.outcome,
            "before": each.before and each.before.as_dict(),
            "after": each.after.as_dict() if isinstance(each.after, Binding) else each.after.cells(),
        }
        for each in summary.listed
    ]
    noted = {name: [each._asdict() for each in sorted(counts[name])] for name in ("refused", "warned")}
    return counts | noted | {"listed": listed, "read_as": asdict(summary.read_as)}


def dump_as_dict(migration: Migration) -> dict[str, Any]:
    """Return the attributes of a migration for JSON, without the counts of its lines. ``states`` count names."""
    return {
        "source": migration.source,
        "states": dict(migration.states),
        "skipped": migration.skipped,
        "minted": migration.minted,
        "appended": migration.appended,
        "omissions": migration.omissions,
        "omitted": [
            {"line": value.line, "identifier": value.identifier, **value.omitted._asdict()}
            for value in migration.omitted
        ],
        "given": migration.given and migration.given._asdict(),
        "result": migration.result and migration.result._asdict(),
    }


def _rest_lines(
    word: str, lines: list[NotedLine], number: int, sheet: Sheet, report_file: str | None, *, advise: bool = False
) -> Iterator[str]:
    advised: set[str] = set()
    for line in sorted(lines):
        yield from _line(word, line.line, line.identifier, sheet)
        message, expected = _NO_NAME if line.code == "empty" else (line.message, line.entry.expected)
        yield from sheet.prose(f"{message} ({line.code})", indent=_INDENT)
        if advise and line.code not in advised:
            advised.add(line.code)
            yield from sheet.prose(f"expected {expected}", indent=_INDENT)
            if line.code == "number-damaged":
                yield from sheet.prose("or --keep-numbers: the recorded number stays", indent=_INDENT)
            for answer in ANSWERS.get(line.code, ()):
                yield from sheet.prose(f"or --confirm {answer}: {QUESTIONS[answer]}", indent=_INDENT)
    if number > len(lines):
        where = f"see {report_file}" if report_file else "use --report FILE to list them all"
        yield from sheet.prose(f"... and {number - len(lines):,} more lines; {where}")


def _reading(summary: Summary, sheet: Sheet) -> Iterator[str]:
    """Return the encoding, the separator and the ignored columns, unless they are the usual ones."""
    read_as = summary.read_as
    usual = read_as.delimiter in (None, ",", "\t") and read_as.encoding == "UTF-8"
    if not usual:
        separator = {None: "", "\t": ", separator tab"}.get(read_as.delimiter, f", separator {read_as.delimiter}")
        yield from sheet.prose(f"Read as {read_as.encoding}{separator}.")
    if read_as.guessed:
        yield from sheet.prose(
            "The file is not UTF-8, so its encoding is a guess. If letters are wrong, set --encoding."
        )
    if read_as.ignored:
        yield from sheet.prose(f"Ignored columns: {', '.join(map(words, read_as.ignored))}.")


def _counts(summary: Summary, word: str) -> str:
    changes = [
        f"{number:,} {_with_number(_DONE.get(name, name) if summary.kept or summary.written else dry, number)}"
        for name, dry in (*_CHANGES.items(), ("unchanged", "unchanged"))
        if (number := getattr(summary, name))
    ]
    if summary.refusals:
        changes.append(f"{summary.refusals:,} {word}")
    if summary.warnings:
        changes.append(format_count(summary.warnings, "warning"))
    opening = "Written." if summary.written else "Nothing was written."
    if summary.kept and not summary.written:
        opening = f"Written: the first {summary.kept:,} lines. Correct the refused lines and run the command again."
    lines = format_count(summary.lines, "line")
    return f"{opening} {': '.join(filter(None, [lines, ', '.join(changes)]))}."


def _with_number(word: str, number: int) -> str:
    noun, _, rest = word.partition(" ")
    return f"{noun.removesuffix('s')} {rest}" if number == 1 and noun in ("rules", "records", "counters") else word


def _line(word: str, number: int, text: str, sheet: Sheet) -> Iterator[str]:
    """Return a word, a line number and a text. The text goes on its own line if the terminal is too narrow."""
    place = f"line {number}".ljust(_LINE - 1)
    head = f"{sheet.paint(word.ljust(_LINE), _STYLES.get(word, ''))}{sheet.paint(place, 'soft')}"
    if sheet.cut and _LINE + len(place) + 1 + len(text) > sheet.width:
        yield head.rstrip()
        yield from sheet.prose(text, indent=4)
    else:
        yield f"{head} {sheet.paint(text)}"


def _checksum(label: str, checksum: Checksum | None, sheet: Sheet) -> Iterator[str]:
    if checksum is not None:
        yield from sheet.field(label, f"{format_count(checksum.names, 'name')}, SHA-256 {checksum.sha256}")
