"""The command ``schemes``: check, show and create registrations of URI schemes (RFC 7595)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...identifiers import registries, scheme_registration
from ...identifiers.scheme_registration import PROFILES, QUESTIONS, Registration, RegistrationError, RegistrationFinding
from .. import streams
from ..errors import DONE, NO, NO_INPUT, UNREADABLE, CommandError, write
from ..output import Sheet, Style, format_count, words

_STYLES: dict[str, Style] = {"error": "error", "warning": "warning", "note": "soft"}


@click.group("schemes", short_help="Check registrations of URI schemes.")
def schemes_command() -> None:
    """Check registrations of URI schemes, such as https, against RFC 7595 or the draft of 2011, 4395bis.

    Names of schemes are compared without regard to case, as RFC 3986 requires.

    A record is the registration of one scheme with IANA. NAME is a built-in record (ark, urn). FILE is a record in the
    form of the template or JSON. - is standard input.
    """


@schemes_command.command("lint", short_help="Find problems in a record.")
@click.argument("record", metavar="NAME|FILE|-")
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default="7595", show_default=True, help="The rules to apply."
)
@click.option("--update", is_flag=True, help="Treat FILE as a change of a registered scheme.")
@click.option("--questions", is_flag=True, help="Also print the questions for a reviewer.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each finding.")
def lint_command(record: str, profile: str, update: bool, questions: bool, as_json: bool) -> int:
    """Find missing and wrong fields in the registration of a URI scheme.

    Guidelines are errors for a permanent scheme and warnings for others.

    Exit code: 0 no findings or only notes, 1 errors or warnings, 2 not a record, 66 the file cannot be read.
    """
    registration, shipped = _read(record)
    findings = scheme_registration.lint(registration, profile, update=update or shipped)
    if as_json:
        for finding in findings:
            streams.dump(finding.as_dict())
    else:
        _print_findings(registration, findings, profile)
    if questions and not as_json:
        write(Sheet.of(sys.stdout).prose("\nQuestions for a reviewer:", style="strong"))
        for _, question in QUESTIONS:
            write(Sheet.of(sys.stdout).prose(question, indent=2))
    return NO if any(finding.severity != "note" for finding in findings) else DONE


@schemes_command.command("show", short_help="Show a record and its entry in the registry.")
@click.argument("record", metavar="NAME|FILE|-")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
@click.option("--text", "as_text", is_flag=True, help="Print the record in the form of the template.")
def show_command(record: str, as_json: bool, as_text: bool) -> int:
    """Show the registration record of a URI scheme, and the entry of the scheme in the registry of IANA.

    Exit code: 0 a record or an entry exists, 1 neither exists, 2 not a record, 66 the file cannot be read.
    """
    if as_json and as_text:
        raise click.UsageError("--json and --text exclude each other")
    sheet = Sheet.of(sys.stdout)
    shipped = scheme_registration.registration(record.lower())
    if shipped is None and _is_a_name(record):
        if as_json or as_text:
            raise CommandError(f"there is no built-in record of {record}", exit_code=NO)
        write(_registry_lines(record, sheet))
        return DONE if registries.scheme(record) else NO
    registration = shipped or _read(record)[0]
    if as_json:
        streams.dump(registration.as_dict())
    elif as_text:
        # On a terminal the sheet escapes control characters. A file gets the record unchanged.
        write(
            registration.text().splitlines() if not sys.stdout.isatty() else sheet.prose(registration.text().rstrip())
        )
    else:
        write(_lines(registration, sheet))
        write(_registry_lines(registration.name, sheet))
    return DONE


@schemes_command.command("new", short_help="Create an empty record.")
@click.argument("name", metavar="NAME")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="7595",
    show_default=True,
    help="The rules that define the fields.",
)
def new_command(name: str, profile: str) -> int:
    """Print an empty registration record for a new URI scheme, and the steps of a registration to standard error.

    Exit code: 0 the name is available, 1 it is taken, 2 not a valid name.
    """
    reading = scheme_registration.read_name(name)
    if not reading.valid:
        raise CommandError(
            f"{words(name, most=100)} is not a valid scheme name",
            ("Expected", scheme_registration.RULES["scheme-name-syntax"].expected),
        )
    for field in scheme_registration.FIELDS:
        if field.name in PROFILES[profile].fields:
            value = {"name": name.lower(), "status": "provisional"}.get(field.name, f"<{field.hint}>")
            write([f"{field.label}: {value}"])
    sheet = Sheet.of(sys.stderr)
    for number, step in enumerate(scheme_registration.CHECKLIST, 1):
        write(sheet.prose(f"{number}. {step}"), to=sys.stderr)
    if name != name.lower():
        write(sheet.prose(f"The record has the name in lower case: {name.lower()}.", style="warning"), to=sys.stderr)
    if not scheme_registration.read_name(name.lower()).registrable:
        why = f"is already registered ({reading.status})" if reading.status else "is reserved for examples"
        raise CommandError(f"{name} {why}", exit_code=NO)
    return DONE


def _is_a_name(text: str) -> bool:
    return scheme_registration.VALID.fullmatch(text) is not None and streams.does_not_exist(text)


def _read(record: str) -> tuple[Registration, bool]:
    """Return the record, and whether it is built-in."""
    if (shipped := scheme_registration.registration(record.lower())) is not None:
        return shipped, True
    if record != "-" and _is_a_name(record):
        names = " and ".join(scheme_registration.registered_names())
        what = f"there is no file and no built-in record named {record}; built-in are {names}"
        raise CommandError(what, exit_code=NO_INPUT)
    try:
        content = _read_bytes(record)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(f"cannot read {record}: {why}", exit_code=NO_INPUT) from None
    try:
        return scheme_registration.read(content.decode("utf-8", "surrogateescape")), False
    except RegistrationError as error:
        place = "standard input" if record == "-" else record
        raise CommandError(
            f"{place}: {error}", ("Fix", "to create a record, run: ararat schemes new NAME"), exit_code=UNREADABLE
        ) from None


def _read_bytes(file: str) -> bytes:
    # At most four bytes for each character. One more, so that a longer file is refused and not cut.
    most = 4 * scheme_registration.record.LARGEST + 1
    if file == "-":
        return streams.standard_input().read(most)
    with Path(file).open("rb") as stream:
        return stream.read(most)


def _print_findings(record: Registration, findings: list[RegistrationFinding], profile: str) -> None:
    sheet = Sheet.of(sys.stdout)
    width = max((len(finding.field) for finding in findings), default=0) + 2
    for finding in findings:
        severity = sheet.paint(finding.severity, _STYLES[finding.severity])
        write([f"{sheet.paint(finding.field.ljust(width), 'strong')}{severity}  {finding.code}"])
        write(sheet.prose(f"{finding.message}; expected: {finding.expected} ({finding.reference})", indent=width))
    counts = [(each, sum(finding.severity == each for finding in findings)) for each in _STYLES]
    problems = ", ".join(format_count(count, word) for word, count in counts if count)
    name = words(record.name, most=60) or "unnamed record"
    status = words(record.status, most=60) or "no status"
    write(sheet.prose(f"{name}, {status}, by {PROFILES[profile].title}: {problems or 'no problems found'}."))


def _lines(record: Registration, sheet: Sheet) -> list[str]:
    rows = [(field.name, getattr(record, field.name) or "(empty)") for field in scheme_registration.FIELDS]
    return [*sheet.table("Record", [*rows, *(("note", note) for note in record.notes)])]


def _registry_lines(name: str, sheet: Sheet) -> list[str]:
    entry = registries.scheme(name)
    day = registries.current().table(registries.SCHEMES).snapshot.date
    status = "not registered" if entry is None else f"{entry.status}; {entry.description or entry.key}"
    if name.lower() == scheme_registration.scheme_names.RESERVED:
        status += "; reserved for examples"
    similar = (
        list(scheme_registration.similar_names(name))
        if scheme_registration.VALID.fullmatch(name) and entry is None
        else []
    )
    lines = [*sheet.field("Registry", f"{status} (as of {day})")]
    return [*lines, *sheet.field("Similar", ", ".join(similar[:8]))] if similar else lines
