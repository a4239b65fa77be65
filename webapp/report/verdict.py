"""The verdict on an identifier: the most important fact about it, in one headline, the same in all interfaces.
It never states that an identifier is persistent or that a resource exists (ARK-007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...identifiers import examine, numbers
from ...identifiers.ark import check_character
from ...identifiers.registries import HAS_CHECK_CHARACTER, authority, headline_of_naan, holder_of_test
from ...identifiers.registries.holder_names import HolderName
from ...identifiers.text import characters, display
from ...identifiers.text.translatable import NumberWord, Translatable, join_texts
from .standing import standing

if TYPE_CHECKING:
    from ...identifiers import Problem, Report
    from .site_record import SiteRecord
    from .standing import Standing, Status

VerdictCode = Literal[
    "hidden-characters",
    "mistyped",
    "withdrawn",
    "outside-the-specification",
    "policy",
    "other-scheme",
    "not-valid",
    "on-hold",
    "link-dead",
    "link-moved",
    "recorded",
    "part",
    "delegated",
    "retired",
    "not-known",
    "unread",
    "holder-known",
    "valid",
]
CODES: tuple[VerdictCode, ...] = get_args(VerdictCode)
"""The kinds of verdicts, the most important first. A code never changes its meaning."""

_UNSAID = ("on-hold", "link-dead", "link-moved", "recorded", "part", "retired", "unread")
# The headline does not mention a warning.
_WARNED = ("holder-known", "valid")

GRAVITY = {"error": 0, "warning": 1, "note": 2}
"""The sort order of severities."""

_CHARACTERS = {
    ":": (Translatable("a colon"), Translatable("colons")),
    "'": (Translatable("an apostrophe"), Translatable("apostrophes")),
    "!": (Translatable("an exclamation mark"), Translatable("exclamation marks")),
    "&": (Translatable("an ampersand"), Translatable("ampersands")),
    ",": (Translatable("a comma"), Translatable("commas")),
    ";": (Translatable("a semicolon"), Translatable("semicolons")),
    "(": (Translatable("a bracket"), Translatable("brackets")),
    ")": (Translatable("a bracket"), Translatable("brackets")),
}
_VALID = {
    "nbn": Translatable("A valid national bibliography number"),
    "isbn": Translatable("A valid ISBN"),
    "issn": Translatable("A valid ISSN"),
    "uuid": Translatable("A valid UUID"),
    "oid": Translatable("A valid OID"),
}


@dataclass(frozen=True, slots=True)
class IdentifierVerdict:
    """The most important fact about an identifier.
    ``status`` selects the sign and the colour; ``tag`` is a few words. ``kind`` is what the identifier is, such as
    "ARK, NAAN 12148". ``sentence`` is one or two sentences, or "". ``headline`` can contain the title of the resource
    or the name of an organization. ``correction`` is the identifier that was probably meant.
    """

    code: VerdictCode
    status: Status
    tag: str
    kind: str
    headline: str
    sentence: str = ""
    correction: str | None = None

    @property
    def added_tag(self) -> str:
        """The tag for a list or a comparison: "" if the headline says the same."""
        return self.tag if self.code in _UNSAID or (self.code in _WARNED and self.status == "warn") else ""

    def as_dict(self) -> dict[str, str | None]:
        """Return the attributes of the verdict by name, as JSON values."""
        return asdict(self)


def verdict(report: Report, site: SiteRecord | None = None) -> IdentifierVerdict:
    """Return the verdict on an identifier, from its report and from what this site knows about it (None: nothing).

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
        return _hidden_characters(report, count)
    here = None if site is None else standing(site)
    # A recorded name is not mistyped. A similar name that is recorded here is a better correction than a digit.
    if here is None or (here.code == "not-known" and here.correction is None):
        is_mistyped = site is not None and site.is_mistyped
        found = _find_mistyped(report, is_mistyped=is_mistyped) if report.valid else None
        if found is not None:
            return found
    if here is not None and here.code == "withdrawn":
        return _here(report, here)
    if report.conformance == "outside":
        return _outside(report)
    if report.policy and report.form == "iri":
        return _by_policy(report, report.policy)
    if not report.valid:
        if (other := numbers.other(report.input)) is not None:
            return _other_scheme(other)
        tag, headline = Translatable("not valid"), _not_valid(report)
        number = numbers.suggestion(report.input)
        # The number has no label, and its last digit is wrong: the second fault is the one to correct.
        if number is not None and (found := _find_mistyped(examine(number.identifier), is_mistyped=False)) is not None:
            return found
        if report.suggestion and (report.form == "none" or number is not None):
            meant = Translatable("Did you mean %(identifier)s?", identifier=display.percent(report.suggestion))
            return IdentifierVerdict("not-valid", "bad", tag, "", meant, f"{headline}.", report.suggestion)
        return IdentifierVerdict("not-valid", "bad", tag, "", headline, correction=report.suggestion)
    if here is not None:
        return _here(report, here)
    return _unread(report) if site is not None and site.unread else _valid(report)


def is_warned(report: Report) -> bool:
    """Return whether an identifier has an error or a warning, or a wrong check character."""
    return any(found.severity != "note" for found in report.problems) or _has_wrong_check_character(report)


def holder(report: Report) -> str:
    """Return the name of the holder of the NAAN of an ARK for a sentence, or "" if the NAAN is not registered.

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


@lru_cache(1024)
def _authority(key: str) -> tuple[str, bool]:
    """Return the name of the holder of a NAAN, and whether it states that its names have a check character."""
    found = authority(key) if key else None
    if found is None:
        return "", False
    return HolderName(found.name, found.native_name, found.where), HAS_CHECK_CHARACTER in found.policy


def _has_wrong_check_character(report: Report) -> bool:
    form = report.normal_form
    if not form or not _authority(naan(report))[1]:
        return False
    found = check_character.find(form, required=True)
    return found is not None and found.covers is None


def _other_scheme(other: numbers.OtherIdentifier) -> IdentifierVerdict:
    """Return the verdict on a DOI or a Handle, which Ararat names and does not read."""
    headline = Translatable("A DOI, which is not an ARK or a URN")
    if other.scheme == "Handle":
        headline = Translatable("A Handle, which is not an ARK or a URN")
    sentence = Translatable("Its resolver is %(host)s.", host=other.resolver.removeprefix("https://"))
    return IdentifierVerdict("other-scheme", "plain", other.scheme, other.scheme, headline, sentence, other.address)


def _not_valid(report: Report) -> str:
    why = report.problems[0].message if report.problems else ""
    match report.form:
        case "pseudo-ark":
            return Translatable("Not a valid ARK: %(problem)s", problem=why) if why else Translatable("Not a valid ARK")
        case "urn":
            return Translatable("Not a valid URN: %(problem)s", problem=why) if why else Translatable("Not a valid URN")
        case "iri" if why:
            return Translatable("A URL without a valid ARK: %(problem)s", problem=why)
        case "iri":
            return Translatable("A URL without a valid ARK")
        case _ if why:
            return Translatable("Not an ARK or a URN: %(problem)s", problem=why)
        case _:
            return Translatable("Not an ARK or a URN")


def _kind(report: Report, *, here: bool = False) -> str:
    """Return what an identifier is, in a few words."""
    if report.form == "urn":
        nid = report.parts.get("nid")
        return Translatable("URN, namespace %(namespace)s", namespace=nid.lower()) if nid else "URN"
    found = naan(report)
    if not found:
        return ""
    if report.form == "embedded":
        kind = Translatable("ARK in a URL recorded here") if here else Translatable("ARK in a URL")
    else:
        kind = Translatable("ARK recorded here") if here else "ARK"
    service = ""
    if report.service == "metadata":
        service = Translatable("with a metadata request")
    elif report.inflection:
        service = Translatable("with a query")
    return join_texts(kind, service, f"NAAN {display.escape(found)}", by=", ")


def _hidden_characters(report: Report, count: int) -> IdentifierVerdict:
    names = dict.fromkeys(
        f"U+{ord(found[0][0]):04X} {characters.name(found[0][0])}" for found in characters.hidden_runs(report.input)
    )
    shown = ", ".join(list(names)[:3])
    if (more := len(names) - 3) > 0:
        shown = Translatable.counted(
            "%(names)s and %(number)s more", "%(names)s and %(number)s more", more, names=shown
        )
    headline = Translatable.counted(
        "Careful: %(number)s hidden character, this text is not what it seems",
        "Careful: %(number)s hidden characters, this text is not what it seems",
        count,
    )
    sentence = Translatable(
        "Readers do not see %(characters)s. Software reads another identifier than the one that you see.",
        characters=shown,
    )
    status: Status = "warn" if report.valid else "bad"
    tag = Translatable("hidden characters")
    return IdentifierVerdict("hidden-characters", status, tag, _kind(report), headline, sentence, report.suggestion)


def _find_mistyped(report: Report, *, is_mistyped: bool) -> IdentifierVerdict | None:
    tag = Translatable("probably mistyped")
    wrong = next((found for found in report.problems if "check digit is wrong" in found.message), None)
    digit, place = "", 0
    if wrong is not None:
        digit, place = wrong.expected.rpartition(" ")[2], wrong.start
    elif report.form == "urn" and report.parts["nid"].lower() == "nbn":
        from ...identifiers.urn import namespaces  # it loads modules that ARKs do not need

        digit = namespaces.expected_nbn_digit(report.parts["nss"]) or ""
        place = report.input.find(report.parts["nss"]) + len(report.parts["nss"]) - 1
    if digit:
        corrected = report.input[:place] + digit + report.input[place + 1 :]
        sentence = Translatable(
            "The other digits need another check digit, so one digit is wrong or two are exchanged."
        )
        if wrong is None and not is_mistyped:
            # Not each library below the German National Library adds one.
            sentence = Translatable(
                "The URN is valid, but the check digit of the German National Library does not match. "
                "One digit is wrong, or two are exchanged, or the name has no check digit."
            )
        headline = Translatable("Probably mistyped: the last digit should be %(digit)s", digit=digit)
        return IdentifierVerdict("mistyped", "warn", tag, _kind(report), headline, sentence, corrected)
    is_of_holder = _has_wrong_check_character(report)
    if not is_of_holder and not is_mistyped:
        return None
    sentence = Translatable("Names with this beginning end in a check character here, and this one does not match.")
    if is_of_holder:
        sentence = Translatable(
            "Names of %(holder)s end in a check character, and this one does not match. Some names have none.",
            holder=holder(report),
        )
    headline = Translatable("Probably mistyped: the check character does not match")
    return IdentifierVerdict("mistyped", "warn", tag, _kind(report), headline, sentence, report.suggestion)


def _outside(report: Report) -> IdentifierVerdict:
    problem, name = report.problems[0], holder(report)
    number = display.escape(naan(report))
    wrong = report.input[problem.start : problem.end]
    if problem.code == "bad-char" and len(wrong) == 1 and (words := _CHARACTERS.get(wrong)):
        several = report.input[problem.start :].partition("?")[0].count(wrong) > 1
        shown = words[several]
        headline = Translatable(
            "An ARK under NAAN %(naan)s, with %(characters)s that the specification does not allow",
            naan=number,
            characters=shown,
        )
        if name:
            headline = Translatable(
                "An ARK of %(holder)s, with %(characters)s that the specification does not allow",
                holder=name,
                characters=shown,
            )
        sentence = Translatable("Strict software can refuse this ARK. Keep it whole when you cite it.")
        if beginning := _beginning(report, problem):
            sentence = Translatable(
                "Strict software can refuse this ARK or cut it to %(beginning)s, which is another name. "
                "Keep it whole when you cite it.",
                beginning=display.percent(beginning),
            )
    else:
        sentence = Translatable("Only its holder knows what it means. Keep it whole when you cite it.")
        if problem.code == "trailing-slash":
            # mostly a reader or a program has added it, and resolvers ignore it.
            sentence = ""
        why = problem.message
        headline = Translatable(
            "An ARK under NAAN %(naan)s, outside the specification: %(problem)s", naan=number, problem=why
        )
        if name:
            headline = Translatable(
                "An ARK of %(holder)s, outside the specification: %(problem)s", holder=name, problem=why
            )
    tag = Translatable("outside the specification")
    correction = report.suggestion if problem.code == "trailing-slash" else None
    return IdentifierVerdict("outside-the-specification", "warn", tag, _kind(report), headline, sentence, correction)


def _beginning(report: Report, problem: Problem) -> str:
    """Return the valid beginning of an ARK outside the specification, or "" if it is long."""
    start = len(report.parts.get("prefix") or "")
    text = report.input[start : problem.start].rstrip("/.?#")
    return text if report.parts.get("name") and len(text) <= 60 else ""


def _here(report: Report, here: Standing) -> IdentifierVerdict:
    """Return the verdict on an identifier of this site."""
    status, tag = here.status, here.tag
    if here.code == "recorded" and is_warned(report):
        status, tag = "warn", Translatable("recorded here, with a warning")
    headline = here.headline
    if not headline and report.form == "urn":
        headline = Translatable("A valid URN of this site")
    elif not headline:
        headline = Translatable("A valid ARK of this site")
    kind = _kind(report, here=here.code == "withdrawn")
    return IdentifierVerdict(here.code, status, tag, kind, headline, here.sentence, here.correction)


def _unread(report: Report) -> IdentifierVerdict:
    """Return the verdict on a valid identifier if it could not be looked up."""
    found = _valid(report)
    sentence = Translatable("The names of this site cannot be read at the moment, so its record here is not known.")
    tag = Translatable("valid, not looked up")
    return replace(found, code="unread", status="warn", tag=tag, sentence=join_texts(sentence, found.sentence))


def _valid(report: Report) -> IdentifierVerdict:
    warned = is_warned(report)
    tag = Translatable("valid, with a warning") if warned else Translatable("valid")
    status: Status = "warn" if warned else "good"
    if report.form == "urn":
        headline, correction = _urn(report), None
        if report.suggestion and any(found.code == "nss-invalid" for found in report.problems):
            # Such as a semicolon of the sentence behind an ISBN.
            correction = report.suggestion
            headline = Translatable("Did you mean %(identifier)s?", identifier=display.percent(correction))
        return IdentifierVerdict("valid", status, tag, _kind(report), headline, _first_warning(report), correction)
    if report.suggestion and any(found.code == "naan-not-base29" for found in report.problems):
        # such an ARK is mostly the percent-encoded copy of another one.
        headline = Translatable("Did you mean %(identifier)s?", identifier=display.percent(report.suggestion))
        sentence = _first_warning(report)
        return IdentifierVerdict("valid", status, tag, _kind(report), headline, sentence, report.suggestion)
    name = holder(report)
    components, variants = len(report.parts.get("components", ())), len(report.parts.get("variants", ()))
    sentence = _first_warning(report) or _parts(components, variants)
    special = headline_of_naan(naan(report))
    if (tested := holder_of_test(report.normal_form or "")) is not None:
        special = Translatable("An ARK for tests of %(holder)s", holder=_authority(tested.key)[0])
    if name and special is None:
        return IdentifierVerdict("holder-known", status, tag, _kind(report), _of_holder(name), sentence)
    headline = special or Translatable("A valid ARK")
    if not name and report.parts:
        sentence = join_texts(sentence, Translatable("This copy of the registry has no holder of the NAAN."))
    return IdentifierVerdict("valid", status, tag, _kind(report), headline, sentence)


def _of_holder(name: str) -> str:
    return Translatable("A valid ARK of %(holder)s", holder=name)


def _parts(components: int, variants: int) -> str:
    """Return how many components and variants a name has, or "" if it has none."""
    of_components = Translatable.counted("%(number)s component", "%(number)s components", NumberWord(components))
    of_variants = Translatable.counted("%(number)s variant", "%(number)s variants", NumberWord(variants))
    if components and variants:
        return Translatable("The name has %(items)s and %(last)s.", items=of_components, last=of_variants)
    if components or variants:
        return Translatable("The name has %(parts)s.", parts=of_components if components else of_variants)
    return ""


def _first_warning(report: Report) -> str:
    message = next((found.message for found in report.problems if found.severity == "warning"), "")
    return capital(message) if message else ""


def capital(text: str) -> str:
    """Return a message as a sentence, with a capital letter at its beginning and a full stop at its end."""
    return text.sentence() if isinstance(text, Translatable) else f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def _urn(report: Report) -> str:
    takes = {name: profile["valid"] for name, profile in report.profiles.items()}
    # U-01: the headline names the specification.
    if not takes.get("urnbis-01", True):
        return Translatable("A valid URN in RFC 8141 but not in the 2011 draft")
    if not takes.get("rfc8141", True):
        return Translatable("A valid URN in the 2011 draft but not in RFC 8141")
    nid = report.parts["nid"].lower()
    if wrong := next((found.message for found in report.problems if found.code == "nss-invalid"), ""):
        return Translatable("A valid URN, but %(problem)s", problem=wrong)
    return _VALID.get(nid) or Translatable("A valid URN of the namespace %(namespace)s", namespace=nid)


def _by_policy(report: Report, found: Mapping[str, Any]) -> IdentifierVerdict:
    """Return the verdict on an IRI that a policy covers."""
    findings = sorted(found["findings"], key=lambda each: GRAVITY[each["severity"]])
    values = {"namespace": found["namespaces"][0], "profile": found["profile"]}
    if not findings:
        headline = Translatable("IRI in the %(namespace)s namespace of %(profile)s: can be allocated", **values)
    elif found["allocatable"]:
        headline = Translatable(
            "IRI in the %(namespace)s namespace of %(profile)s: can be allocated, but %(problem)s",
            problem=findings[0]["message"],
            **values,
        )
    else:
        headline = Translatable(
            "IRI in the %(namespace)s namespace of %(profile)s: must not be allocated: %(problem)s",
            problem=findings[0]["message"],
            **values,
        )
    status: Status = "bad" if not found["allocatable"] else "warn" if found["codes"] else "good"
    tag = Translatable("allocatable") if found["allocatable"] else Translatable("not allocatable")
    return IdentifierVerdict("policy", status, tag, "IRI", headline)
