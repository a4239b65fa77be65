"""The registration of a URI/IRI scheme: its eleven fields, and its two forms, JSON and the template for a request::

    Scheme name: atlas
    Status: provisional
    Contact: The map room,
       maps@example.org

A line that begins with a label begins a field; any other continues the field before it. Labels are those of RFC 4395,
document 003 or RFC 7595, in any case. A round trip changes nothing: ``read(record.text()) == record``.
"""

from __future__ import annotations

import functools
import json
import re
import textwrap
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from ..text import display

LARGEST = 200_000
"""The maximum length of a record in characters."""


@dataclass(frozen=True, slots=True)
class TemplateField:
    """A field in the template: the attribute ``name`` of :class:`Registration`, and the ``label`` before the colon.
    ``others`` are further labels, in lower case, that :func:`read` accepts.
    """

    name: str
    label: str
    others: tuple[str, ...]
    hint: str


# The fields of the template are missing in our copy of the draft 4395bis (T-01). These are those of RFC 4395. The
# registration of "urn" in document 001, section 7.1, has them (S-01, SCH-048, SCH-051).
FIELDS = (
    TemplateField(
        "name", "Scheme name", ("uri/iri scheme name", "uri scheme name", "name"), "in lower case, without a colon"
    ),
    TemplateField("status", "Status", (), "permanent, provisional or historical"),
    TemplateField(
        "syntax",
        "Scheme syntax",
        ("uri/iri scheme syntax", "uri scheme syntax", "syntax"),
        "ABNF, or a reference to it",
    ),
    TemplateField(
        "semantics",
        "Scheme semantics",
        ("uri/iri scheme semantics", "uri scheme semantics", "semantics"),
        "the kind of resource, how to find it, and the operations on it",
    ),
    TemplateField(
        "encoding", "Encoding considerations", ("encoding",), "the encoding of text as characters of the identifier"
    ),
    TemplateField(
        "applications",
        "Applications/protocols that use this scheme name",
        (
            "applications/protocols that use this uri/iri scheme name",
            "applications/protocols that use this uri scheme name",
            "applications/protocols that use this uri/iri scheme",
            "applications/protocols that use this uri scheme",
            "applications/protocols that use this scheme",
            "applications/protocols",
            "applications",
        ),
        "the programs and protocols",
    ),
    TemplateField(
        "interoperability", "Interoperability considerations", ("interoperability",), "possible conflicts, or None"
    ),
    TemplateField("security", "Security considerations", ("security",), "the risks for users, or None"),
    TemplateField("contact", "Contact", (), "the person to ask"),
    TemplateField(
        "controller",
        "Change controller",
        ("author/change controller",),
        "the person or organization that may change this registration",
    ),
    TemplateField("references", "References", ("reference",), "the specification, or why it does not exist"),
)

_NOTE = "note"
_LABELS = {label: field.name for field in FIELDS for label in (field.label.lower(), *field.others)} | {_NOTE: _NOTE}
_LABEL = re.compile(r"([A-Za-z][A-Za-z/ ]{0,80}?)[ \t]*+:[ \t]*+(.*)", re.DOTALL)
_INDENT = "   "


class RegistrationError(ValueError):
    """Raised when a text is not a registration. ``line`` is the number of the wrong line from 1, or None for the whole
    text. ``str()`` of the error is printable ASCII.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message, line)
        self.message = message
        self.line = line

    def __str__(self) -> str:
        return display.escape(self.message if self.line is None else f"line {self.line:,}: {self.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A registration of a URI scheme: one text for each field of :data:`FIELDS`, empty if not stated, without outer
    white space.

    ``notes`` are later additions: "new vulnerabilities ... may need to be attached to existing documentation" (document
    003, section 9; SCH-053). :func:`~.checks.lint` checks the contents. A record has no end date (SCH-036).
    """

    name: str = ""
    status: str = ""
    syntax: str = ""
    semantics: str = ""
    encoding: str = ""
    applications: str = ""
    interoperability: str = ""
    security: str = ""
    contact: str = ""
    controller: str = ""
    references: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in FIELDS:
            object.__setattr__(self, field.name, _tidy(getattr(self, field.name)))
        object.__setattr__(self, "notes", tuple(note for each in self.notes if (note := _tidy(each))))

    def text(self) -> str:
        """Return the registration in the format of IANA's template (RFC 7595): lines ``Label: value``, without empty
        fields. :func:`read` parses it.
        """
        pairs = [(field.label, getattr(self, field.name)) for field in FIELDS]
        pairs += [("Note", note) for note in self.notes]
        return "".join(f"{label}: {_indent_rest(text)}\n" for label, text in pairs if text)

    def as_dict(self) -> dict[str, Any]:
        """Return the registration record as JSON values: every field, and the list of notes."""
        return {field.name: getattr(self, field.name) for field in FIELDS} | {"notes": list(self.notes)}

    def json(self) -> str:
        """Return the registration record as a JSON object in printable ASCII with a final line break."""
        return json.dumps(self.as_dict(), indent=2) + "\n"


def read(text: str) -> Registration:
    """Parse a registration record: JSON if it begins with a brace, else a template. Raises :class:`RegistrationError`,
    and no other error, for any other text.

    >>> read("URI scheme name: atlas\\nStatus: provisional\\n").status
    'provisional'
    >>> read("{}") == Registration()
    True
    >>> read("Status: permanent\\nstatus: historical")
    Traceback (most recent call last):
    ararat...RegistrationError: line 2: Status is repeated; it is already in line 1
    """
    if len(text) > LARGEST:
        raise RegistrationError(f"the record has {len(text):,} characters; at most {LARGEST:,} are allowed")
    text = text.removeprefix("\ufeff")
    return _read_json(text) if text.lstrip()[:1] == "{" else _read_template(text)


def registered_names() -> tuple[str, ...]:
    """Return the names of the schemes whose registration records are part of the package."""
    return ("ark", "urn")


@functools.cache
def registration(name: str) -> Registration | None:
    """Return the registration record of ``ark`` (ARK draft, section 9) or ``urn`` (URN draft, section 7.1), and None
    for another scheme.

    >>> registration("urn").status, registration("https")
    ('permanent', None)
    """
    if name not in registered_names():
        return None
    folder = resources.files(__spec__.parent.rpartition(".")[0]) / "data"
    return read((folder / f"registration-{name}.txt").read_text("utf-8"))


def _tidy(text: str) -> str:
    lines = (line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip()


def _indent_rest(text: str) -> str:
    # Indent each line, so that no line looks like the beginning of a field.
    first, *others = text.split("\n")
    return "\n".join([first, *(f"{_INDENT}{line}" if line else "" for line in others)])


def _read_template(text: str) -> Registration:
    fields_by_name: dict[str, tuple[int, list[str]]] = {}
    notes: list[list[str]] = []
    current: list[str] | None = None
    lines = textwrap.dedent(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    for number, line in enumerate(lines, 1):
        label = _LABEL.fullmatch(line)
        key = _LABELS.get(_fold_label(label[1])) if label else None
        if label and key == _NOTE:
            notes.append(current := [label[2]])
        elif label and key:
            if key in fields_by_name:
                named = next(field.label for field in FIELDS if field.name == key)
                raise RegistrationError(
                    f"{named} is repeated; it is already in line {fields_by_name[key][0]:,}", number
                )
            current = [label[2]]
            fields_by_name[key] = number, current
        elif current is not None:
            current.append(line)
        elif line.strip():
            raise RegistrationError("this line belongs to no field; a record begins with 'Scheme name: ...'", number)
    if not fields_by_name and not notes:
        raise RegistrationError("the text has no field; a record begins with 'Scheme name: ...'")
    texts = {key: "\n".join(pieces) for key, (_, pieces) in fields_by_name.items()}
    return Registration(**texts, notes=tuple("\n".join(pieces) for pieces in notes))


def _fold_label(label: str) -> str:
    return "/".join(part.strip() for part in label.lower().split("/"))


def _read_json(text: str) -> Registration:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RegistrationError(
            "the text begins like JSON but is not valid JSON", getattr(error, "lineno", None)
        ) from None
    names = {each.name for each in fields(Registration)}
    for key, each in value.items():
        if key not in names:
            raise RegistrationError(
                f"{key[:60]!r} is not a field of a record; expected one of {', '.join(sorted(names))}"
            )
        texts = each if key == "notes" and isinstance(each, list) else [each]
        if (key == "notes" and not isinstance(each, list)) or not all(isinstance(item, str) for item in texts):
            raise RegistrationError(f"{key!r} is not {'a list of texts' if key == 'notes' else 'a text'}")
    return Registration(**value)
