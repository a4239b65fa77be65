"""What can be wrong with an identifier, or worth a word about it: stable codes, one catalogue, one exception.

A :class:`Problem` is a finding at a place of a text. Its code is a kebab-case word that never changes its meaning; the
:data:`PROBLEMS` catalogue says for each code what was expected and which rule says so, with an example that has the
problem. Messages are ASCII: a character of the input that is not printable ASCII is named, never repeated, so that a
message can be shown in a terminal, a log or a page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from .text import display

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Definition:
    """One entry of the catalogue: what a code means wherever it occurs.

    ``example`` is a text in which the problem is found, or None where no text alone can have it.
    """

    code: str
    severity: Severity
    title: str
    expected: str
    reference: str
    example: str | None


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding at ``text[start:end]``, counted in code points.

    ``severity`` is "error" (the text is not what it claims to be), "warning" (it can be read, but something will go
    wrong with it) or "note" (worth knowing).

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
        """The problem as the JSON of a report holds it."""
        return {name: getattr(self, name) for name in self.__slots__}


class IdentifierError(ValueError):
    """A text is not the identifier it was taken for.

    ``problem`` says why (code, span, what was expected, reference); ``text`` is the text. The error's own text is
    printable ASCII and points at the place with a caret.

    >>> raise IdentifierError("ark:12345/x!", problem("bad-char", 11, 12, "a Name cannot hold '!'"))
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: a Name cannot hold '!' (bad-char)
        ark:12345/x!
                   ^
    expected letters, digits, = ~ * + @ _ $ - or %XX (ARK draft, section 4)
    """

    def __init__(self, text: str, problem: Problem) -> None:
        super().__init__(text, problem)
        self.text = text
        self.problem = problem

    def __str__(self) -> str:
        found = self.problem
        return (
            f"{found.message} ({found.code})\n{caret(self.text, found.start, found.end)}\n"
            f"expected {found.expected} ({found.reference})"
        )


def caret(text: str, start: int, end: int, *, width: int = 60, indent: str = "    ") -> str:
    r"""Two printable-ASCII lines: the surroundings of ``text[start:end]`` and carets under that place.

    At most about ``width`` characters of the text are shown; a cut is marked by three dots.

    >>> print(caret("ark:12345/a\u202eb", 11, 12, indent=""))
    ark:12345/a\u{202e}b
               ^^^^^^^^
    """
    left = max(0, start - width // 2)
    right = min(len(text), max(end, left + width))
    marked_end = min(end, start + width)
    before = ("..." if left else "") + display.escape(text[left:start])
    marked = display.escape(text[start:marked_end])
    after = display.escape(text[marked_end : max(marked_end, min(right, marked_end + width))])
    cut = "..." if marked_end + len(text[marked_end:right]) < len(text) or right < len(text) else ""
    return f"{indent}{before}{marked}{after}{cut}\n{indent}{' ' * len(before)}{'^' * max(1, len(marked))}"


def problem(code: str, start: int, end: int, message: str | None = None, **instead: Any) -> Problem:
    """The problem ``code`` of the catalogue at a place; without a message the catalogue's title is the message.

    ``instead`` (severity, expected, reference) overrules the catalogue where a code is another matter in another
    grammar.
    """
    known = PROBLEMS[code]
    found = Problem(code, known.severity, message or known.title, start, end, known.expected, known.reference)
    return replace(found, **instead) if instead else found


def _catalogue(*rows: tuple[str, Severity, str, str, str, str | None]) -> dict[str, Definition]:
    return {row[0]: Definition(*row) for row in rows}


_ARK, _URN, _IRI = "ARK draft", "URN draft", "RFC 3987"

PROBLEMS: dict[str, Definition] = _catalogue(
    # -- what the text is not --------------------------------------------------------------------------------------
    ("empty", "error", "nothing was given", "an identifier", f"{_ARK}, section 4", ""),
    ("no-scheme", "error", "it begins with neither ark: nor urn:", "an identifier that begins with ark: or urn:", f"{_ARK}, section 4", "ark"),
    ("surrounding-space", "error", "white space surrounds the identifier", "no white space around it", f"{_ARK}, section 4", " ark:12345/x"),
    ("transliterated-label", "error", "the label reads like ark or urn but is not that word in ASCII", "the label ark: or urn: in ASCII letters", f"{_ARK}, section 5.2", "\u0430rk:12345/x"),
    ("no-ark-label", "error", "no ark: or urn: label stands in this address", "an address with an ARK in its path", f"{_ARK}, section 4.1", "https://n2t.net/12345/437719"),
    ("encoded-label", "error", "the colon of the label is percent-encoded", "the label as ark: with a plain colon", f"{_ARK}, section 4.1", "https://example.org/ark%3A12345/x"),
    ("label-in-query", "error", "the label stands in the query or fragment, where it is data for somebody else", "an ARK in the path of the address", f"{_ARK}, section 4.1", "https://example.org/?u=ark:12345/x"),
    ("label-inside-word", "error", "the letters ark: are the end of a longer word or of the host", "the label at the start of a path segment", f"{_ARK}, section 4.1", "https://example.org/park:12345/x"),
    ("bad-prefix", "error", "what stands before the label is not the beginning of an address", "a scheme, an authority and path segments", f"{_ARK}, section 4.1", "foo ark:12345/x"),
    ("not-an-extended-ark", "error", "normalization is defined for Extended ARKs alone", "a string that begins with ark:", f"{_ARK}, section 6", None),
    # -- ARK grammar -----------------------------------------------------------------------------------------------
    ("no-naan", "error", "there is no NAAN", "a NAAN after the label", f"{_ARK}, section 4", "ark:"),
    ("naan-char", "error", "the NAAN holds a character it cannot hold", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 4", "ark:1234a/x"),
    ("naan-uppercase", "error", "the NAAN holds an upper-case letter", "the NAAN in lower case", f"{_ARK}, section 4", "ark:B5072/x"),
    ("naan-decodes-outside-base29", "error", "a percent-encoded character of the NAAN decodes to one it cannot hold", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 6, Theorem 2", "ark:%41bc/x"),
    ("naan-hyphen", "warning", "the NAAN holds a hyphen, which only an example of the draft allows", "a NAAN without hyphens", f"{_ARK}, section 7.1.1", "ark:12-345/x"),
    ("naan-not-base29", "warning", "the NAAN holds a percent-encoded character that is not plain ASCII", "digits and the letters bcdfghjkmnpqrstvwxz", f"{_ARK}, section 8.1", "ark:%D0%B1/x"),
    ("naan-reserved-invalid", "warning", "NAAN 99999 is reserved for invalid ARKs", "a NAAN that an organization holds", f"{_ARK}, section 3.1", "ark:99999/x"),
    ("double-slash", "error", "two slashes follow the label", "at most one slash after ark:", f"{_ARK}, section 4", "ark://12345/x"),
    ("no-name", "error", "a NAAN alone is not an ARK", "a slash and a Name after the NAAN", f"{_ARK}, section 3.2", "ark:12345"),
    ("empty-name", "error", "the Name is empty", "a Name of at least one character", f"{_ARK}, section 4", "ark:12345/"),
    ("empty-segment", "error", "two slashes follow each other", "at least one character between two slashes", f"{_ARK}, section 4", "ark:12345/x//y"),
    ("trailing-slash", "error", "the ARK ends in a slash", "no slash at the end", f"{_ARK}, section 4", "ark:12345/x/"),
    ("empty-after-normalization", "error", "a part of hyphens alone is empty in the normal form", "at least one character that is not a hyphen", f"{_ARK}, section 6, Theorem 2", "ark:12345/-"),
    ("bad-char", "error", "this character cannot stand here", "letters, digits, = ~ * + @ _ $ - or %XX", f"{_ARK}, section 4", "ark:12345/x!"),
    ("bad-percent", "error", "a percent sign is not followed by two hexadecimal digits", "% and two of 0-9 A-F a-f", f"{_IRI}, section 2.2", "ark:12345/x%"),
    ("control-char", "error", "control characters cannot stand in an identifier", "no character of U+0000-001F or U+007F-009F", f"{_ARK}, section 8.1", "ark:12345/a\u0085b"),
    ("private-use", "error", "private-use characters can stand in a query alone", "a character with a public meaning", f"{_IRI}, section 2.2", "ark:12345/\ue000"),
    ("bad-query", "error", "this character cannot stand in a query", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @ / ?", f"{_IRI}, section 2.2", "ark:12345/x?a[b"),
    ("bad-fragment", "error", "this character cannot stand in a fragment", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @ / ?", f"{_IRI}, section 2.2", "ark:12345/x#a#b"),
    ("dot-in-name", "warning", "a dot stands where it begins no variant", "dots before non-empty variants at the end alone", f"{_ARK}, section 4", "ark:12345/a..b"),
    ("dot-segment", "warning", "a part is a dot-segment, which generic software removes", "neither . nor .. as a part", "RFC 3986, section 5.2.4", "ark:12345/x/%2E%2E/y"),
    ("encoded-dot", "note", "%2E is another name than a dot here, but generic software may decode it", "names without %2E", f"{_ARK}, section 6", "ark:12345/a%2Eb"),
    ("encoded-control", "note", "a percent-encoded control or formatting character is part of the name", "names of visible characters", f"{_ARK}, section 8.1", "ark:12345/a%00b"),
    ("non-ascii", "note", "non-ASCII characters are percent-encoded in the normal form", "ASCII alone in new names", f"{_ARK}, section 5", "ark:12345/4\u0431"),
    ("non-nfc", "note", "the text is not in Unicode normal form C, and ARKs are compared without it", "composed characters", f"{_ARK}, section 6", "ark:12345/e\u0301"),
    ("confusable", "warning", "a character looks like an ASCII one, but is another", "the ASCII character, if that is meant", "UTS #39, section 4", "ark:12345/x\u0430"),
    ("unassigned", "warning", "a code point has no character assigned to it in the Unicode version used", "assigned characters", f"{_ARK}, section 8.1.1", "ark:12345/a\u0378b"),
    ("bidi-formatting", "warning", "bidirectional formatting characters must not stand in an IRI", "no LRM RLM LRE RLE LRO RLO PDF", f"{_IRI}, section 4.1", "ark:12345/a\u202eb"),
    ("hidden-char", "warning", "a character cannot be seen", "visible characters", f"{_ARK}, section 8.1.1", "ark:12345/a\u200bb"),
    ("variants-reordered", "note", "the variants are in another order in the normal form", "variants in code point order", f"{_ARK}, section 6, step 3.4", "ark:12345/x.pdf.en"),
    ("variants-deduplicated", "note", "a variant that stands twice stands once in the normal form", "each variant once", f"{_ARK}, section 6, step 3.4", "ark:12345/x.a.a"),
    ("label-inside-segment", "warning", "the label follows other characters of its path segment", "the label after a slash", f"{_ARK}, section 4.1", "http://hdl.handle.net/2027/uc2.ark:/13960/t5q81d82b"),
    ("too-long", "warning", "a resolver may refuse an identifier of this length", "at most 3,500 octets, or 255 characters", f"{_ARK}, section 7.1.1", "ark:12345/" + "x" * 3500),
    # -- URN grammar -----------------------------------------------------------------------------------------------
    ("no-nid", "error", "there is no namespace identifier", "a namespace identifier of 2 to 32 characters and a colon", f"{_URN}, section 2.1", "urn:foo"),
    ("nid-length", "error", "the namespace identifier is too short or too long", "2 to 32 characters", f"{_URN}, section 2.1", "urn:a:b"),
    ("nid-char", "error", "the namespace identifier holds a character it cannot hold", "ASCII letters and digits, and hyphens after the first", f"{_URN}, section 2.1", "urn:-ab:c"),
    ("nid-final-hyphen", "error", "the namespace identifier ends in a hyphen", "a letter or digit at its end", "RFC 8141, section 2", "urn:foo-:a"),
    ("nid-special-form", "note", "namespace identifiers of this form are experimental, informal or a country's", "a registered namespace identifier", "RFC 3406, section 3", "urn:X-foo:x"),
    ("reserved-nid", "error", "the namespace identifier urn is reserved", "another namespace identifier", f"{_URN}, section 2.1", "urn:urn:x"),
    ("empty-nss", "error", "there is no namespace-specific string", "at least one character after the second colon", f"{_URN}, section 2.2", "urn:foo:"),
    ("nss-char", "error", "the namespace-specific string holds a character it cannot hold", "letters, digits, %XX and - . _ ~ ! $ & ' ( ) * + , ; = : @", f"{_URN}, section 2.2", "urn:foo:a[b"),
    ("nss-slash", "error", "a slash stands in the namespace-specific string", "a slash as %2F; RFC 8141 allows it after the first character", f"{_URN}, section 2.3.1", "urn:example:a/b"),
    ("nul", "error", "%00 must not stand in a URN", "no NUL, raw or percent-encoded", f"{_URN}, section 2.3.3", "urn:foo:a%00b"),
    ("needless-percent-encoding", "note", "a character that needs no percent-encoding has one", "the character itself", f"{_URN}, section 2.3.2", "urn:foo:%41"),
    ("fragment-not-opted-in", "note", "fragments are for namespaces that provide for them", "no fragment", f"{_URN}, section 2", "urn:foo:a#s"),
    ("query-not-assigned", "note", "a URN with a query is a request to a resolver, not an assigned name", "no query", f"{_URN}, section 2", "urn:foo:a?meta"),
    ("fragment-unknown", "note", "the namespace provides for fragments, but not for this one", "a fragment like those the namespace defines; others are ignored", f"{_URN}, section 2", None),
    ("nss-invalid", "warning", "the name breaks a rule of its namespace", "a name by the rules of its namespace", f"{_URN}, section 2", "urn:isbn:0451450524"),
    ("query-component", "error", "the query is neither an r-component (?+) nor a q-component (?=)", "?+ or ?= and at least one character", "RFC 8141, section 2.3", "urn:foo:a?meta"),
    ("rfc2141-invalid", "note", "& and ~ are not in the older URN syntax", "neither & nor ~", "RFC 2141, section 2.2", "urn:foo:a&b"),
)  # fmt: skip
