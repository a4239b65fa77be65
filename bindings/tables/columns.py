"""The columns of a table of bindings, in every format: convert a row to fields, and a binding to a row. An empty cell,
or one with only white space, states nothing. In a file for people, a cell that a spreadsheet program would run as a
formula has a mark, which an import removes (:mod:`.formulas`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..names import naming, validation
from ..names.binding import NOTHING, STATUSES, Binding, Passthrough, Status, rfc3339
from ..names.errors import BindingError, TableError
from ..names.fields import FIELDS, Fields
from ..names.metadata import metadata, numbers
from ..names.metadata.metadata import ELEMENTS
from ..names.naming import NO_RULES, NamingRules
from ..names.prefixes import holds
from . import wrong_text

# The order for a reader: what a name leads to, what it is, and then the rest.
_FIRST = ("target", "kind", "resource", "status", "passthrough", "scope")
_LAST = tuple(field.name for field in FIELDS if field.name not in _FIRST and field.type != "texts")
COLUMNS = ("identifier", *_FIRST, *numbers.COLUMNS, *ELEMENTS, *_LAST)
"""The columns of a table. Only the first is required. Other columns are alternates, and elements such as dc.title."""

TEST = "test"
"""The column that marks names for tests with "yes". An export has it only if there are such names."""

_KNOWN = frozenset((*COLUMNS, TEST))
_SIMPLE = _KNOWN - frozenset(ELEMENTS)
_ALTERNATE = re.compile(r"target\[.*\]", re.DOTALL | re.IGNORECASE)
_TRUTH: dict[str, Passthrough] = {"true": True, "yes": True, "1": True, "normal": True}
_TRUTH |= {"false": False, "no": False, "0": False, "given": "given"}
_TRUTHS = {True: "true", False: "false"}
_MAX_UNKNOWN = 20


class Row(NamedTuple):
    """A row of an imported table. A missing column is the same as an empty cell.

    - ``line``: the number of its first line in the file, from 1.
    - ``actor``: the person that made the change; None for the actor of the import.
    - ``minted``: whether the name in its cells is a new one of this import.
    - ``fault``: the error for which the row is refused, such as an error of a formula in a cell.
    - ``notes``: the codes and messages of warnings, such as about a date that is shown in another way.
    """

    line: int
    cells: Mapping[str, str]
    actor: str | None = None
    minted: bool = False
    fault: BindingError | None = None
    notes: Sequence[tuple[str, str]] = ()


class Columns(NamedTuple):
    """The mapping from the headings of an imported table to :data:`COLUMNS`. ``ignore_unknown`` ignores all other
    headings. Case, and white space around a heading, are not significant.

    >>> Columns({"ARK": "identifier"}).find(" ark "), Columns().find("Target[text/html]"), Columns().find("Titre")
    ('identifier', 'target[text/html]', None)
    """

    renamed: Mapping[str, str] = NOTHING
    ignore_unknown: bool = False

    def find(self, name: str) -> str | None:
        """Return the column that a heading of a table means, or None if it is unknown."""
        name = name.strip()
        for heading, ours in self.renamed.items():
            if heading.strip().casefold() == name.casefold():
                name = ours.strip()
                break
        folded = name.lower()
        if folded in _KNOWN:
            return folded
        if _ALTERNATE.fullmatch(name):
            return f"target{name[6:]}"
        return name if metadata.is_name(name) else None

    def unknown(self, names: Sequence[str]) -> str:
        """Return the error message about unknown headings, with a suggestion for each of the first."""
        shown = ", ".join(validation.quote(name.strip()) + _suggestion(name) for name in names[:_MAX_UNKNOWN])
        if len(names) > _MAX_UNKNOWN:
            shown += ", ..."
        if re.match("(?:https?://|ark:|urn:)", names[0].strip(), re.IGNORECASE):
            return Translatable.counted(
                "unknown column %(columns)s; the first line must contain the names of the columns",
                "unknown columns %(columns)s; the first line must contain the names of the columns",
                len(names),
                columns=shown,
            )
        return Translatable.counted(
            "unknown column %(columns)s; map it to a column, or ignore unknown columns",
            "unknown columns %(columns)s; map them to columns, or ignore unknown columns",
            len(names),
            columns=shown,
        )

    def refusal(self, names: Sequence[str], file: str, line: int) -> TableError:
        """Return the error for unknown headings in a line of a file."""
        error = TableError("table-column", self.unknown(names), file, line, validation.quote(names[0]))
        # A name that a message has to escape could not be copied.
        named = next((name.strip()[:20] for name in names if validation.quote(name) == name), "")
        error.mapping = (named, _closest(named) if named else None)
        return error


def _suggestion(name: str) -> str:
    close = _closest(name)
    return f" (did you mean {close}?)" if close else ""


def _closest(name: str) -> str | None:
    return next(iter(get_close_matches(name.strip().lower(), COLUMNS, 1)), None)


def fields(cells: Mapping[str, str], rules: NamingRules = NO_RULES) -> Fields:
    """Convert the texts of a row by column to checked :class:`Fields`. A line break in a one-line value, such as a
    title, becomes a space. Raises :class:`BindingError` if a value is not valid.

    >>> fields({"identifier": "ark:/12345/d-oc", "target": "/1", "redirect": "307"}).redirect
    307
    """
    values: dict[str, Any] = {}
    elements: dict[str, str] = {}
    alternates: dict[str, str] = {}
    own_numbers: dict[str, str] = {}
    broken = wrong_text.broken(cells)
    for column, cell in cells.items():
        if cell and not cell.isspace():
            if column in broken:
                cell = wrong_text.on_one_line(cell)
            if column in numbers.COLUMNS:
                own_numbers[numbers.COLUMNS[column]] = cell
            elif column in _SIMPLE:
                values[column] = cell
            elif column.startswith("target["):
                alternates[column[7:-1]] = cell
            else:
                elements[column] = cell
    if not _CONVERTED.isdisjoint(values):
        for column, convert in _CONVERTERS:
            if column in values:
                values[column] = convert(values[column])
    if "kind" not in values and ("target" in values or values.get("status") not in ("withdrawn", "reserved")):
        # Only a withdrawn or reserved name needs no target.
        values["kind"] = "located"
    identifier, test = values.pop("identifier", ""), values.pop(TEST, None)
    if test is not None:
        _check_test(test, identifier)
    values |= {"alternates": alternates or None, "metadata": elements or None, "numbers": own_numbers or None}
    return Fields(**values).for_name(identifier, rules)


def _check_test(text: str, identifier: str) -> None:
    """Refuse a mark of a test that does not fit the name: it would be permanent."""
    is_test = naming.is_test(naming.key_of(identifier))
    if _TRUTH.get(text.lower()) is not is_test:
        shown = validation.quote(text)
        raise BindingError(
            "test-unknown",
            Translatable("the column test has the value %(text)s, but this is a test", text=shown)
            if is_test
            else Translatable(
                "the column test has the value %(text)s, but this is not a test: only names below NAAN 99999 are tests",
                text=shown,
            ),
        )


def cells(binding: Binding) -> dict[str, str]:
    """Convert a binding to the cells of a row, in the order of :data:`COLUMNS`, without empty ones and the revision."""
    result = {"identifier": binding.identifier}
    result |= {column: cell(getattr(binding, column)) for column in _FIRST}
    if binding.numbers:
        result |= {column: binding.numbers.get(kind, "") for column, kind in numbers.COLUMNS.items()}
    result |= metadata.shorten_names(binding.metadata)
    result |= {column: cell(getattr(binding, column)) for column in _LAST}
    if binding.spelling == binding.identifier:
        del result["spelling"]
    result |= {alternate_column(selector): target for selector, target in binding.alternates.items()}
    if binding.is_test:
        result[TEST] = "yes"
    return {column: text for column, text in result.items() if text}


def cell(value: Any) -> str:
    """Convert the ``value`` of a field of a binding to the text of a table cell. None becomes an empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, datetime):
        return rfc3339(value)
    return _TRUTHS[value] if isinstance(value, bool) else str(value)


def alternate_column(selector: str) -> str:
    """Return the column of the alternate target with a selector, such as ``target[text/html;en]``."""
    return f"target[{selector}]"


def _status(text: str) -> Status:
    for permitted in STATUSES:
        if text == permitted:
            return permitted
    raise BindingError("status-unknown", Translatable("the status %(text)s is unknown", text=validation.quote(text)))


def redirect(text: str) -> int:
    """Convert the cell "redirect" to an HTTP status. Raises :class:`BindingError` if it is not a number of three
    digits.
    """
    if len(text) == 3 and text.isascii() and text.isdecimal():
        return int(text)
    raise BindingError(
        "redirect-status", Translatable("the redirect status %(text)s is not allowed", text=validation.quote(text))
    )


def _listed(text: str) -> bool:
    listed = _TRUTH.get(text.lower())
    if not isinstance(listed, bool) or text.lower() == "normal":
        raise BindingError("listed-unknown", Translatable("listed has the value %(text)s", text=validation.quote(text)))
    return listed


def _passthrough(text: str) -> Passthrough:
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    raise BindingError(
        "passthrough-unknown", Translatable("passthrough has the value %(text)s", text=validation.quote(text))
    )


# Converters for the columns that are not text, in the order of validation.
_CONVERTERS = (
    ("status", _status),
    ("redirect", redirect),
    ("passthrough", _passthrough),
    ("listed", _listed),
    ("created", validation.instant),
    ("changed", validation.instant),
    ("hold_until", holds.read_end),
    ("embargo", validation.instant),
)
_CONVERTED = frozenset(column for column, _ in _CONVERTERS)
