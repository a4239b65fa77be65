"""The verdict on an identifier: the most important fact about it, in one headline.

The home page, its title, lists, CSV, JSON and the command ``ararat inspect`` show the same verdict. It never states
that an identifier is persistent or that a resource exists (ARK-007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from ...identifiers.ark import check_character
from ...identifiers.registries import HAS_CHECK_CHARACTER, authority, headline_of_naan
from ...identifiers.text import characters, display

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding
    from ...identifiers import Problem, Report

Status = Literal["good", "warn", "bad", "plain"]

VerdictCode = Literal[
    "hidden-characters",
    "mistyped",
    "withdrawn",
    "outside-the-specification",
    "policy",
    "not-valid",
    "recorded",
    "holder-known",
    "valid",
]
CODES: tuple[VerdictCode, ...] = get_args(VerdictCode)
"""The kinds of verdicts, the most important first. A code never changes its meaning."""

GRAVITY = {"error": 0, "warning": 1, "note": 2}
"""The sort order of severities."""

MAX_TITLE = 160
"""The maximum length of a title in a headline, in characters."""

_TITLES = ("erc.what", "dc.title")
_CHARACTERS = {
    ":": ("a colon", "colons"),
    "'": ("an apostrophe", "apostrophes"),
    "!": ("an exclamation mark", "exclamation marks"),
    "&": ("an ampersand", "ampersands"),
    ",": ("a comma", "commas"),
    ";": ("a semicolon", "semicolons"),
    "(": ("a bracket", "brackets"),
    ")": ("a bracket", "brackets"),
}
_NUMBER_NAMES = {"nbn": "national bibliography number", "isbn": "ISBN", "issn": "ISSN", "uuid": "UUID", "oid": "OID"}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NOT_VALID = {"pseudo-ark": "Not a valid ARK", "urn": "Not a valid URN", "iri": "A URL without a valid ARK"}


@dataclass(frozen=True, slots=True)
class IdentifierVerdict:
    """The most important fact about an identifier.

    - ``code``: its kind. ``status``: selects the sign and the colour. ``tag``: the kind in a few words.
    - ``kind``: what the identifier is, such as "ARK, NAAN 12148".
    - ``headline``: the fact. It can contain the title of the resource or the name of an organization.
    - ``sentence``: one or two sentences about it, or "".
    - ``correction``: the identifier that was probably meant, or None.
    """

    code: VerdictCode
    status: Status
    tag: str
    kind: str
    headline: str
    sentence: str = ""
    correction: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """Return the fields as JSON values."""
        return asdict(self)


def verdict(report: Report, kind: str | None = None, binding: Binding | None = None) -> IdentifierVerdict:
    """Return the verdict on an identifier: the first of :data:`CODES` that applies.

    - ``kind``: the kind of its binding here or "withdrawn"; None or "" if it is not bound or if that is unknown.
    - ``binding``: its binding here, or None.

    >>> from ararat.identifiers import examine
    >>> found = verdict(examine("ark:/12148/btv1b8449691v"))
    >>> found.tag, found.headline
    ('valid', 'A valid ARK of the National Library of France')
    >>> verdict(examine("urn:isbn:9783161484101")).headline
    'Probably mistyped: the last digit should be 0'
    >>> verdict(examine("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ")).headline
    'An ARK of Family Search, with colons that the specification does not allow'
    """
    if count := sum(len(found[0]) for found in characters.hidden_runs(report.input)):
        return _hidden(report, count)
    if report.valid and (found := _mistyped(report)):
        return found
    if kind == "withdrawn":
        return _withdrawn(report, binding)
    if report.conformance == "outside":
        return _outside(report)
    if report.policy and report.form == "iri":
        return _by_policy(report, report.policy)
    if not report.valid:
        headline = _NOT_VALID.get(report.form, "Not an ARK or a URN")
        headline += f": {report.problems[0].message}" if report.problems else ""
        return IdentifierVerdict("not-valid", "bad", "not valid", "", headline, correction=report.suggestion)
    return _recorded(report, kind, binding) if kind else _valid(report)


def is_warned(report: Report) -> bool:
    """Return whether an identifier has an error or a warning, or a wrong check character."""
    return any(found.severity != "note" for found in report.problems) or _has_wrong_check_character(report)


def counted(count: int, thing: str) -> str:
    """Return a number with the noun ``thing`` in singular or plural. Numbers up to nine are words.

    >>> [counted(count, "change") for count in (1, 2, 1200)]
    ['one change', 'two changes', '1,200 changes']
    """
    return f"{in_words(count)} {thing}{'' if count == 1 else 's'}"


def in_words(count: int) -> str:
    """Format a number for a sentence: from zero to nine as a word, above with commas.

    >>> in_words(3), in_words(10), in_words(1200)
    ('three', '10', '1,200')
    """
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def holder(report: Report) -> str:
    """Return the name of the holder of the NAAN of an ARK for a sentence, or "" if it is not registered.

    >>> from ararat.identifiers import examine
    >>> holder(examine("ark:12148/x")), holder(examine("urn:isbn:0451450523"))
    ('the National Library of France', '')
    """
    return _authority(naan(report))[0]


def naan(report: Report) -> str:
    """Return the NAAN of an ARK without hyphens, also outside the specification, or "" for another text."""
    if report.normal_form and report.normal_form.startswith("ark:"):
        return report.normal_form[4:].partition("/")[0]
    return (report.parts.get("naan") or "").replace("-", "") if report.conformance == "outside" else ""


def title_of(binding: Binding | None) -> str:
    """Return the recorded title of a name that the public can see, shortened to :data:`MAX_TITLE`; "" without one."""
    if binding is None or binding.is_reserved:
        return ""
    text = next((text for element in _TITLES if (text := " ".join(binding.metadata.get(element, "").split()))), "")
    return text if len(text) <= MAX_TITLE else f"{text[: MAX_TITLE - 3]}..."


@lru_cache(1024)
def _authority(key: str) -> tuple[str, bool]:
    """Return the name of the holder of a NAAN, and whether it states that its names have a check character."""
    found = authority(key) if key else None
    if found is None:
        return "", False
    name = display.visible(found.name.strip())
    article = "the " if " of " in name and not name.lower().startswith("the ") else ""
    return f"{article}{name}", HAS_CHECK_CHARACTER in found.policy


def _has_wrong_check_character(report: Report) -> bool:
    form = report.normal_form
    if not form or not _authority(naan(report))[1]:
        return False
    found = check_character.find(form, required=True)
    return found is not None and found.covers is None


def _kind(report: Report, here: str = "") -> str:
    """Return what an identifier is, in a few words."""
    if report.form == "urn":
        nid = report.parts.get("nid")
        return f"URN, namespace {nid.lower()}" if nid else "URN"
    found = naan(report)
    if not found:
        return ""
    service = (
        ", with a metadata request" if report.service == "metadata" else ", with a query" * bool(report.inflection)
    )
    return f"ARK{' in a URL' * (report.form == 'embedded')}{service}{here}, NAAN {display.escape(found)}"


def _hidden(report: Report, count: int) -> IdentifierVerdict:
    names = dict.fromkeys(
        f"U+{ord(found[0][0]):04X} {characters.name(found[0][0])}" for found in characters.hidden_runs(report.input)
    )
    shown = ", ".join(list(names)[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    headline = f"Careful: {count:,} hidden character{'' if count == 1 else 's'}, this text is not what it seems"
    sentence = f"Readers do not see {shown}. Software reads another identifier than the one that you see."
    status: Status = "warn" if report.valid else "bad"
    return IdentifierVerdict(
        "hidden-characters", status, "hidden characters", _kind(report), headline, sentence, report.suggestion
    )


def _mistyped(report: Report) -> IdentifierVerdict | None:
    wrong = next((found for found in report.problems if "check digit is wrong" in found.message), None)
    if wrong is not None:
        digit = wrong.expected.rpartition(" ")[2]
        corrected = report.input[: wrong.start] + digit + report.input[wrong.end :]
        sentence = "The other digits need another check digit, so one digit is wrong or two are exchanged."
        headline = f"Probably mistyped: the last digit should be {digit}"
        return IdentifierVerdict("mistyped", "warn", "probably mistyped", _kind(report), headline, sentence, corrected)
    if not _has_wrong_check_character(report):
        return None
    sentence = f"Names of {holder(report)} end in a check character, and this one does not match. Some names have none."
    headline = "Probably mistyped: the check character does not match"
    return IdentifierVerdict(
        "mistyped", "warn", "probably mistyped", _kind(report), headline, sentence, report.suggestion
    )


def _withdrawn(report: Report, binding: Binding | None) -> IdentifierVerdict:
    title = title_of(binding)
    headline = f"Withdrawn: {title}" if title else "This name was withdrawn"
    sentence = f"{binding.reason.strip().rstrip('.')}." if binding is not None and binding.reason else ""
    sentence = sentence or "The name still belongs to the same thing, and is never given to another one."
    successor = None if binding is None else binding.successor
    kind = _kind(report, " recorded here")
    return IdentifierVerdict("withdrawn", "warn", "withdrawn", kind, headline, sentence, successor)


def _outside(report: Report) -> IdentifierVerdict:
    problem, name = report.problems[0], holder(report)
    who = f" of {name}" if name else f" under NAAN {display.escape(naan(report))}"
    wrong = report.input[problem.start : problem.end]
    sentence = "Only its holder knows what it means. Keep it whole when you cite it."
    if problem.code == "bad-char" and len(wrong) == 1 and (words := _CHARACTERS.get(wrong)):
        several = report.input[problem.start :].partition("?")[0].count(wrong) > 1
        headline = f"An ARK{who}, with {words[several]} that the specification does not allow"
        beginning = _beginning(report, problem)
        cut = f" or cut it to {display.percent(beginning)}, which is another name" if beginning else ""
        sentence = f"Strict software can refuse this ARK{cut}. Keep it whole when you cite it."
    else:
        headline = f"An ARK{who}, outside the specification: {problem.message}"
    tag = "outside the specification"
    return IdentifierVerdict("outside-the-specification", "warn", tag, _kind(report), headline, sentence)


def _beginning(report: Report, problem: Problem) -> str:
    """Return the valid beginning of an ARK outside the specification, or "" if it is long."""
    start = len(report.parts.get("prefix") or "")
    text = report.input[start : problem.start].rstrip("/.?#")
    return text if report.parts.get("name") and len(text) <= 60 else ""


def _recorded(report: Report, kind: str, binding: Binding | None) -> IdentifierVerdict:
    title = title_of(binding)
    what = "URN" if report.form == "urn" else "ARK"
    leads = ", and this site shows the thing" if kind == "served" else ""
    if binding is not None and kind in ("located", "related"):
        host = urlsplit(binding.target or "").hostname or "this site"
        leads = f", and leads to {'a page about it at ' * (kind == 'related')}{display.percent(host)}"
    elif kind == "described":
        leads = ", and visitors see its description"
    metadata = {} if binding is None else binding.metadata
    texts = (" ".join(metadata.get(name, "").split())[:MAX_TITLE] for name in ("erc.who", "erc.when"))
    about = ", ".join(text.rstrip(".") for text in texts if text and not text.startswith("(:"))
    sentence = f"{about}. " * bool(about) + f"The name is recorded here{leads}."
    if binding is not None and binding.is_test:
        # the registry states that such a name must not be bound. This site has set test_naans.
        sentence += " It is only a test."
    warned = is_warned(report)
    tag = "recorded here, with a warning" if warned else "valid, recorded here"
    status: Status = "warn" if warned else "good"
    return IdentifierVerdict("recorded", status, tag, _kind(report), title or f"A valid {what} of this site", sentence)


def _valid(report: Report) -> IdentifierVerdict:
    warned = is_warned(report)
    tag = "valid, with a warning" if warned else "valid"
    status: Status = "warn" if warned else "good"
    if report.form == "urn":
        return IdentifierVerdict("valid", status, tag, _kind(report), _urn(report), _first_warning(report))
    name = holder(report)
    components, variants = len(report.parts.get("components", ())), len(report.parts.get("variants", ()))
    parts = [counted(components, "component")] if components else []
    parts += [counted(variants, "variant")] if variants else []
    sentence = _first_warning(report) or (f"The name has {' and '.join(parts)}." if parts else "")
    special = headline_of_naan(naan(report))
    if name and special is None:
        return IdentifierVerdict("holder-known", status, tag, _kind(report), f"A valid ARK of {name}", sentence)
    headline = special or "A valid ARK"
    if not name and report.parts:
        sentence += f"{' ' * bool(sentence)}This copy of the registry has no holder of the NAAN."
    return IdentifierVerdict("valid", status, tag, _kind(report), headline, sentence)


def _first_warning(report: Report) -> str:
    message = next((found.message for found in report.problems if found.severity == "warning"), "")
    return f"{message[:1].upper()}{message[1:]}." if message else ""


def _urn(report: Report) -> str:
    takes = {name: profile["valid"] for name, profile in report.profiles.items()}
    # U-01: the headline names the specification.
    if not takes.get("urnbis-01", True):
        return "A valid URN in RFC 8141 but not in the 2011 draft"
    if not takes.get("rfc8141", True):
        return "A valid URN in the 2011 draft but not in RFC 8141"
    nid = report.parts["nid"].lower()
    if wrong := next((found.message for found in report.problems if found.code == "nss-invalid"), ""):
        return f"A valid URN, but {wrong}"
    return f"A valid {_NUMBER_NAMES.get(nid, 'URN')}" + (f" of the namespace {nid}" if nid not in _NUMBER_NAMES else "")


def _by_policy(report: Report, found: Mapping[str, Any]) -> IdentifierVerdict:
    """Return the verdict on an IRI that a policy covers."""
    findings = sorted(found["findings"], key=lambda each: GRAVITY[each["severity"]])
    headline = f"IRI in the {found['namespaces'][0]} namespace of {found['profile']}"
    result = "can be allocated, but" if found["allocatable"] else "must not be allocated:"
    headline += f": {result} {findings[0]['message']}" if findings else ": can be allocated"
    status: Status = "bad" if not found["allocatable"] else "warn" if found["codes"] else "good"
    tag = "allocatable" if found["allocatable"] else "not allocatable"
    return IdentifierVerdict("policy", status, tag, "IRI", headline)
