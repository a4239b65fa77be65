"""The vocabulary of persistence statements: how long a resource is available, and how its content can change. A value
begins with a term; other texts are possible, and :func:`warnings_about` reports them. The definitions are in our words.

Source: Kunze, Calvert, DeBarry, Hanlon, Janee, Sweat, "Persistence Statements: Describing Digital Stickiness", Data
Science Journal 16 (2017) 39, doi:10.5334/dsj-2017-039; decision P-15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from ....identifiers.text.translatable import Translatable
from .. import validation
from ..binding import NOTHING
from ..naming import NameWarning

Element = Literal["availability", "variance"]

SOURCE = "https://doi.org/10.5334/dsj-2017-039"
"""The document that has the terms."""

TERMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "availability": MappingProxyType(
            {
                "finite": Translatable("It is available until about a stated date or event."),
                "indefinite": Translatable("It is available now, and nothing is promised about how long."),
                "lifetime": Translatable("It is available as long as the institution exists."),
                "subinfinite": Translatable(
                    "It stays available after the end of the institution, because another one takes over."
                ),
            }
        ),
        "variance": MappingProxyType(
            {
                "frozen": Translatable("Its data does not change by a single bit."),
                "keeping": Translatable("Only its format is renewed, so that it stays readable and safe."),
                "fixing": Translatable("Its format is renewed, and errors are corrected."),
                "rising": Translatable("Its format is renewed, errors are corrected, and the content is improved."),
                "molting": Translatable("Its content can be replaced by other content on the same subject."),
                "waxing": Translatable("New content is added at its end. Earlier content does not change."),
            }
        ),
    }
)
"""The terms of each element with their definitions, from the least promise of availability to the greatest."""

PROMISES = frozenset({"lifetime", "subinfinite"})
"""The terms of availability that promise persistence."""

UNPUBLISHED = "none"
"""The availability of a persistent name that is not published (POL-020)."""

PERSISTENT = "persistent"
"""The statement of :meth:`.Bindings.promise_persistence`. Without an availability, "lifetime" is implied (POL-018)."""

CODE = "persistence-term"
"""The code of the warnings."""

_SEPARATORS = "(\u2013\u2014-"
_FIRST_WORD = re.compile(rf"\s*([A-Za-z]+)\s*(?:[,;:{_SEPARATORS}].*)?", re.DOTALL)


def term(element: str, text: str | None) -> str | None:
    """Return the term with which a statement begins, such as "lifetime", or None. ``element`` is "persistence",
    "availability" or "variance".

    >>> term("availability", "Lifetime"), term("availability", "finite (until 2030)"), term("variance", "lifetime")
    ('lifetime', 'finite', None)
    """
    match = _FIRST_WORD.fullmatch(text or "")
    word = match[1].lower() if match else ""
    return word if word in TERMS[element] else None


def definitions(elements: Mapping[Any, str]) -> dict[str, str]:
    """Return the definitions of the terms in persistence statements, by the same short names.

    >>> definitions({"who": "Noah", "availability": "lifetime", "variance": "unknown"})
    {'availability': 'It is available as long as the institution exists.'}
    """
    terms = {element: term(element, elements.get(element)) for element in TERMS}
    return {element: TERMS[element][term_name] for element, term_name in terms.items() if term_name is not None}


def split(element: Element, text: str) -> tuple[str, str]:
    """Split a persistence statement into its term, or "", and the words after it, for the fields of a form.

    >>> split("availability", "finite, until 2030"), split("variance", "rising (yearly)"), split("variance", "unknown")
    (('finite', 'until 2030'), ('rising', '(yearly)'), ('', 'unknown'))
    """
    value_term = term(element, text)
    if value_term is None:
        return "", text
    rest = text.strip()[len(value_term) :].lstrip()
    return value_term, rest[1:].lstrip() if rest.startswith(",") else rest


def join_statement(element: str, chosen: str, words: str) -> str:
    """Join a term and further words to a persistence statement. Words that begin with a term replace it.

    >>> join_statement("availability", "finite", "until 2030"), join_statement("variance", "rising", "(yearly)")
    ('finite, until 2030', 'rising (yearly)')
    """
    words = words.strip()
    if not chosen or not words or term(element, words):
        return words or chosen
    return f"{chosen}{'' if words[0] in ':;' else ' ' if words[0] in _SEPARATORS else ', '}{words}"


def is_promised(availability: str | None, persistence: str | None) -> bool:
    """Return whether the statements of a name promise that it is persistent (ARK-007, decision P-18). A stated
    availability decides. Without one, the persistence must be a term that promises it, or "persistent": a text can also
    deny it.

    >>> is_promised("lifetime", "Not Guaranteed"), is_promised("finite", "persistent"), is_promised(None, "subinfinite")
    (True, False, True)
    >>> is_promised(None, "Not Guaranteed: no commitment"), is_promised(None, None), is_promised("none", "persistent")
    (False, False, False)
    """
    if availability is not None:
        return term("availability", availability) in PROMISES
    return term("availability", persistence) in PROMISES or (persistence or "").strip().lower() == PERSISTENT


def is_denied(text: str) -> bool:
    """Return whether a statement promises nothing, such as "Not Guaranteed", finite, indefinite or ``(:unkn)``.

    >>> is_denied("Not Guaranteed: no commitment has been made"), is_denied("indefinite"), is_denied("We keep it.")
    (True, True, False)
    """
    value_term = term("availability", text)
    return text.strip().lower().startswith(("not guaranteed", "(:")) or (
        value_term is not None and value_term not in PROMISES
    )


def warnings_about(statements: Mapping[str, str], recorded: Mapping[str, str] = NOTHING) -> Iterator[NameWarning]:
    """Yield a warning for each persistence statement that does not begin with a term, unless it begins with a code such
    as ``(:unkn)`` or is in ``recorded``. The keys are ``erc.availability`` and ``erc.variance``.

    >>> for warning in warnings_about({"erc.availability": "banana", "erc.variance": "frozen"}):
    ...     print(warning.message)
    the availability banana is not a term of persistence statements: finite, indefinite, lifetime, subinfinite
    """
    for element, terms in TERMS.items():
        text = statements.get(f"erc.{element}")
        if (
            not text
            or text == recorded.get(f"erc.{element}")
            or text.startswith("(:")
            or (element == "availability" and text.strip() == UNPUBLISHED)
        ):
            continue
        if term(element, text) is None:
            values = {"text": validation.quote(text, 60), "terms": ", ".join(terms)}
            if element == "availability":
                message = Translatable(
                    "the availability %(text)s is not a term of persistence statements: %(terms)s", **values
                )
            else:
                message = Translatable(
                    "the variance %(text)s is not a term of persistence statements: %(terms)s", **values
                )
            yield NameWarning(CODE, message)
