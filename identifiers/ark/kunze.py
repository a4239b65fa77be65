"""The normal form of an ARK by draft-kunze-ark, section 3.2 (revision 42).

Two drafts define the comparison of ARKs, and they differ. The draft that Ararat follows decodes needless
percent-encodings, encodes non-ASCII characters and sorts variants. draft-kunze-ark does none of these. It writes the
NAAN in lower case, collapses slashes and dots, and removes a final slash.

Ararat binds and looks up names only by the first normal form. Reports show this one where it differs.
It is defined for any text after a label, not only for Extended ARKs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..text import iri
from . import normalization
from .grammar import LABEL_PATTERN
from .normalization import NormalizationRule, Parts, Step

_LABEL = re.compile(f"{LABEL_PATTERN}/?")
_STRUCTURAL_RUN = re.compile("([/.])[/.]+")
_SUFFIXES = re.compile("[.][^/]*")
_ONLY_IN_ARK_DRAFT = ("percent-decoding", "non-ascii", "variants")
_ONLY_IN_KUNZE_DRAFT = ("naan-case", "structure", "suffixes-last")


class KunzeForm(NamedTuple):
    """The normal form of an ARK by draft-kunze-ark, and why it differs from the normal form by the ARK draft.

    ``differs_by`` lists the rules that only one of the drafts has and that change this ARK.
    """

    normal_form: str
    differs_by: tuple[NormalizationRule, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the normal form, and the name, title and reference of each rule in ``differs_by``, as JSON values."""
        rules = [{"rule": rule.name, "title": rule.title, "reference": rule.reference} for rule in self.differs_by]
        return {"normal_form": self.normal_form, "differs_by": rules}


def compare(text: str, normal_form: str | None, steps: Iterable[Step]) -> KunzeForm | None:
    """Return the normal form by draft-kunze-ark if it differs from ``normal_form``, else None.

    ``normal_form`` is the form by the ARK draft without query and fragment, and ``steps`` are its steps. If ``text`` is
    not an Extended ARK, they are None and empty.

    >>> from ararat.identifiers.ark import parse
    >>> ark = parse("ark:12345/x.pdf.en")
    >>> form = compare(ark.text, ark.basic, ark.steps)
    >>> form.normal_form, [rule.name for rule in form.differs_by]
    ('ark:12345/x.pdf.en', ['variants'])
    """
    try:
        other, applied = _normalized(text)
    except ValueError:
        return None
    if other == normal_form:
        return None
    changing = {step.rule for step in steps}
    ours = [rule for rule in normalization.RULES if rule.name in _ONLY_IN_ARK_DRAFT and rule.name in changing]
    theirs = [rule for rule in applied if rule.name in _ONLY_IN_KUNZE_DRAFT]
    return KunzeForm(other, (*ours, *theirs))


def normalize(text: str) -> str:
    """Return the normal form of an ARK, bare or in an address, by draft-kunze-ark. Drop query and fragment.

    Raises ValueError if ``text`` has no label or nothing after it.

    >>> normalize("https://n2t.net/ARK:/12345/x6-np1/c3.%7e/?info")
    'ark:12345/x6np1/c3.%7E'
    """
    return _normalized(text)[0]


def _normalized(text: str) -> tuple[str, list[NormalizationRule]]:
    """Return the normal form by draft-kunze-ark, and the rules that change the ARK."""
    parts, applied = _parts(text), []
    for rule in RULES:
        changed = rule.apply(parts)
        if changed != parts:
            applied.append(rule)
        parts = changed
    if not parts.body:
        raise ValueError("the text contains no ARK")
    return "".join(parts), applied


def _parts(text: str) -> Parts:
    # "The NMA part ..., if present is removed.  Any URI query string is removed".  So is the fragment.
    core = re.split("[?#]", text, maxsplit=1)[0]
    label = _LABEL.search(core)
    if label is None:
        raise ValueError("the text contains no label ark:")
    return Parts(label[0], core[label.end() :], "")


def _label(ark: Parts) -> Parts:
    return ark._replace(label="ark:")


def _naan_case(ark: Parts) -> Parts:
    # "Any uppercase letters in the NAAN are converted to lowercase."
    naan, slash, name = ark.body.partition("/")
    return ark._replace(body=_ascii_lower(naan) + slash + name)


def _hex_case(ark: Parts) -> Parts:
    return ark._replace(body=iri.upper_hex(ark.body))


def _hyphens(ark: Parts) -> Parts:
    # "All hyphens are removed."  The draft permits to remove non-ASCII hyphens too; Ararat keeps them.
    return ark._replace(body=ark.body.replace("-", ""))


def _structure(ark: Parts) -> Parts:
    # "initial and final occurrences are removed, and two structural characters in a row ... are replaced by the first"
    return ark._replace(body=_STRUCTURAL_RUN.sub(r"\1", ark.body.strip("/.")))


def _suffixes_last(ark: Parts) -> Parts:
    # "If there are any components with a period on the left and a slash on the right, ... the component and the
    # preceding period must be moved to the end of the Name part".  Section 3.2 also permits to refuse such an ARK.
    containers, slash, last = ark.body.rpartition("/")
    return ark._replace(body="".join([_SUFFIXES.sub("", containers), slash, last, *_SUFFIXES.findall(containers)]))


def _ascii_lower(text: str) -> str:
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)


RULES: tuple[NormalizationRule, ...] = (
    NormalizationRule("label", "Write the label as ark:", "draft-kunze-ark, section 3.2, step 3", _label),
    NormalizationRule("naan-case", "Write the NAAN in lower case", "draft-kunze-ark, section 3.2, step 4", _naan_case),
    NormalizationRule(
        "hex-case",
        "Write percent-encodings in upper case",
        "draft-kunze-ark, section 3.2, step 5",
        _hex_case,
    ),
    NormalizationRule("hyphens", "Remove hyphens", "draft-kunze-ark, section 3.2, step 6", _hyphens),
    NormalizationRule("structure", "Collapse slashes and dots", "draft-kunze-ark, section 3.2, step 8", _structure),
    NormalizationRule(
        "suffixes-last", "Move suffixes to the end", "draft-kunze-ark, section 3.2, step 9", _suffixes_last
    ),
)
"""The rules in the order of the draft."""
