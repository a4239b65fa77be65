"""The other normal form of an ARK: that of draft-kunze-ark, section 3.2 (revision 42).

Two drafts say how ARKs are compared, and they disagree. Ours decodes what needs no percent-encoding, encodes what is
not ASCII and sorts variants; draft-kunze does none of that, but writes the NAAN in lower case, collapses slashes and
dots, and lets a slash at the end go. Ararat binds and finds by ours alone. This one is here so that a person can be
told where the two part.

It is defined for more than Extended ARKs: whatever follows a label is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..text import iri
from . import normalization
from .normalization import Parts, Rule

_LABEL = re.compile("[Aa][Rr][Kk]:/?")
_STRUCTURAL_RUN = re.compile("([/.])[/.]+")


# The rules of ours that draft-kunze-ark has no like of, and those of its that ours has none of.
_OURS_ALONE = ("percent-decoding", "non-ascii", "variants")
_THEIRS_ALONE = ("naan-case", "structure", "suffixes-last")


class KunzeForm(NamedTuple):
    """The normal form by draft-kunze-ark, and the rules of either draft by which the two differ for this ARK."""

    normal_form: str
    differs_by: tuple[Rule, ...]

    def as_dict(self) -> dict[str, Any]:
        """What the JSON of a report holds."""
        rules = [{"rule": rule.name, "title": rule.title, "reference": rule.reference} for rule in self.differs_by]
        return {"normal_form": self.normal_form, "differs_by": rules}


def beside(text: str, ours: str | None) -> KunzeForm | None:
    """The other normal form of an ARK whose normal form by our draft is ``ours``, or None where they are one.

    ``ours`` is without query and fragment, and None where our draft reads no ARK in ``text``.

    >>> form = beside("ark:12345/x.pdf.en", "ark:12345/x.en.pdf")
    >>> form.normal_form, [rule.name for rule in form.differs_by]
    ('ark:12345/x.pdf.en', ['variants'])
    """
    try:
        theirs = normalize(text)
    except ValueError:
        return None
    if theirs == ours:
        return None
    # Our rules are for what our grammar has read.
    by_ours = _fired(normalization.RULES, text, _OURS_ALONE) if ours else ()
    return KunzeForm(theirs, (*by_ours, *_fired(RULES, text, _THEIRS_ALONE)))


def _fired(rules: tuple[Rule, ...], text: str, among: tuple[str, ...]) -> Iterator[Rule]:
    """The rules that change the ARK, of those named."""
    parts = _parts(text)
    for rule in rules:
        changed = rule.apply(parts)
        if changed != parts and rule.name in among:
            yield rule
        parts = changed


def normalize(text: str) -> str:
    """The normal form by draft-kunze-ark of an ARK, bare or in an address; query and fragment are no part of it.

    Raises ValueError where ``text`` holds no label, or nothing after it.

    >>> normalize("https://n2t.net/ARK:/12345/x6-np1/c3.%7e/?info")
    'ark:12345/x6np1/c3.%7E'
    """
    parts = _parts(text)
    for rule in RULES:
        parts = rule.apply(parts)
    if not parts.body:
        raise ValueError("there is no ARK in this text")
    return "".join(parts)


def _parts(text: str) -> Parts:
    # "The NMA part ..., if present is removed.  Any URI query string is removed".  The fragment goes with it.
    core = re.split("[?#]", text, maxsplit=1)[0]
    label = _LABEL.search(core)
    if label is None:
        raise ValueError("there is no label ark: in this text")
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
    # "All hyphens are removed."  Of non-ASCII hyphens it is said that implementors may remove them; here they stay.
    return ark._replace(body=ark.body.replace("-", ""))


def _structure(ark: Parts) -> Parts:
    # "initial and final occurrences are removed, and two structural characters in a row ... are replaced by the first"
    return ark._replace(body=_STRUCTURAL_RUN.sub(r"\1", ark.body.strip("/.")))


def _suffixes_last(ark: Parts) -> Parts:
    # "If there are any components with a period on the left and a slash on the right, ... the component and the
    # preceding
    # period must be moved to the end of the Name part".  Section 3.2 lets one refuse instead; we move.
    *containers, last = ark.body.split("/")
    names = [container.partition(".")[0] for container in containers]
    suffixes = [container[len(name) :] for name, container in zip(names, containers, strict=True)]
    return ark._replace(body="/".join([*names, last]) + "".join(suffixes))


def _ascii_lower(text: str) -> str:
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)


RULES: tuple[Rule, ...] = (
    Rule("label", "The label is written ark:", "draft-kunze-ark, section 3.2, step 3", _label),
    Rule("naan-case", "The NAAN is written in lower case", "draft-kunze-ark, section 3.2, step 4", _naan_case),
    Rule(
        "hex-case",
        "Percent-encoded octets are written in upper case",
        "draft-kunze-ark, section 3.2, step 5",
        _hex_case,
    ),
    Rule("hyphens", "Hyphens are removed", "draft-kunze-ark, section 3.2, step 6", _hyphens),
    Rule("structure", "Slashes and dots are collapsed", "draft-kunze-ark, section 3.2, step 8", _structure),
    Rule("suffixes-last", "Suffixes go to the end", "draft-kunze-ark, section 3.2, step 9", _suffixes_last),
)
"""The rules in that draft's order."""
