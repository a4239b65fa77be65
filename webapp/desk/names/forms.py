"""The forms of a name: the metadata by profile, and the target with its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from werkzeug.datastructures import MultiDict

from ....bindings.names.binding import Binding
from ....bindings.names.errors import BindingError
from ....bindings.names.fields import FIELDS
from ....bindings.names.metadata import metadata
from ...management import Fields
from ..forms import FieldProblem

PROFILES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "erc": tuple(metadata.full_name(each) for each in metadata.ELEMENTS),
        "dc": ("dc.creator", "dc.title", "dc.publisher", "dc.date", "dc.type", "dc.identifier", "dc.rights"),
        "datacite": (
            *("datacite.creator", "datacite.title", "datacite.publisher", "datacite.publicationyear"),
            *("datacite.resourcetype", "datacite"),
        ),
        "schema": ("schema",),
    }
)
"""The metadata elements of each profile that the form has fields for."""

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {"erc": "Basic", "dc": "Dublin Core", "datacite": "DataCite", "schema": "schema.org", "other": "Other"}
)

LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "erc.who": "Who: creator or provider",
        "erc.what": "What: title",
        "erc.when": "When: date",
        "erc.where": "Where: location",
        "erc.how": "How: form of the resource",
        "erc.persistence": "Persistence: how long the name lasts",
        "erc.availability": "Availability: how long the resource is available",
        "erc.variance": "Variance: how the resource can change",
        "erc.allocated": "Allocated: when the name was assigned",
        "erc.policy": "Policy: URL of the rules for names",
        "datacite": "DataCite record (XML)",
        "schema": "schema.org record (JSON-LD)",
    }
)

_LONG = frozenset({"datacite", "schema"})
_PREFIX = "m."
_NEW_NAME, _NEW_TEXT = "new-element", "new-text"
_MAX_SELECTOR = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementField:
    """A field of the form: the element, its label and value, and whether it needs several lines."""

    element: str
    label: str
    value: str
    is_long: bool

    @property
    def name(self) -> str:
        """The name of the form field."""
        return f"{_PREFIX}{self.element}"


def element_fields(profile: str, recorded: Mapping[str, str], given: Mapping[str, str]) -> list[ElementField]:
    """Return the fields for a profile. ``given`` has the values of a refused form by the names of its fields.

    The profile "other" has the recorded elements that no profile has.
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
    """Return the changed metadata of a form, and the problems of its fields. An empty value deletes an element."""
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


def is_recorded(field: str, text: str, recorded: Mapping[str, str]) -> bool:
    """Return whether the user left a form field unedited, except for spaces around the recorded value."""
    return _is_recorded(field.removeprefix(_PREFIX), text, recorded)


def _is_recorded(element: str, text: str, recorded: Mapping[str, str]) -> bool:
    return _read(text) == recorded.get(element, "").strip()


def _read(text: str) -> str:
    # A browser sends line ends as CRLF. A field of one line has no line ends.
    return text.replace("\r\n", "\n").strip()


def alternates_text(binding: Binding) -> str:
    """Return the alternates of a name as the text of a form: one in each line, such as ``text/html;en = URL``."""
    return "\n".join(f"{selector} = {target}" for selector, target in binding.alternates.items())


def _passthrough(value: str | None) -> Literal["no", "normal", "given"]:
    match value:
        case None | "" | "no":
            return "no"
        case "given":
            return "given"
        case _:
            return "normal"


TEXTS: Final = tuple(
    field for field in FIELDS if field.type == "text" and field.request == "fields" and field.name != "target"
)
"""The fields with a text that the form of the target has besides it."""


def read_place(form: MultiDict[str, str], binding: Binding) -> tuple[Fields, dict[str, FieldProblem]]:
    """Return the target and its settings from a form, and the problems of its fields."""
    problems: dict[str, FieldProblem] = {}
    alternates = dict.fromkeys(binding.alternates, "")
    for line in filter(str.strip, form.get("alternates", "").splitlines()):
        # A regular expression for this takes quadratic time in a line of white space.
        selector, _, address = (part.strip() for part in line.partition("="))
        if not 1 <= len(selector) <= _MAX_SELECTOR or address.split() != [address]:
            problems["alternates"] = FieldProblem(
                "A line is not an alternate.", "a media type, a language or both, an equals sign, and a URL"
            )
            break
        alternates[selector] = address
    kind = form.get("kind", binding.kind)
    target = form.get("target", "").strip()
    if not target and kind != "described":
        problems["target"] = FieldProblem("The target is missing.", "a URL, or the response with the description")
    texts: dict[str, Any] = {field.name: form.get(field.name, "").strip() or None for field in TEXTS}
    return (
        Fields(
            target=None if kind == "described" else target,
            kind=kind,
            redirect=307 if form.get("redirect") == "307" else 302,
            listed=form.get("listed", "yes") != "no",
            passthrough=_passthrough(form.get("passthrough")),
            scope="subtree" if "subtree" in form else "name",
            alternates=alternates,
            **texts,
        ),
        problems,
    )
