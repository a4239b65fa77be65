"""``ararat schemes``: registrations of URI/IRI schemes, and what they lack."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..identifiers import registries, scheme_registration
from ..identifiers.scheme_registration import PROFILES, QUESTIONS, Finding, Registration, RegistrationError
from . import streams
from .errors import DONE, NO, NO_INPUT, UNREADABLE, Refused, write
from .output import Sheet, Style, words

_STYLES: dict[str, Style] = {"error": "bad", "warning": "doubtful", "note": "soft"}


@click.group("schemes", short_help="Registrations of URI/IRI schemes.")
def schemes_command() -> None:
    """Registrations of URI/IRI schemes, by document 003 and by RFC 7595.

    NAME is a scheme whose record ships with Ararat (ark, urn), FILE a record as the template or as JSON, - standard
    input.
    """


@schemes_command.command("lint", short_help="Say what a record lacks or has wrong.")
@click.argument("record", metavar="NAME|FILE|-")
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default="4395bis", show_default=True, help="By which rules."
)
@click.option("--update", is_flag=True, help="FILE changes an entry that the registry has.")
@click.option("--questions", is_flag=True, help="Also ask what only a person can answer.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each finding.")
def lint_command(record: str, profile: str, update: bool, questions: bool, as_json: bool) -> int:
    """Say what a record lacks or has wrong. The guidelines are errors for a permanent scheme, warnings for others.

    Exit code: 0 nothing but notes, 1 errors or warnings, 2 it is no record, 66 the file cannot be read.
    """
    found, shipped = _read(record)
    findings = scheme_registration.lint(found, profile, update=update or shipped)
    if as_json:
        for finding in findings:
            streams.dump(finding.as_dict())
    else:
        _say(found, findings, profile)
    if questions and not as_json:
        write(Sheet.of(sys.stdout).prose("\nWhat only a person can answer:", style="strong"))
        for number, question in QUESTIONS:
            write(Sheet.of(sys.stdout).prose(f"{question} ({number})", indent=2))
    return NO if any(finding.severity != "note" for finding in findings) else DONE


@schemes_command.command("show", short_help="Show a record, and what the registry says.")
@click.argument("record", metavar="NAME|FILE|-")
@click.option("--json", "as_json", is_flag=True, help="The record as JSON.")
@click.option("--text", "as_text", is_flag=True, help="The record as the template, and nothing else.")
def show_command(record: str, as_json: bool, as_text: bool) -> int:
    """Show a record, or of a scheme without one what IANA's registry says of its name.

    Exit code: 0 there is a record or an entry, 1 there is neither, 2 it is no record, 66 the file cannot be read.
    """
    if as_json and as_text:
        raise click.UsageError("--json and --text exclude each other")
    sheet = Sheet.of(sys.stdout)
    shipped = scheme_registration.registration(record.lower())
    if shipped is None and _is_a_name(record):
        if as_json or as_text:
            raise Refused(f"no record of {record} ships with Ararat", exit_code=NO)
        write(_registry_lines(record, sheet))
        return DONE if registries.scheme(record) else NO
    found = shipped or _read(record)[0]
    if as_json:
        streams.dump(found.as_dict())
    elif as_text:
        # The last gate of a terminal is the sheet's; what goes on to a file is the record itself.
        write(found.text().splitlines() if not sys.stdout.isatty() else sheet.prose(found.text().rstrip()))
    else:
        write(_lines(found, sheet))
        write(_registry_lines(found.name, sheet))
    return DONE


@schemes_command.command("new", short_help="Begin a record.")
@click.argument("name", metavar="NAME")
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default="4395bis", show_default=True, help="Which fields."
)
def new_command(name: str, profile: str) -> int:
    """Write an empty record for a new scheme to standard output, and the way of a registration to standard error.

    Exit code: 0 the name could be registered, 1 it is taken, 2 it is no name.
    """
    reading = scheme_registration.read_name(name)
    if not reading.valid:
        raise Refused(
            f"{words(name, most=100)} is no name of a scheme",
            ("Expected", scheme_registration.RULES["scheme-name-syntax"].expected),
        )
    for field in scheme_registration.FIELDS:
        if field.name in PROFILES[profile].fields:
            begun = {"name": name.lower(), "status": "provisional"}.get(field.name, f"<{field.hint}>")
            write([f"{field.label}: {begun}"])
    sheet = Sheet.of(sys.stderr)
    for number, step in enumerate(scheme_registration.CHECKLIST, 1):
        write(sheet.prose(f"{number}. {step}"), to=sys.stderr)
    if not reading.registrable and name.islower():
        why = f"is registered, as {reading.status}" if reading.status else "is kept for examples"
        raise Refused(f"{name} {why}", exit_code=NO)
    return DONE


def _is_a_name(text: str) -> bool:
    return scheme_registration.VALID.fullmatch(text) is not None and not Path(text).exists()


def _read(record: str) -> tuple[Registration, bool]:
    """The record, and whether it is one of the package's."""
    if (shipped := scheme_registration.registration(record.lower())) is not None:
        return shipped, True
    if record != "-" and _is_a_name(record):
        known = " and ".join(scheme_registration.registered_names())
        what = f"there is no file {record}, and no record of a scheme of this name; there are those of {known}"
        raise Refused(what, exit_code=NO_INPUT)
    try:
        octets = _octets(record)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(f"{record} cannot be read: {why}", exit_code=NO_INPUT) from None
    try:
        return scheme_registration.read(octets.decode("utf-8", "surrogateescape")), False
    except RegistrationError as error:
        place = "standard input" if record == "-" else record
        raise Refused(
            f"{place}: {error}", ("Next", "ararat schemes new NAME begins a record"), exit_code=UNREADABLE
        ) from None


def _octets(file: str) -> bytes:
    # Four octets for each character, and one more so that what is longer is refused and not cut.
    most = 4 * scheme_registration.record.LARGEST + 1
    if file == "-":
        return streams.standard_input().read(most)
    with Path(file).open("rb") as stream:
        return stream.read(most)


def _say(record: Registration, findings: list[Finding], profile: str) -> None:
    sheet = Sheet.of(sys.stdout)
    width = max((len(finding.field) for finding in findings), default=0) + 2
    for finding in findings:
        severity = sheet.paint(finding.severity, _STYLES[finding.severity])
        write([f"{sheet.paint(finding.field.ljust(width), 'strong')}{severity}  {finding.code}"])
        write(sheet.prose(f"{finding.message}; expected: {finding.expected} ({finding.reference})", indent=width))
    counts = [(each, sum(finding.severity == each for finding in findings)) for each in _STYLES]
    said = ", ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for word, count in counts if count)
    name = words(record.name, most=60) or "a record without a name"
    status = words(record.status, most=60) or "without a status"
    write(sheet.prose(f"{name}, {status}, by {PROFILES[profile].title}: {said or 'nothing to find fault with'}."))


def _lines(record: Registration, sheet: Sheet) -> list[str]:
    rows = [(field.name, getattr(record, field.name) or "(nothing is said)") for field in scheme_registration.FIELDS]
    return [*sheet.table("Record", [*rows, *(("note", note) for note in record.notes)])]


def _registry_lines(name: str, sheet: Sheet) -> list[str]:
    entry = registries.scheme(name)
    day = registries.current().table(registries.SCHEMES).snapshot.date
    said = "not registered" if entry is None else f"{entry.status}; {entry.description or entry.key}"
    if name.lower() == scheme_registration.scheme_names.RESERVED:
        said += "; for examples in documentation alone"
    similar = (
        list(scheme_registration.similar_names(name))
        if scheme_registration.VALID.fullmatch(name) and entry is None
        else []
    )
    lines = [*sheet.field("Registry", f"{said} (as of {day})")]
    return [*lines, *sheet.field("Similar", ", ".join(similar[:8]))] if similar else lines
