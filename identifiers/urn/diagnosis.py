"""Find the errors and notes of a URN, for the URN draft, RFC 8141 or both. The functions receive the parts that
:class:`.profiles.UrnParts` splits, and do not depend on each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..problems import Problem, problem
from ..text import display, iri
from ..text.translatable import Translatable

# URN draft, section 2.1:  NID = ( ALPHA / DIGIT ) 1*31( ALPHA / DIGIT / "-" )
_NID_CHARS = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-]*+")
# URN draft, section 2.2:  NSS = 1*pchar          RFC 8141, section 2:  NSS = pchar *(pchar / "/")
_NSS_CHARS = re.compile(iri.run(f"{iri.PCHAR}/", least=0))
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )      fragment is the same
_QUERY_CHARS = re.compile(iri.run(f"{iri.PCHAR}/?", least=0))
# RFC 3406, sections 3.1, 3.2 and 4.3: experimental (X-), informal (urn-1) and country-code namespaces. All
# names that begin with urn- are kept for informal namespaces.
_SPECIAL_NID = re.compile("[Xx]-|[Uu][Rr][Nn]-|[A-Za-z]{2}-")


def shared(text: str, nid: str, nss: str, query: str | None, fragment: str | None) -> Iterator[Problem]:
    """Yield the errors of a URN that make it invalid in both the URN draft and RFC 8141.

    >>> [problem.code for problem in shared("urn:a:b", "a", "b", None, None)]
    ['nid-length']
    """
    end = 4 + len(nid)
    wrong = _first_wrong(_NID_CHARS, nid)
    if not nid:
        yield problem("no-nid", 4, 4)
    elif wrong is not None:
        yield _wrong_char(text, 4 + wrong, "nid-char", Translatable("a namespace identifier"))
    elif not 2 <= len(nid) <= 32:
        yield problem(
            "nid-length", 4, end, Translatable("the namespace identifier has %(number)s characters", number=len(nid))
        )
    if not text.startswith(":", end):
        yield problem("no-nid", end, end, Translatable("there is no colon after the namespace identifier"))
        return
    if not nss:
        yield problem("empty-nss", end + 1, end + 1)
    starts = end + 1, end + 2 + len(nss), end + 2 + len(nss) + (0 if query is None else len(query) + 1)
    for start, written, allowed, code, part in (
        (starts[0], nss, _NSS_CHARS, "nss-char", "a namespace-specific string"),
        (starts[1], query, _QUERY_CHARS, "bad-query", "a query"),
        (starts[2], fragment, _QUERY_CHARS, "bad-fragment", "a fragment"),
    ):
        wrong = None if written is None else _first_wrong(allowed, written)
        if wrong is not None:
            yield _wrong_char(text, start + wrong, code, part)


def draft(nid: str, nss: str) -> Iterator[Problem]:
    """Yield the errors of a URN by the URN draft, such as a slash in the NSS. The text has no errors of :func:`shared`.

    >>> [problem.code for problem in draft("example", "a/b")]
    ['nss-slash']
    """
    start = 5 + len(nid)
    # "the string "urn" (in any combination of upper and lower case) MUST NOT be used as a NID"
    if nid.lower() == "urn" and nid.isascii():
        yield problem("reserved-nid", 4, 7)
    if "/" in nss:
        yield problem("nss-slash", start + nss.index("/"), start + nss.index("/") + 1)
    # URN-044: NUL is refused, raw and as %00.
    if "%00" in nss:
        yield problem("nul", start + nss.index("%00"), start + nss.index("%00") + 3)


def rfc8141(nid: str, nss: str, query: str | None) -> Iterator[Problem]:
    """Yield the errors of a URN by RFC 8141, such as a NID that ends in a hyphen. The text has no errors of
    :func:`shared`.

    >>> [problem.code for problem in rfc8141("foo-", "a", None)]
    ['nid-final-hyphen']
    """
    start = 5 + len(nid)
    if len(nid) > 1 and nid.endswith("-"):
        yield problem("nid-final-hyphen", start - 2, start - 1)
    if nss.startswith("/"):
        yield problem("nss-slash", start, start + 1)
    if query is not None and components(query) is None:
        end = start + len(nss)
        yield problem("query-component", end, end + 1 + len(query))


def notes(nid: str, nss: str, query: str | None, fragment: str | None) -> Iterator[Problem]:
    """Yield notes about a valid URN, such as a needless percent-encoding.

    >>> [problem.code for problem in notes("example", "a", None, "s1")]
    ['fragment-not-opted-in']
    """
    start = 5 + len(nid)
    # U-06: the limits of RFC 3406 on NIDs are not in the draft. Breaking them is only a note.
    if _SPECIAL_NID.match(nid):
        yield problem("nid-special-form", 4, start - 1)
    if needless := _needless(nid, nss):
        # "Unreserved characters MUST NOT be percent-encoded" (U-03). They are accepted and not decoded.
        yield problem("needless-percent-encoding", start + needless.start(), start + needless.end())
    if older := re.search("[&~]", nss):
        yield problem("rfc2141-invalid", start + older.start(), start + older.end())
    end = start + len(nss)
    if query is not None:
        yield problem("query-not-assigned", end, end + 1 + len(query))
        end += 1 + len(query)
    if fragment is not None:
        from . import namespaces  # most names need no rules of a namespace, and these take long to load

        namespace = namespaces.lookup(nid)
        # "Absent a registered namespace definition ... that explicitly specifies its usage, URNs within a particular
        # URN Namespace MUST NOT contain a fragment identifier."
        if namespace is None or not namespace.fragments:
            yield problem("fragment-not-opted-in", end, end + 1 + len(fragment))
        elif not namespace.allows(fragment):
            yield problem("fragment-unknown", end, end + 1 + len(fragment))


def components(query: str) -> tuple[str | None, str | None] | None:
    """Split a query without its question mark into r- and q-component by RFC 8141, or return None if it is not valid
    there.

        rq-components = [ "?+" r-component ] [ "?=" q-component ]      each = pchar *( pchar / "/" / "?" )

    The ABNF allows "?=" in an r-component. By the prose of the RFC, the r-component ends at the first one (U-09).

    >>> components("+r?=q"), components("=q"), components("meta")
    (('r', 'q'), (None, 'q'), None)
    """
    r, mark, q = None, query[:1] == "=", query[1:]
    if query[:1] == "+":
        r, sign, q = query[1:].partition("?=")
        mark = bool(sign)
    elif not mark:
        return None
    if any(component[:1] in ("", "/", "?") for component in ([] if r is None else [r]) + ([q] if mark else [])):
        return None
    return r, q if mark else None


def _needless(nid: str, nss: str) -> re.Match[str] | None:
    """Find the first percent-encoding of an unreserved character without a special meaning in the namespace."""
    if "%" not in nss:
        return None
    from . import namespaces

    runs = iri.UNRESERVED_TRIPLETS.finditer(nss)
    octets = (octet for run in runs for octet in iri.TRIPLET.finditer(nss, *run.span()))
    return next((octet for octet in octets if chr(int(octet[0][1:], 16)) not in namespaces.special(nid)), None)


def _first_wrong(allowed: re.Pattern[str], written: str) -> int | None:
    """Return the index of the first character that the pattern does not allow, or None."""
    match = allowed.match(written)
    end = match.end() if match else 0
    return end if end < len(written) else None


def _wrong_char(text: str, index: int, code: str, part: str) -> Problem:
    char, named = text[index], display.describe_character(text[index])
    # A namespace identifier has no triplets.
    if char == "%" and iri.TRIPLET.match(text, index) is None:
        return problem("bad-percent", index, min(len(text), index + 3))
    if char < " " or "\x7f" <= char <= "\x9f":
        return problem("control-char", index, index + 1, Translatable("%(named)s is a control character", named=named))
    if char > "\x7f":
        # "all URNs are ASCII" (URN-058)
        overrides = {
            "expected": "ASCII; other characters as percent-encoded UTF-8",
            "reference": "URN draft, section 7.1",
        }
        return problem(
            "non-ascii",
            index,
            index + 1,
            Translatable("%(part)s cannot contain %(named)s", part=part, named=named),
            severity="error",
            **overrides,
        )
    return problem(code, index, index + 1, Translatable("%(part)s cannot contain %(named)s", part=part, named=named))
