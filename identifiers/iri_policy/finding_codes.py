"""What the policy finds: stable codes in one catalogue, of the same shape as :data:`ararat.identifiers.PROBLEMS`.

An "error" breaks a MUST or takes what is reserved: the IRI is not to be allocated. A "warning" goes against a SHOULD or
what is RECOMMENDED; a "note" is advice.
"""

from __future__ import annotations

from ..problems import Definition, Problem, catalogue

_P = "17beta policy"
_SITE = "https://17beta.top"

FINDINGS: dict[str, Definition] = catalogue(
    # -- 1 General considerations ----------------------------------------------------------------------------------
    ("not-an-iri", "error", "a character stands where no IRI can have it", "an IRI", "RFC 3987, section 2.2", f"{_SITE}/en/a b"),
    ("undocumented", "error", "nothing documents the allocation", "a title, a resource or a reference to what documents it", f"{_P}, section 1", None),
    ("prefer-https", "warning", "the scheme is not the best there is", "https", f"{_P}, section 1", "http://17beta.top/en/x"),
    ("not-normal-form", "error", "the IRI is not in normal form", "the normal form of RFC 3987, section 5.3.2", f"{_P}, section 1", f"{_SITE}/en/%61"),
    ("empty-path", "error", "the path is empty", "a path, if only a slash", f"{_P}, section 1", _SITE),
    ("empty-segment", "error", "a segment of the path is empty", "no slash at the end, and none after another", f"{_P}, section 1", f"{_SITE}/en/"),
    ("filename-extension", "error", "a segment ends in a filename extension", "the segment without its extension", f"{_P}, section 1", f"{_SITE}/en/x.html"),
    ("phrase-style", "warning", "a phrase is not written in lower case, or has spaces", "lower case, and _ for a space", f"{_P}, section 1", f"{_SITE}/en/Some-Book"),
    ("parent-unallocated", "warning", "a more general IRI is not allocated", "every IRI that is left when segments are taken away", f"{_P}, section 1", None),
    ("deep-path", "note", "the path is long", "an IRI as simple as possible", f"{_P}, section 1", f"{_SITE}/en/a/b/c/d/e/f"),
    ("spurious-www", "warning", "www contributes nothing", "the host without www.", f"{_P}, section 1", "https://www.17beta.top/"),
    ("spurious-authority", "warning", "a port or a user name stands beside the host", "the host alone", f"{_P}, section 1", "https://17beta.top:8443/en"),
    ("technology", "warning", "a segment tells what the site is made with at the moment", "nothing that another technology would change", f"{_P}, section 1", f"{_SITE}/cgi-bin/x"),
    # -- 2 Persistence ---------------------------------------------------------------------------------------------
    ("persistent-not-ark", "error", "only ARKs are designated as persistent", "an ARK, or no statement of persistence", f"{_P}, section 2", None),
    ("availability-statement", "error", "a persistent identifier that is published has another availability", "lifetime or subinfinite", f"{_P}, section 2", None),
    # -- 3 Archival Resource Key -----------------------------------------------------------------------------------
    ("not-opaque", "warning", "the name looks meaningful", "a name that says nothing", f"{_P}, section 3", "ark:21206/1pharmacology"),
    ("shoulder-reserved", "error", "the shoulder is reserved", "another shoulder", f"{_P}, section 3.1", "ark:21206/0bc"),
    ("reserved-name", "error", "names without a decimal shoulder are reserved", "any number of the digits 2 to 9 and one 0 or 1 before the rest", f"{_P}, section 3.1", "ark:21206/bcd"),
    ("permanent-redirect", "error", "301 and 308 would say that the name has moved for good", "302, 303, 307, 200 or 204", f"{_P}, section 3.2", None),
    # -- 4 IRIs reserved for resolvers -----------------------------------------------------------------------------
    ("undefined-scheme", "error", "the path is reserved, and its scheme is not defined", "a scheme of the profile or of the registry of URI schemes", f"{_P}, section 4", f"{_SITE}/zzz:1"),
    ("scheme-semantics", "error", "the path is reserved for a scheme, and is no identifier of it", "an identifier of the scheme", f"{_P}, section 4", f"{_SITE}/ark:"),
    # -- 5 Non-information resources -------------------------------------------------------------------------------
    ("non-information-fragment", "error", "the IRI of a non-information resource has a fragment", "an IRI without a fragment", f"{_P}, section 5", None),
    ("non-information-status", "error", "a non-information resource is answered as if it were a page", "404 or 303", f"{_P}, section 5", None),
    # -- 6 Namespaces ----------------------------------------------------------------------------------------------
    ("bad-language-tag", "error", "the first segment is no language tag", "a tag of BCP 47", f"{_P}, section 6.1", f"{_SITE}/zz-1/x"),
    ("language-unlisted", "warning", "the language is none of those in use", "a language of the profile", f"{_P}, section 6.1", None),
    ("uuid-case", "error", "the UUID has an upper-case letter", "the UUID in lower case", f"{_P}, section 6.2", f"{_SITE}/F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
    ("uuid-invalid", "error", "the UUID is of another variant", "8, 9, a or b at the start of the fourth group", f"{_P}, section 6.2", f"{_SITE}/f81d4fae-7dec-11d0-0765-00a0c91e6bf6"),
    ("uuid-unassigned", "warning", "the UUID names nothing, or is of no version there is", "a UUID of version 1 to 8", f"{_P}, section 6.2", f"{_SITE}/00000000-0000-0000-0000-000000000000"),
    ("uuid-twice", "warning", "the UUID stands in several IRIs", "one resource for a UUID", f"{_P}, section 6.2", None),
    ("bad-timespec", "error", "the time is none", "a date and a time of ISO 8601", f"{_P}, section 6.4", f"{_SITE}/20201304T120000Z"),
    ("timespec-differs", "error", "the time is not that of the allocation", "the time of the allocation", f"{_P}, section 6.4", None),
    ("coarse-timespec", "note", "several IRIs have this time", "a finer resolution", f"{_P}, section 6.4", None),
)  # fmt: skip


def finding(code: str, start: int, end: int, message: str | None = None) -> Problem:
    """The finding ``code`` at ``text[start:end]``; without a message the catalogue's title is the message."""
    known = FINDINGS[code]
    return Problem(code, known.severity, message or known.title, start, end, known.expected, known.reference)
