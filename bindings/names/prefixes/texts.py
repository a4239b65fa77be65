"""The texts of a prefix record: :data:`TEXTS` declares each one once. Columns, options, the form and the labels of the
desk, the schemas of the API, and the checks and lists below are derived from the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from ....identifiers.ark import grammar
from ....identifiers.ark import length as lengths
from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError
from . import character_sets, delegation
from .patterns import read_form, require_check

MAX_TEXT = 4000
"""The maximum number of characters of a text."""

State = Literal["active", "delegated", "retired"]
STATES: tuple[State, ...] = ("active", "delegated", "retired")
"""The treatment of new names below a prefix.

- "active": names are minted here.
- "delegated": another resolver has the names, and mints them. Names that are not bound here lead there.
- "retired": no name is minted any more, and all names that are bound keep their answers. A prefix stays retired.
"""

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.ASCII)
_MINTABLE = re.compile(f"ark:[{grammar.BASE29}]+/[{grammar.BASE29}]*")


def check_hosts(text: str) -> str:
    """Return host names, separated by white space or a comma, in lower case and separated by spaces. Raises
    :class:`BindingError` (``prefix-hosts``).

    >>> check_hosts("Museum.example,  iiif.example.org")
    'museum.example iiif.example.org'
    """
    hosts = validation.check(text, "prefix-hosts", Translatable("Hosts"), MAX_TEXT).lower().replace(",", " ").split()
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise BindingError(
                "prefix-hosts", Translatable("%(shown)s is not the name of a host", shown=validation.quote(host, 100))
            )
    return " ".join(dict.fromkeys(hosts))


def check_pattern(prefix: str, text: str) -> str:
    """Return the form of the names to mint below a prefix (:func:`~.patterns.read_form`). Raises :class:`BindingError`
    (``prefix-pattern``).
    """
    form = read_form(validation.check(text, "prefix-pattern", Translatable("Pattern"), MAX_TEXT))
    if form is None:
        raise BindingError(
            "prefix-pattern", Translatable("%(text)s is not a pattern of names", text=validation.quote(text))
        )
    if prefix.startswith("ark:") and not _MINTABLE.fullmatch(prefix):
        raise BindingError(
            "prefix-pattern",
            Translatable("%(prefix)s is not a shoulder under which names are minted", prefix=validation.quote(prefix)),
        )
    require_check(prefix, form.check, "prefix-pattern")
    if len(prefix) + form.length + bool(form.check) > lengths.ALWAYS_ACCEPTED:
        raise BindingError("prefix-pattern", Translatable("names of the pattern %(text)s are too long", text=text))
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefixText:
    """The declaration of a text of a prefix record.

    - ``name``: of the database column, the API member and the option, such as "may_change".
    - ``label``: of the desk. ``question``, ``hint``: of its form; without a question, the label is shown.
    - ``column``: of tables; by default ``prefix.NAME``.
    - ``check``: takes the prefix and the text, and returns the stored form; by default any text of one line.
    - ``group``, ``rank``, ``control``: the place in the form. The group is "" for a text that people do not set in it.
    - ``is_exact``: whether spelling is not corrected. ``is_address``: whether it is a URL.
    - ``choices``: the permitted values with their labels in the form, the default first.
    - ``option``, ``metavar``, ``asked``: the help, the word for the value, and the question of ``ararat prefix set``.
    - ``is_promise``: whether the text belongs to the policy of the institution.
    - ``is_inherited``: whether it applies to all names below the prefix.
    - ``is_delegation``: whether it is about the place of the names. A PUT without such a text does not delete it.
    """

    name: str
    label: str
    question: str = ""
    hint: str = ""
    column: str = ""
    check: Callable[[str, str], str] | None = None
    group: Literal["what", "promise", "names", "place", ""] = "names"
    rank: int = 0
    control: Literal["text", "area", "statement", "choice"] = "text"
    is_exact: bool = False
    is_address: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    option: str = ""
    metavar: str = "TEXT"
    asked: str = ""
    is_promise: bool = False
    is_inherited: bool = False
    is_delegation: bool = False

    def stored_form(self, prefix: str, text: str) -> str:
        """Return the stored form of a text for a prefix. Raises :class:`BindingError` with a code ``prefix-…``."""
        if self.check is not None:
            return self.check(prefix, text)
        return validation.check(text, "prefix-text", self.label, MAX_TEXT)


TEXTS: Final[list[PrefixText]] = [
    PrefixText(
        name="who",
        label=Translatable("Who"),
        column="who",
        group="promise",
        rank=1,
        question=Translatable("Who is responsible for the promise?"),
        hint=Translatable("The name of the organization, for example: Museum of the Lake."),
        option="The responsible organization.",
        asked="Who is responsible for the promise?",
    ),
    PrefixText(
        name="what",
        label=Translatable("What"),
        column="what",
        group="what",
        question=Translatable("What the names identify"),
        hint=Translatable("For example: maps of the collection."),
        option="The kind of things that the names identify.",
    ),
    PrefixText(
        name="contact",
        label=Translatable("Contact"),
        group="promise",
        rank=7,
        question=Translatable("Contact: whom can visitors ask?"),
        hint=Translatable("An e-mail address, a URL or another text. Visitors see it."),
        option="An e-mail address, a URL or another text.",
        asked="Whom can visitors ask?",
    ),
    PrefixText(
        name="statement",
        label=Translatable("Statement"),
        column="persistence",
        group="promise",
        rank=3,
        control="area",
        question=Translatable("Statement of persistence: for how long, in your words"),
        hint=Translatable("For example: we keep these identifiers as long as the museum exists."),
        option="For how long, in your words: the persistence statement of names without their own.",
        asked="For how long, in your words?",
        is_promise=True,
        is_inherited=True,
    ),
    PrefixText(
        name="availability",
        label=Translatable("Availability"),
        column="availability",
        group="promise",
        rank=2,
        control="statement",
        question=Translatable("For how long?"),
        hint=Translatable("A term has a fixed meaning, which the public pages explain in 13 languages."),
        option="For how long: finite, indefinite, lifetime or subinfinite, or other words.",
        metavar="TERM",
        asked="For how long? A term with words after a comma, or other words",
        is_promise=True,
        is_inherited=True,
    ),
    PrefixText(
        name="variance",
        label=Translatable("Variance"),
        column="variance",
        group="promise",
        rank=4,
        control="statement",
        question=Translatable("How can an item change?"),
        option="How items change: frozen, keeping, fixing, rising, molting or waxing, or other words.",
        metavar="TERM",
        asked="How can an item change? A term with words after a comma, or other words",
        is_promise=True,
        is_inherited=True,
    ),
    PrefixText(
        name="may_change",
        label=Translatable("What may change"),
        group="promise",
        rank=5,
        control="area",
        question=Translatable("What else may change?"),
        hint=Translatable("For example: descriptions are corrected, and pictures are replaced by better ones."),
        option="What else may change.",
        asked="What else may change?",
        is_promise=True,
        is_inherited=True,
    ),
    PrefixText(
        name="at_end",
        label=Translatable("What happens at the end"),
        group="promise",
        rank=6,
        control="area",
        question=Translatable("What happens when you cannot keep the promise?"),
        hint=Translatable("For example: the state archive takes over the identifiers and the items."),
        option="What happens when the institution ends.",
        asked="What happens when you cannot keep the promise?",
        is_promise=True,
        is_inherited=True,
    ),
    PrefixText(
        name="hosts",
        label=Translatable("Hosts"),
        check=lambda _, text: check_hosts(text),
        rank=1,
        is_exact=True,
        question=Translatable("Hosts of the institution"),
        hint=Translatable(
            "For example: museum.example iiif.example.org. Subdomains are included. The check of promises reports "
            "targets on other hosts."
        ),
        option="The hosts of the institution, with spaces between them.",
        metavar="HOSTS",
        is_inherited=True,
    ),
    PrefixText(
        name="pattern",
        label=Translatable("Pattern"),
        check=check_pattern,
        rank=2,
        is_exact=True,
        question=Translatable("Pattern of minted names"),
        hint=Translatable("For example 29^8+check: 8 of 29 characters and a check character. 10^6: 6 digits."),
        option="The default form of minted names: 29^8 for 8 betanumeric characters, 10^8 for 8 digits. A check "
        "character follows: for NAAN and Name with +check at the end, for the Name with +name, for URNs below "
        "urn:nbn:de: with +nbn.",
        metavar="FORM",
        is_inherited=True,
    ),
    PrefixText(
        name="characters",
        label=Translatable("Characters"),
        check=lambda _, text: character_sets.check(text),
        rank=3,
        is_exact=True,
        question=Translatable("Permitted characters"),
        hint=Translatable("Characters and ranges of new names, such as 0-9a-z. An empty field permits all."),
        option="The permitted characters of new names: betanumeric, digits, or a list of characters and ranges such "
        "as 0-9a-f. Slashes, dots and hyphens are always permitted.",
        metavar="SET",
        is_inherited=True,
    ),
    PrefixText(
        name="state",
        label=Translatable("State"),
        check=lambda _, text: delegation.check_state(text),
        group="place",
        rank=1,
        control="choice",
        hint=Translatable("A retired prefix stays retired. Its names keep their answers."),
        choices=(
            ("active", Translatable("Active: names are minted here")),
            ("delegated", Translatable("Delegated: another resolver has the names")),
            ("retired", Translatable("Retired: no name is minted any more")),
        ),
        option="delegated: another resolver has the names. retired: no name is minted any more; there is no way back.",
        is_delegation=True,
    ),
    PrefixText(
        name="resolver",
        label=Translatable("Resolver"),
        check=lambda _, text: delegation.check_resolver(text),
        group="place",
        rank=2,
        is_exact=True,
        is_address=True,
        hint=Translatable(
            "Of a delegated prefix: the address to which a name is appended, such as https://resolver.example."
        ),
        option="The resolver of a delegated prefix, to which the name is appended; or a template as for "
        "`ararat rule set`.",
        metavar="URL",
        is_delegation=True,
    ),
    PrefixText(
        name="minter",
        label=Translatable("Minter"),
        check=lambda _, text: delegation.check_address(text),
        group="place",
        rank=3,
        is_exact=True,
        is_address=True,
        hint=Translatable("Of a delegated prefix: the address where its names are minted."),
        option="The place that mints the names of a delegated prefix.",
        metavar="URL",
        is_delegation=True,
    ),
    PrefixText(
        name="about",
        label=Translatable("Page about the names"),
        check=lambda _, text: delegation.check_address(text),
        group="place",
        rank=4,
        is_exact=True,
        is_address=True,
        hint=Translatable("A page for people. Names of a delegated prefix without a resolver lead there."),
        option="A page for people about the names. Without --resolver names lead there.",
        metavar="URL",
        is_delegation=True,
    ),
    # JSON: the institutions that were responsible before. Only a succession and a table set it.
    PrefixText(
        name="lineage",
        label=Translatable("Earlier institutions"),
        check=lambda _, text: delegation.check_lineage(text),
        group="",
    ),
    # The hold of all names below the prefix: its end in RFC 3339, and its reason. They are set and deleted together.
    PrefixText(name="hold_until", label=Translatable("On hold until"), column="hold_until", group=""),
    PrefixText(name="hold_reason", label=Translatable("Reason of the hold"), column="hold_reason", group=""),
]
"""All texts of a record, in the order of display. A further one is one entry here."""

HOLD_FIELDS: Final = ("hold_until", "hold_reason")
"""The texts of a record about its hold."""

BY_NAME: Final = {each.name: each for each in TEXTS}
RECORDED: Final = tuple(BY_NAME)
"""The names of all texts of a record."""

FIELDS: Final = tuple(name for name in RECORDED if name not in HOLD_FIELDS)
"""Those besides its hold."""

EDITED: Final = tuple(each.name for each in TEXTS if each.group)
"""Those that people set."""

PROMISES: Final = tuple(each.name for each in TEXTS if each.is_promise)
"""Those that state what an institution promises: its policy, together with ``who`` and ``contact``."""

INHERITED: Final = tuple(each.name for each in TEXTS if each.is_inherited)
"""Those that apply to all names below a prefix."""

DELEGATION: Final = tuple(each.name for each in TEXTS if each.is_delegation)
"""Those about the state of a prefix and the place of its names."""

COLUMNS: Final = {each.name: each.column or f"prefix.{each.name}" for each in TEXTS}
"""The column of tables of each text."""
