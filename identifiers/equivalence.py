"""Compare identifiers of any kind: ARKs, addresses with ARKs, and URNs.

:mod:`.urn.equivalence` compares two URNs and also returns the rule that makes them equivalent.
"""

from __future__ import annotations

from .parsing import Identifier, parse
from .problems import IdentifierError
from .urn.model import Urn


def equivalent(a: str, b: str) -> bool:
    """Return whether two texts are equivalent identifiers. Never raises for two str.

    An invalid text is equivalent to nothing, not even to itself. Only the ARK in an address counts (N-06). URNs are
    also compared by the rules of their namespace (U-10).

    >>> equivalent("ark:12345/x.pdf.en", "https://n2t.net/ark:/12345/x.en.pdf"), equivalent("ark:12345", "ark:12345")
    (True, False)
    """
    try:
        return _comparison_key(parse(a)) == _comparison_key(parse(b))
    except IdentifierError:
        return False


def _comparison_key(identifier: Identifier) -> str:
    return identifier.canonical if isinstance(identifier, Urn) else identifier.normal_form
