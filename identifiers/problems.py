"""The problems that an identifier can have: stable codes, one catalogue (:data:`PROBLEMS`) and one exception. Messages
are printable ASCII for terminals, logs and pages. They name any other character by its code point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from .text import display
from .text.translatable import Translatable

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Definition:
    """The facts that all problems with the same code share: a row of the catalogue :data:`PROBLEMS`. ``title`` is the
    default message, and ``expected`` the correct input in words. ``example`` is a text that has the problem, or None if
    the problem also depends on other facts.
    """

    code: str
    severity: Severity
    title: str
    expected: str
    reference: str
    example: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", Translatable.literal(self.title))
        object.__setattr__(self, "expected", Translatable.literal(self.expected))


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, warning or note about a part of an identifier: ``text[start:end]``, counted in code points.

    An "error" makes a text invalid. A "warning" is about a valid identifier that software is likely to mishandle, and a
    "note" is information. ``message`` and ``expected`` are printable ASCII; ``reference`` is the source of the rule.

    >>> Problem("trailing-slash", "error", "the ARK ends in a slash", 11, 12, "no slash", "ARK draft").as_dict()["start"]
    11
    """

    code: str
    severity: Severity
    message: str
    start: int
    end: int
    expected: str
    reference: str

    def as_dict(self) -> dict[str, str | int]:
        return {name: getattr(self, name) for name in self.__slots__}


class IdentifierError(ValueError):
    """Raised when a text is not a valid identifier. ``problem`` is the reason: code, place, expected input and
    reference. ``str()`` of the error is printable ASCII and marks the place with carets.

    >>> raise IdentifierError("ark:12345/x!", problem("bad-char", 11, 12, "a Name cannot contain '!'"))
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: a Name cannot contain '!' (bad-char)
        ark:12345/x!
                   ^
    expected letters, digits, = ~ * + @ _ $ - or %XX (ARK draft, section 4)
    """

    def __init__(self, text: str, problem: Problem) -> None:
        super().__init__(text, problem)
        self.text = text
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable name of the problem, a key of :data:`PROBLEMS`, such as "no-name"."""
        return self.problem.code

    @property
    def message(self) -> str:
        """The sentence that states what is wrong."""
        return self.problem.message

    def __str__(self) -> str:
        problem = self.problem
        return (
            f"{problem.message} ({problem.code})\n{caret(self.text, problem.start, problem.end)}\n"
            f"expected {problem.expected} ({problem.reference})"
        )


def require_text(value: object) -> None:
    """Raise TypeError if ``value`` is not a str, such as the bytes of a request or an identifier that was parsed."""
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(f"an identifier to read must be a str, and this is of the type {kind}: use its text")


def caret(
    text: str,
    start: int,
    end: int,
    *,
    width: int = 60,
    indent: str = "    ",
    shown: Callable[[str], str] = display.escape,
) -> str:
    r"""Return two lines for a message: the text around ``text[start:end]``, and carets below that place. At most about
    ``width`` characters are shown, and three dots mark each cut. ``shown`` escapes the text.

    >>> print(caret("ark:12345/a\u202eb", 11, 12, indent=""))
    ark:12345/a\u{202e}b
               ^^^^^^^^
    """
    left = max(0, start - width // 2)
    right = min(len(text), max(end, left + width))
    marked_end = min(end, start + width)
    before = ("..." if left else "") + shown(text[left:start])
    marked = shown(text[start:marked_end])
    after_end = min(right, marked_end + width)
    after = shown(text[marked_end:after_end]) + ("..." if after_end < len(text) else "")
    return f"{indent}{before}{marked}{after}\n{indent}{' ' * display.columns(before)}{'^' * max(1, display.columns(marked))}"


def problem(code: str, start: int, end: int, message: str | None = None, **overrides: Any) -> Problem:
    """Create the problem ``code`` at ``text[start:end]``. The default message is its title. ``overrides``
    (severity, expected, reference) replace values of the catalogue. Raises KeyError for an unknown code.

    >>> problem("trailing-slash", 11, 12).message
    'the ARK ends in a slash'
    """
    entry = PROBLEMS[code]
    result = Problem(code, entry.severity, message or entry.title, start, end, entry.expected, entry.reference)
    return replace(result, **overrides) if overrides else result


def catalogue(*rows: tuple[str, Severity, str, str, str, str | None]) -> dict[str, Definition]:
    """Create a catalogue of problems by code. Each row has the fields of a :class:`Definition` in order."""
    return {row[0]: Definition(*row) for row in rows}


_ARK, _URN, _IRI = "ARK draft", "URN draft", "RFC 3987"

PROBLEMS: dict[str, Definition] = catalogue(
    # -- not an identifier -----------------------------------------------------------------------------------------
    ("empty", "error", "the text is empty", "an identifier", f"{_ARK}, section 4", ""),
    ("no-scheme", "error", "the text starts with neither ark: nor urn:", "an identifier that starts with ark: or urn:", f"{_ARK}, section 4", "ark"),
    ("surrounding-space", "error", "the identifier has white space before or after it", "no white space before or after it", f"{_ARK}, section 4", " ark:12345/x"),
    ("transliterated-label", "error", "the label looks like ark or urn but is not written in ASCII", "the label ark: or urn: in ASCII letters", f"{_ARK}, section 5.2", "\u0430rk:12345/x"),
    ("no-ark-label", "error", "the address contains neither ark: nor urn:", "an address with an ARK in its path", f"{_ARK}, section 4.1", "https://n2t.net/12345/437719"),
    ("encoded-label", "error", "the colon of the label is percent-encoded", "ark: with a plain colon", f"{_ARK}, section 4.1", "https://example.org/ark%3A12345/x"),
    ("label-in-query", "error", "the label is in the query or fragment of an address, which is data for the site", "an ARK in the path of the address", f"{_ARK}, section 4.1", "https://example.org/?u=ark:12345/x"),
    ("label-inside-word", "error", "the letters ark: are the end of a longer word or of the host name", "the label at the start of a path segment", f"{_ARK}, section 4.1", "https://example.org/park:12345/x"),
    ("bad-prefix", "error", "the text before the label is not the start of an address", "a scheme, a host and path segments", f"{_ARK}, section 4.1", "foo ark:12345/x"),
    ("not-an-extended-ark", "error", "only an Extended ARK has a normal form", "a text that starts with ark:", f"{_ARK}, section 6", None),
    # -- ARK grammar -----------------------------------------------------------------------------------------------
    ("no-naan", "error", "the NAAN is missing", "a NAAN after ark:", f"{_ARK}, section 4", "ark:"),
    ("naan-char", "error", "the NAAN contains a character that is not allowed", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 4", "ark:1234a/x"),
    ("naan-uppercase", "error", "the NAAN contains an upper-case letter", "a NAAN in lower case", f"{_ARK}, section 4", "ark:B5072/x"),
    ("naan-decodes-outside-base29", "error", "the NAAN contains a percent-encoded ASCII character that is not allowed there", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 6, Theorem 2", "ark:%41bc/x"),
    ("naan-hyphen", "warning", "the NAAN contains a hyphen, which the grammar does not allow", "a NAAN without hyphens", f"{_ARK}, section 7.1.1", "ark:12-345/x"),
    ("naan-not-base29", "warning", "the NAAN contains a percent-encoded character that is neither a digit nor one of its letters", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 8.1", "ark:%D0%B1/x"),
    ("naan-reserved-invalid", "warning", "NAAN 99999 is reserved for invalid ARKs", "a NAAN that an organization holds", f"{_ARK}, section 3.1", "ark:99999/x"),
    ("double-slash", "error", "ark: is followed by two slashes", "at most one slash after ark:", f"{_ARK}, section 4", "ark://12345/x"),
    ("no-name", "error", "a NAAN alone is not an ARK", "a slash and a Name after the NAAN", f"{_ARK}, section 3.2", "ark:12345"),
    ("empty-name", "error", "the Name is empty", "a Name of at least one character", f"{_ARK}, section 4", "ark:12345/"),
    ("empty-segment", "error", "the ARK contains two slashes in a row", "at least one character between two slashes", f"{_ARK}, section 4", "ark:12345/x//y"),
    ("trailing-slash", "error", "the ARK ends in a slash", "no slash at the end", f"{_ARK}, section 4", "ark:12345/x/"),
    ("empty-after-normalization", "error", "a part consists of hyphens only, so its normal form is empty", "at least one character that is not a hyphen", f"{_ARK}, section 6, Theorem 2", "ark:12345/-"),
    ("bad-char", "error", "this character is not allowed here", "letters, digits, = ~ * + @ _ $ - or %XX", f"{_ARK}, section 4", "ark:12345/x!"),
    ("bad-percent", "error", "the percent sign is not followed by two hexadecimal digits", "% and two of 0-9 A-F a-f; write a literal percent sign as %25", f"{_IRI}, section 2.2", "ark:12345/x%"),
    ("control-char", "error", "control characters are not allowed in an identifier", "no character of U+0000-001F or U+007F-009F", f"{_ARK}, section 8.1", "ark:12345/a\u0085b"),
    ("private-use", "error", "private-use characters are allowed only in a query", "a character that Unicode defines", f"{_IRI}, section 2.2", "ark:12345/\ue000"),
    ("bad-query", "error", "this character is not allowed in a query", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @ / ?", f"{_IRI}, section 2.2", "ark:12345/x?a[b"),
    ("bad-fragment", "error", "this character is not allowed in a fragment", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @ / ?", f"{_IRI}, section 2.2", "ark:12345/x#a#b"),
    ("dot-in-name", "warning", "a dot does not start a variant", "dots only before non-empty variants at the end", f"{_ARK}, section 4", "ark:12345/a..b"),
    ("dot-segment", "warning", "a part is . or .., which browsers and servers remove from a path", "neither . nor .. as a part", "RFC 3986, section 5.2.4", "ark:12345/x/%2E%2E/y"),
    ("encoded-dot", "note", "%2E is not the same as a dot in an ARK, but other software may decode it", "names without %2E", f"{_ARK}, section 6", "ark:12345/a%2Eb"),
    ("encoded-control", "note", "the name contains a percent-encoded control or formatting character", "visible characters only", f"{_ARK}, section 8.1", "ark:12345/a%00b"),
    ("non-ascii", "note", "the normal form percent-encodes the non-ASCII characters", "only ASCII in new names", f"{_ARK}, section 5", "ark:12345/4\u0431"),
    ("non-nfc", "note", "the text is not in Unicode normal form NFC, and ARKs are compared without Unicode normalization", "composed characters", f"{_ARK}, section 6", "ark:12345/e\u0301"),
    ("confusable", "warning", "a character looks like an ASCII character but is a different one", "the ASCII character, if that is what you mean", "UTS #39, section 4", "ark:12345/x\u0430"),
    ("unassigned", "warning", "a code point is not assigned in the Unicode version that is used", "assigned characters", f"{_ARK}, section 8.1.1", "ark:12345/a\u0378b"),
    ("bidi-formatting", "warning", "bidirectional formatting characters are not allowed in an IRI", "no LRM RLM LRE RLE LRO RLO PDF", f"{_IRI}, section 4.1", "ark:12345/a\u202eb"),
    ("hidden-char", "warning", "a character is invisible", "visible characters", f"{_ARK}, section 8.1.1", "ark:12345/a\u200bb"),
    ("variants-reordered", "note", "the normal form sorts the variants", "variants in code point order", f"{_ARK}, section 6, step 3.4", "ark:12345/x.pdf.en"),
    ("variants-deduplicated", "note", "the normal form removes repeated variants", "each variant once", f"{_ARK}, section 6, step 3.4", "ark:12345/x.a.a"),
    ("label-inside-segment", "warning", "other characters precede the label in its path segment", "the label right after a slash", f"{_ARK}, section 4.1", "http://hdl.handle.net/2027/uc2.ark:/13960/t5q81d82b"),
    ("too-long", "warning", "the identifier is so long that a resolver may refuse it", "at most 3,500 bytes, or 255 characters", f"{_ARK}, section 7.1.1", "ark:12345/" + "x" * 3500),
    # -- URN grammar -----------------------------------------------------------------------------------------------
    ("no-nid", "error", "the namespace identifier is missing", "a namespace identifier of 2 to 32 characters and a colon", f"{_URN}, section 2.1", "urn:foo"),
    ("nid-length", "error", "the namespace identifier is too short or too long", "2 to 32 characters", f"{_URN}, section 2.1", "urn:a:b"),
    ("nid-char", "error", "the namespace identifier contains a character that is not allowed", "ASCII letters and digits, and hyphens after the first character", f"{_URN}, section 2.1", "urn:-ab:c"),
    ("nid-final-hyphen", "error", "the namespace identifier ends with a hyphen", "a letter or digit at the end", "RFC 8141, section 2", "urn:foo-:a"),
    ("nid-special-form", "note", "a namespace identifier of this form is experimental, informal or reserved for a country", "a registered namespace identifier", "RFC 3406, sections 3 and 4.3", "urn:X-foo:x"),
    ("reserved-nid", "error", "the namespace identifier urn is reserved", "another namespace identifier", f"{_URN}, section 2.1", "urn:urn:x"),
    ("empty-nss", "error", "the namespace-specific string is missing", "at least one character after the second colon", f"{_URN}, section 2.2", "urn:foo:"),
    ("nss-char", "error", "the namespace-specific string contains a character that is not allowed", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @", f"{_URN}, section 2.2", "urn:foo:a[b"),
    ("nss-slash", "error", "the namespace-specific string contains a slash", "a slash as %2F; RFC 8141 allows it after the first character", f"{_URN}, section 2.3.1", "urn:example:a/b"),
    ("nul", "error", "a NUL character (%00) is not allowed in a URN", "no NUL, neither raw nor percent-encoded", f"{_URN}, section 2.3.3", "urn:foo:a%00b"),
    ("needless-percent-encoding", "note", "a character is percent-encoded although it need not be", "the character itself", f"{_URN}, section 2.3.2", "urn:foo:%41"),
    ("fragment-not-opted-in", "note", "the namespace does not allow fragments", "no fragment", f"{_URN}, section 2", "urn:foo:a#s"),
    ("query-not-assigned", "note", "a URN with a query is a request to a resolver, not an assigned name", "no query", f"{_URN}, section 2", "urn:foo:a?meta"),
    ("fragment-unknown", "note", "the namespace does not define this fragment", "a fragment that the namespace defines; others are ignored", f"{_URN}, section 2", None),
    ("nss-invalid", "warning", "the name breaks a rule of its namespace", "a name that follows the rules of its namespace", f"{_URN}, section 2", "urn:isbn:0451450524"),
    ("query-component", "error", "the query starts with neither ?+ (r-component) nor ?= (q-component)", "?+ or ?= and at least one character", "RFC 8141, section 2.3", "urn:foo:a?meta"),
    ("rfc2141-invalid", "note", "RFC 2141, the older URN syntax, does not allow & and ~", "neither & nor ~", "RFC 2141, section 2.2", "urn:foo:a&b"),
)  # fmt: skip
