"""The normal form of an ARK by draft-kunze-ark, section 3.2 (revision 43). Reports show it beside the form of the ARK
draft, by which alone names are bound and looked up.

Unlike the ARK draft, it decodes no percent-encodings, encodes no characters and sorts no variants. It writes the NAAN
in lower case, collapses slashes and dots, and removes those at the end. Its ARKs are visible ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..text import display, iri
from ..text.translatable import Translatable
from . import normalization
from .grammar import ARK_UNRESERVED, BASE29, LABEL, LABEL_PATTERN
from .normalization import NormalizationRule, Parts, Step

REVISION = 43
"""The revision of draft-kunze-ark whose rules this module applies."""

_SECTION = f"draft-kunze-ark, revision {REVISION}, section 3.2"
_LABEL = re.compile(f"{LABEL_PATTERN}/?")
_AFTER_SLASH = re.compile(f"/({LABEL_PATTERN})")
_STRUCTURAL_RUN = re.compile("([/.])[/.]+")
# Section 3.1: letters, digits, = ~ * + @ _ $ and % - . /.  After "%", two hexadecimal digits.
_ALLOWED = re.compile(rf"(?:[{ARK_UNRESERVED}\-./]++|{iri.PCT_ENCODED})*+")
_NAAN = re.compile(f"[{BASE29}]+")
_ONLY_IN_ARK_DRAFT = ("percent-decoding", "variants")
_ONLY_IN_KUNZE_DRAFT = ("naan-case", "structure")


class KunzeForm(NamedTuple):
    """The normal form by draft-kunze-ark, and the rules of only one of the drafts that change this ARK
    (``differs_by``). If the text is not an ARK there, ``normal_form`` is None and ``reason`` states why.
    """

    normal_form: str | None
    differs_by: tuple[NormalizationRule, ...] = ()
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON members ``revision`` (of the draft), ``normal_form`` and ``differs_by`` (rule, title and
        reference of each). ``reason`` is only present if ``normal_form`` is None.
        """
        rules = [{"rule": rule.name, "title": rule.title, "reference": rule.reference} for rule in self.differs_by]
        values = {"revision": REVISION, "normal_form": self.normal_form, "differs_by": rules}
        return values if self.reason is None else {**values, "reason": self.reason}


def compare(text: str, normal_form: str | None = None, steps: Iterable[Step] = ()) -> KunzeForm | None:
    """Return the normal form of an ARK, bare or in an address, by draft-kunze-ark. Return None for a text without a
    label ark:.

    ``normal_form`` is that of the ARK draft without query and fragment, and ``steps`` are its steps. They are None and
    empty for a text that is not an ARK there.

    >>> from ararat.identifiers.ark import parse
    >>> ark = parse("ark:12345/x.pdf.en")
    >>> form = compare(ark.text, ark.basic, ark.steps)
    >>> form.normal_form, [rule.name for rule in form.differs_by]
    ('ark:12345/x.pdf.en', ['variants'])
    >>> compare("ark:12345/4\\u0431").reason
    'U+0431 CYRILLIC SMALL LETTER BE is not a visible ASCII character'
    """
    parts = _parts(text)
    if parts is None:
        return None
    if reason := _outside(parts.body):
        return KunzeForm(None, reason=reason)
    normal, applied = _normalize(parts)
    if reason := _incomplete(normal.body):
        return KunzeForm(None, reason=reason)
    other = "".join(normal)
    if other == normal_form:
        return KunzeForm(other)
    changing = {step.rule for step in steps}
    ours = [rule for rule in normalization.RULES if rule.name in _ONLY_IN_ARK_DRAFT and rule.name in changing]
    theirs = [rule for rule in applied if rule.name in _ONLY_IN_KUNZE_DRAFT]
    return KunzeForm(other, (*ours, *theirs))


def normalize(text: str) -> str:
    """Return the normal form of an ARK, bare or in an address, by draft-kunze-ark, without query and fragment. Raises
    ValueError, with the reason, if ``text`` is not an ARK by that draft.

    >>> normalize("https://n2t.net/ARK:/12345/x6-np1/c3.%7e/?info")
    'ark:12345/x6np1/c3.%7E'
    """
    form = compare(text)
    if form is None:
        raise ValueError("the text contains no label ark:")
    if form.normal_form is None:
        raise ValueError(form.reason)
    return form.normal_form


def _outside(body: str) -> str | None:
    """Return why the characters after the label are not those of an ARK, or None."""
    end = _ALLOWED.match(body).end()  # type: ignore[union-attr]
    if end == len(body):
        return None
    char = body[end]
    if char == "%":
        return "a percent sign is not followed by two hexadecimal digits"
    if not "!" <= char <= "~":
        return f"{display.describe_character(char)} is not a visible ASCII character"
    shown = display.describe_character(char)
    return f"{shown} is not one of the characters of an ARK: letters, digits, = ~ * + @ _ $ % - . /"


def _incomplete(body: str) -> str | None:
    """Return which part of a normalized ARK is missing or wrong, or None."""
    naan, _, name = body.partition("/")
    if not naan:
        return "the NAAN is missing"
    if not _NAAN.fullmatch(naan):
        return "a NAAN consists of digits and the letters bcdfghjkmnpqrstvwxz"
    return None if name else "the Name is missing"


def _normalize(parts: Parts) -> tuple[Parts, list[NormalizationRule]]:
    """Return the normalized parts, and the rules that change the ARK."""
    applied = []
    for rule in RULES:
        changed = rule.apply(parts)
        if changed != parts:
            applied.append(rule)
        parts = changed
    return parts, applied


def _parts(text: str) -> Parts | None:
    # "The NMA part (eg, everything from an initial "https://" up to the first occurrence of "/ark:"), if present is
    # removed."  "Any URI query string is removed".  So is the fragment.
    core = re.split("[?#]", text, maxsplit=1)[0]
    slash = None if LABEL.match(core) else _AFTER_SLASH.search(core)
    label = _LABEL.match(core, slash.start(1)) if slash else _LABEL.search(core)
    return None if label is None else Parts(label[0], core[label.end() :], "")


def _label(ark: Parts) -> Parts:
    return ark._replace(label="ark:")


def _naan_case(ark: Parts) -> Parts:
    # "Any uppercase letters in the NAAN are converted to lowercase."
    naan, slash, name = ark.body.partition("/")
    return ark._replace(body=_ascii_lower(naan) + slash + name)


def _hex_case(ark: Parts) -> Parts:
    return ark._replace(body=iri.upper_hex(ark.body))


def _hyphens(ark: Parts) -> Parts:
    # "All hyphens are removed."  The draft permits to remove non-ASCII hyphens too; they are not visible ASCII.
    return ark._replace(body=ark.body.replace("-", ""))


def _structure(ark: Parts) -> Parts:
    # "initial and final occurrences are removed, and two structural characters in a row ... are replaced by the first"
    return ark._replace(body=_STRUCTURAL_RUN.sub(r"\1", ark.body.strip("/.")))


def _ascii_lower(text: str) -> str:
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)


RULES: tuple[NormalizationRule, ...] = (
    NormalizationRule("label", Translatable("Write the label as ark:"), f"{_SECTION}, step 3", _label),
    NormalizationRule("naan-case", Translatable("Write the NAAN in lower case"), f"{_SECTION}, step 4", _naan_case),
    NormalizationRule(
        "hex-case", Translatable("Write percent-encodings in upper case"), f"{_SECTION}, step 5", _hex_case
    ),
    NormalizationRule("hyphens", Translatable("Remove hyphens"), f"{_SECTION}, step 6", _hyphens),
    NormalizationRule("structure", Translatable("Collapse slashes and dots"), f"{_SECTION}, step 8", _structure),
)
"""The rules in the order of the draft. Steps 1, 2 and 7 remove the resolver, the query and inflections."""
