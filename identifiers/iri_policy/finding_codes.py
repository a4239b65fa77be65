"""The findings of a policy check: stable codes in one catalogue, like :data:`ararat.identifiers.PROBLEMS`. An "error"
breaks a MUST or uses a reserved name, so the IRI must not be allocated. A "warning" breaks a SHOULD or a RECOMMENDED. A
"note" is advice. A profile can change the severity of each code in :data:`SWITCHABLE`.
"""

from __future__ import annotations

from ..problems import Definition, Problem, catalogue

SOURCE = "17beta policy"
"""The document from which most rules come. Messages cite the policy of the profile instead."""

_P = SOURCE
_SITE = "https://17beta.top"

FINDINGS: dict[str, Definition] = catalogue(
    # -- 1 General considerations ----------------------------------------------------------------------------------
    ("not-an-iri", "error", "a character is not allowed in an IRI", "an IRI", "RFC 3987, section 2.2", f"{_SITE}/en/a b"),
    ("undocumented", "error", "the allocation is not documented", "a title, a resource or a reference to the documentation", f"{_P}, section 1", None),
    ("prefer-https", "warning", "the scheme is not the preferred one", "https", f"{_P}, section 1", "http://17beta.top/en/x"),
    ("not-normal-form", "error", "the IRI is not in normal form", "the normal form of RFC 3987, section 5.3.2", f"{_P}, section 1", f"{_SITE}/en/%61"),
    ("empty-path", "error", "the path is empty", "a path, at least a slash", f"{_P}, section 1", _SITE),
    ("empty-segment", "error", "a segment of the path is empty", "no slash at the end and no double slash", f"{_P}, section 1", f"{_SITE}/en/"),
    ("filename-extension", "error", "a segment ends in a filename extension", "the segment without its extension", f"{_P}, section 1", f"{_SITE}/en/x.html"),
    ("phrase-style", "warning", "a phrase is not written in lower case, or has spaces", "lower case, with _ for each space", f"{_P}, section 1", f"{_SITE}/en/Some-Book"),
    ("parent-unallocated", "warning", "a more general IRI is not allocated", "an allocated IRI for each parent path", f"{_P}, section 1", None),
    ("deep-path", "note", "the path is long", "a short path", f"{_P}, section 1", f"{_SITE}/en/a/b/c/d/e/f"),
    ("spurious-www", "warning", "the host begins with www.", "the host without www.", f"{_P}, section 1", "https://www.17beta.top/"),
    ("spurious-authority", "warning", "the IRI contains a port or a user name", "the host alone", f"{_P}, section 1", "https://17beta.top:8443/en"),
    ("technology", "warning", "a segment names the technology of the site", "a path that does not depend on the technology", f"{_P}, section 1", f"{_SITE}/cgi-bin/x"),
    # -- 2 Persistence ---------------------------------------------------------------------------------------------
    ("persistent-not-ark", "error", "only an ARK can be persistent", "an ARK, or no statement of persistence", f"{_P}, section 2", None),
    ("availability-statement", "error", "the availability of a published persistent identifier is wrong", "lifetime or subinfinite", f"{_P}, section 2", None),
    # -- 3 Archival Resource Key -----------------------------------------------------------------------------------
    ("not-opaque", "warning", "the name looks meaningful", "a name without meaning", f"{_P}, section 3", "ark:21206/1pharmacology"),
    ("shoulder-reserved", "error", "the shoulder is reserved", "another shoulder", f"{_P}, section 3.1", "ark:21206/0bc"),
    ("reserved-name", "error", "names without a decimal shoulder are reserved", "a name that begins with digits 2 to 9 (or none) and then one 0 or 1", f"{_P}, section 3.1", "ark:21206/bcd"),
    ("permanent-redirect", "error", "301 and 308 are permanent redirects", "302, 303, 307, 200 or 204", f"{_P}, section 3.2", None),
    # -- 4 IRIs reserved for resolvers -----------------------------------------------------------------------------
    ("undefined-scheme", "error", "the path is reserved, and its scheme is not defined", "a scheme of the profile or of the registry of URI schemes", f"{_P}, section 4", f"{_SITE}/zzz:1"),
    ("scheme-semantics", "error", "the path is reserved for a scheme, but the text is not an identifier of the scheme", "an identifier of the scheme", f"{_P}, section 4", f"{_SITE}/ark:"),
    ("naan-foreign", "error", "the NAAN belongs to another organization", "a NAAN of this policy", f"{_P}, section 4", f"{_SITE}/ark:20206/730591"),
    ("naan-reserved-invalid", "error", "NAAN 99999 is reserved for tests and invalid ARKs", "a NAAN of this policy", f"{_P}, section 4", f"{_SITE}/ark:99999/x"),
    ("reserved-path-answered", "error", "another application answers a path that is reserved for a resolver", "a resolver, or 404", f"{_P}, section 4", None),
    # -- 5 Non-information resources -------------------------------------------------------------------------------
    ("non-information-fragment", "error", "the IRI of a non-information resource has a fragment", "an IRI without a fragment", f"{_P}, section 5", None),
    ("non-information-status", "error", "the status of a non-information resource is wrong", "404 or 303", f"{_P}, section 5", None),
    # -- 6 Namespaces ----------------------------------------------------------------------------------------------
    ("bad-language-tag", "error", "the first segment is not a language tag", "a tag of BCP 47", f"{_P}, section 6.1", f"{_SITE}/zz-1/x"),
    ("language-unlisted", "warning", "the language is not in the profile", "a language of the profile", f"{_P}, section 6.1", None),
    ("uuid-case", "error", "the UUID has an upper-case letter", "the UUID in lower case", f"{_P}, section 6.2", f"{_SITE}/F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
    ("uuid-invalid", "error", "the UUID has another variant", "8, 9, a or b at the start of the fourth group", f"{_P}, section 6.2", f"{_SITE}/f81d4fae-7dec-11d0-0765-00a0c91e6bf6"),
    ("uuid-unassigned", "warning", "the UUID is nil or max, or its version is not defined", "a UUID of version 1 to 8", f"{_P}, section 6.2", f"{_SITE}/00000000-0000-0000-0000-000000000000"),
    ("uuid-twice", "warning", "several IRIs contain the UUID", "one IRI for each UUID", f"{_P}, section 6.2", None),
    ("bad-timespec", "error", "the time is not valid", "a date and a time of ISO 8601", f"{_P}, section 6.4", f"{_SITE}/20201304T120000Z"),
    ("timespec-differs", "error", "the time differs from the time of the allocation", "the time of the allocation", f"{_P}, section 6.4", None),
    ("coarse-timespec", "note", "several IRIs have this time", "a time with a fraction of a second", f"{_P}, section 6.4", None),
    # -- A running site: section 2 asks "to keep such an allocation effective for as much time as feasible" ----------
    ("url-gone", "error", "a URL of an earlier check does not work any more", "a page, or a redirect to its new URL", f"{_P}, section 2", None),
    ("url-moved", "warning", "a URL of an earlier check redirects to another one now", "the URL unchanged", f"{_P}, section 2", None),
    ("page-error", "warning", "a listed URL does not work", "a page, or a redirect", f"{_P}, section 1", None),
)  # fmt: skip

FIXED = ("not-an-iri",)
"""The codes whose severity is always that of the catalogue, because the text cannot be checked further."""

SWITCHABLE = tuple(code for code in FINDINGS if code not in FIXED)
"""The codes whose severity a profile can change."""


def finding(code: str, start: int, end: int, message: str | None = None) -> Problem:
    """Create the finding ``code`` at ``text[start:end]``. The default message is the title of its code."""
    definition = FINDINGS[code]
    return Problem(
        code, definition.severity, message or definition.title, start, end, definition.expected, definition.reference
    )
