"""The forms of a name: the metadata by profile, and the target with its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import time
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from werkzeug.datastructures import MultiDict

from ....bindings.names.binding import Binding, Passthrough
from ....bindings.names.errors import BindingError
from ....bindings.names.fields import FIELDS
from ....bindings.names.metadata import metadata, persistence
from ....bindings.names.metadata.numbers import COLUMNS
from ....identifiers.text.translatable import Translatable
from ...management import Fields
from ..blueprint import time_zone, with_time
from ..forms import FieldProblem, statement_of

PROFILES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "erc": tuple(metadata.full_name(each) for each in metadata.ELEMENTS),
        "dc": (
            *("dc.creator", "dc.title", "dc.subject", "dc.description", "dc.publisher", "dc.contributor", "dc.date"),
            *("dc.type", "dc.format", "dc.identifier", "dc.source", "dc.language", "dc.relation", "dc.coverage"),
            "dc.rights",
        ),
        "datacite": (
            *("datacite.creator", "datacite.title", "datacite.publisher", "datacite.publicationyear"),
            *("datacite.resourcetype", "datacite"),
        ),
        "schema": ("schema",),
    }
)
"""The metadata elements of each profile that the form has fields for."""

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "erc": Translatable("Basic"),
        "dc": "Dublin Core",
        "datacite": "DataCite",
        "schema": "schema.org",
        "other": Translatable("Other"),
    }
)

LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "erc.who": Translatable("Who: creator or provider"),
        "erc.what": Translatable("What: title"),
        "erc.when": Translatable("When: date"),
        "erc.where": Translatable("Where: location"),
        "erc.how": Translatable("How: form of the resource"),
        "erc.persistence": Translatable("Persistence: how long the name lasts"),
        "erc.availability": Translatable("Availability: how long the resource is available"),
        "erc.variance": Translatable("Variance: how the resource can change"),
        "erc.allocated": Translatable("Allocated: when the name was assigned"),
        "erc.policy": Translatable("Policy: URL of the rules for names"),
        "datacite": Translatable("DataCite record (XML)"),
        "schema": Translatable("schema.org record (JSON-LD)"),
    }
)

_LONG = frozenset({"datacite", "schema"})
_PREFIX = "m."
_NEW_NAME, _NEW_TEXT = "new-element", "new-text"
_MAX_SELECTOR = 200

MAX_ROWS = 200
"""The maximum number of rows of alternates that are read from a form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementField:
    """A form field for one element of the metadata, such as "erc.who". ``is_long``: it has several lines."""

    element: str
    label: str
    value: str
    is_long: bool

    @property
    def name(self) -> str:
        """The name of the form field."""
        return f"{_PREFIX}{self.element}"

    @property
    def statement(self) -> str | None:
        """The short name of a persistence statement that has a vocabulary; None for another element."""
        short = self.element.removeprefix("erc.")
        return short if short in persistence.TERMS else None


def element_fields(profile: str, recorded: Mapping[str, str], given: Mapping[str, str]) -> list[ElementField]:
    """Return the fields of a metadata profile with the values ``given`` in a refused form, or else the recorded ones.
    The profile "other" has the recorded elements that are in no profile.
    """
    known = {element for elements in PROFILES.values() for element in elements}
    elements: Iterable[str] = PROFILES.get(profile) or [each for each in recorded if each not in known]
    return [
        ElementField(
            element=each,
            label=LABELS.get(each, each),
            value=given.get(f"{_PREFIX}{each}", recorded.get(each, "")),
            is_long=each in _LONG or "\n" in recorded.get(each, ""),
        )
        for each in elements
    ]


def read_metadata(form: MultiDict[str, str], recorded: Mapping[str, str]) -> tuple[Fields, dict[str, FieldProblem]]:
    """Return the elements that a form changes, as :class:`Fields`, and the problems by the names of the form fields.
    An empty value deletes an element. Unchanged elements are omitted.
    """
    given = {name[len(_PREFIX) :]: text for name, text in form.items() if name.startswith(_PREFIX)}
    if form.get(_NEW_NAME, "").strip():
        given[form[_NEW_NAME].strip()] = form.get(_NEW_TEXT, "")
    problems: dict[str, FieldProblem] = {}
    texts: dict[str, str] = {}
    for element, text in given.items():
        if _is_recorded(element, text, recorded):
            continue
        texts[element] = _read(text)
        try:
            metadata.check({element: texts[element]}, deletions=True)
        except BindingError as error:
            problems[f"{_PREFIX}{element}" if f"{_PREFIX}{element}" in form else _NEW_NAME] = FieldProblem.of(error)
    return Fields(metadata=texts), problems


def merge_statements(form: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return a form with one value for each persistence statement: its term and its words are joined."""
    one = MultiDict(form.items(multi=True))
    for element in persistence.TERMS:
        field = f"{_PREFIX}erc.{element}"
        if field in form:
            one[field] = statement_of(field, form)
    return one


def is_recorded(field: str, text: str, recorded: Mapping[str, str]) -> bool:
    """Return whether the user did not change a form field, except for spaces around the value."""
    return _is_recorded(field.removeprefix(_PREFIX), text, recorded)


def _is_recorded(element: str, text: str, recorded: Mapping[str, str]) -> bool:
    return _read(text) == recorded.get(element, "").strip()


def _read(text: str) -> str:
    # A browser sends line ends as CRLF. A field of one line has no line ends.
    return text.replace("\r\n", "\n").strip()


class AlternateRow(NamedTuple):
    """A row of the form of the target: another target, for clients that ask for a media type, a language, or both."""

    media_type: str = ""
    language: str = ""
    target: str = ""

    @property
    def selector(self) -> str:
        """The selector of the alternate, such as "text/html;en"."""
        return ";".join(filter(None, (self.media_type, self.language)))

    @classmethod
    def of(cls, selector: str, target: str) -> Self:
        """Return the form row of an alternate. ``selector`` is a media type, a language, or both with a semicolon.

        >>> AlternateRow.of("text/html;en", "/en"), AlternateRow.of("de", "/de").media_type
        (AlternateRow(media_type='text/html', language='en', target='/en'), '')
        """
        media_type, _, language = selector.rpartition(";") if ";" in selector else ("", "", selector)
        if "/" in language:
            media_type, language = language, ""
        return cls(media_type, language, target)


def alternate_rows(form: MultiDict[str, str] | None, binding: Binding) -> list[AlternateRow]:
    """Return the rows of alternates of a sent form, at most :data:`MAX_ROWS`. Without a form, return those of the
    binding and an empty row.
    """
    if form is None:
        return [*(AlternateRow.of(*each) for each in binding.alternates.items()), AlternateRow()]
    columns = [[text.strip() for text in form.getlist(f"alternate-{name}")] for name in ("type", "language", "target")]
    return [AlternateRow(*each) for each in zip_longest(*(each[:MAX_ROWS] for each in columns), fillvalue="")]


def embargo_text(binding: Binding) -> str:
    """Return the embargo of a name as the text of a form field, or an empty text without one.
    Midnight in the time zone of the caller is a date; another time has the offset of the time zone.
    """
    if binding.embargo is None:
        return ""
    local = binding.embargo.astimezone(time_zone())
    return f"{local:%Y-%m-%d}" if local.time() == time() else local.isoformat()


def _passthrough(value: str | None) -> Passthrough:
    match value:
        case None | "" | "no":
            return False
        case "given":
            return "given"
        case _:
            return True


def number_texts(binding: Binding) -> dict[str, str]:
    """Return the numbers of a name as the texts of form fields, by the names in :data:`COLUMNS`. A vertical line is
    between several numbers.
    """
    shown = binding.thing_numbers
    several = (" | ".join(each) for each in (shown.further, shown.former))
    return dict(zip(COLUMNS, (shown.current or "", *several), strict=True))


def _numbers(form: MultiDict[str, str], binding: Binding) -> dict[str, str] | None:
    """Return the numbers that a form changes by their kinds, or None."""
    recorded = number_texts(binding)
    given = {kind: form[column].strip() for column, kind in COLUMNS.items() if column in form}
    changed = {
        kind: given[kind] for column, kind in COLUMNS.items() if given.get(kind, text := recorded[column]) != text
    }
    return changed or None


TEXTS: Final = tuple(
    field for field in FIELDS if field.type == "text" and field.request == "fields" and field.name != "target"
)
"""The fields with a text that the form of the target has besides it."""


def read_target_fields(form: MultiDict[str, str], binding: Binding) -> tuple[Fields, dict[str, FieldProblem]]:
    """Return the target and its settings that a form changes, and the problems of its fields by their names."""
    problems: dict[str, FieldProblem] = {}
    alternates = dict.fromkeys(binding.alternates, "")
    for number, row in enumerate(alternate_rows(form, binding), 1):
        if not row.target:
            continue  # an empty row, or an alternate that is deleted
        is_swapped = (row.media_type and "/" not in row.media_type) or "/" in row.language
        if is_swapped or not 0 < len(row.selector) <= _MAX_SELECTOR:
            problems["alternates"] = FieldProblem(
                Translatable(
                    "Row %(number)s of the other targets needs a media type, a language, or both.", number=number
                ),
                Translatable("a media type such as text/html, a language such as en, or both"),
            )
            break
        if alternates.get(row.selector.lower()):
            problems["alternates"] = FieldProblem(
                Translatable(
                    "Row %(number)s of the other targets has the same media type and language as a row before.",
                    number=number,
                ),
                Translatable("one target for each media type and language"),
            )
            break
        alternates[row.selector.lower()] = row.target
    kind = form.get("kind", binding.kind)
    target = form.get("target", "").strip()
    if not target and kind != "described":
        problems["target"] = FieldProblem(
            Translatable("The target is missing."), Translatable("a URL, or the response with the description")
        )
    given: dict[str, Any] = {
        "target": None if kind == "described" else target,
        "kind": kind,
        "redirect": 307 if form.get("redirect") == "307" else 302,
        "listed": form.get("listed", "yes") != "no",
        "passthrough": _passthrough(form.get("passthrough")),
        "scope": "subtree" if "subtree" in form else "name",
    }
    changed: dict[str, Any] = {name: value for name, value in given.items() if value != getattr(binding, name)}
    # The recorded resource is repeated, because it confirms a new target.
    texts: dict[str, Any] = {field.name: form.get(field.name, "").strip() or None for field in TEXTS}
    return (
        Fields(
            alternates=alternates if alternates != binding.alternates else None,
            numbers=_numbers(form, binding) if not COLUMNS.keys().isdisjoint(form) else None,
            embargo=with_time(form["embargo"].strip()) if "embargo" in form and binding.is_reserved else None,
            **changed,
            **texts,
        ),
        problems,
    )
