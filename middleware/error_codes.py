"""What can be wrong with a binding, a resolver prefix, a database or a table: stable codes in one catalogue.

What is wrong with the *identifier itself* keeps its code from :data:`ararat.identifiers.PROBLEMS`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of the catalogue: what a code means wherever it occurs."""

    code: str
    title: str
    expected: str
    reference: str = "Ararat, bindings"


def _catalogue(*rows: tuple[str, str, str] | tuple[str, str, str, str]) -> dict[str, Fault]:
    return {row[0]: Fault(*row) for row in rows}


_COLUMNS = (
    "identifier, target, kind, resource, status, passthrough, scope, who, what, when, where, persistence, "
    "availability, variance, allocated, policy, redirect, reason"
)
_ARK, _URN, _POLICY = "ARK draft", "URN draft", "17beta policy"

FAULTS: dict[str, Fault] = _catalogue(
    # the name
    (
        "inflected-ark",
        "a query or fragment is not part of a name",
        "the ARK without what follows ? or #",
        f"{_ARK}, section 4",
    ),
    (
        "urn-not-assigned",
        "a URN with a query or fragment is not an assigned name",
        "the URN without what follows ? or #",
        f"{_URN}, section 2",
    ),
    ("name-too-long", "the name is longer than 255 characters", "at most 255 characters", f"{_ARK}, section 4"),
    ("not-bound", "the name is not bound", "a name that is bound"),
    # what is said of it
    (
        "kind-unknown",
        "there is no such kind of binding",
        "located, related, described or served; in a table also rule, counter or uuid",
    ),
    ("status-unknown", "there is no such status", "live or withdrawn; in a table also reserved"),
    ("scope-unknown", "there is no such scope", "name or subtree"),
    (
        "scope-not-served",
        "only of a served name is there a subtree",
        "the kind served, or the scope name; what is below other names is let through by passthrough",
    ),
    (
        "passthrough-without-target",
        "there is no target that the rest of a name could be passed on to",
        "passthrough on a binding with a target",
    ),
    (
        "passthrough-without-path",
        "the target has no path that the rest of a name could be appended to",
        "a target with a path, if only a slash after the host",
    ),
    ("nothing-below", "nothing is below a URN", "an ARK, whose slashes and dots say what contains it"),
    ("passthrough-unknown", "passthrough is neither true nor false", "true or false"),
    ("redirect-status", "a name cannot be answered with this status", "302 or 307", f"{_ARK}, section 7.1.2"),
    (
        "permanent-redirect-forbidden",
        "301 and 308 would say that the name has moved for good",
        "302 or 307",
        f"{_ARK}, section 7.1.2",
    ),
    ("resource-text", "the resource is not a plain text", "1 to 2,000 characters, none of them a control character"),
    ("actor-text", "the actor is not a plain text", "1 to 200 characters, none of them a control character"),
    ("reason-text", "the reason is not a plain text", "1 to 2,000 characters, none of them a control character"),
    ("reason-unwanted", "a name that is in use has no reason to be withdrawn", "a reason with the status withdrawn"),
    (
        "metadata-key",
        "there is no such metadata element",
        "who, what, when, where, persistence, availability, variance, allocated or policy",
    ),
    (
        "metadata-text",
        "a metadata element is not a plain text",
        "1 to 4,000 characters, none of them a control character",
    ),
    (
        "alternate-selector",
        "an alternate is not chosen by a media type, a language or both",
        "text/html, en, or text/html;en",
    ),
    ("alternate-twice", "two alternates are chosen by the same media type and language", "each choice once"),
    # rules
    (
        "rule-prefix",
        "no names begin like this",
        "a NAAN and a slash, or a shoulder, like ark:12345/x5",
        f"{_ARK}, section 3.2",
    ),
    (
        "rule-template",
        "this template gives no addresses",
        "an address or a path with one of ${content}, ${pid}, ${value} and ${suffix} after the host",
    ),
    ("rule-unknown", "there is no such rule", "a prefix that has a rule"),
    (
        "rule-otherwise",
        "another rule is on record for this prefix",
        "the rule that is on record; change it with ararat rule set or ararat rule remove",
    ),
    ("row-columns", "the row has a cell that has no meaning for it", "an empty cell in this column"),
    (
        "counter-text",
        "this is no counter of minted names and no UUID",
        "a row as ararat export wrote it: next 17 of 10^4, or urn:uuid: with a resource",
    ),
    # targets
    ("target-missing", "there is no target", "an http or https address, or a path of this site"),
    ("target-unwanted", "a described name leads to its description and has no target", "no target, or another kind"),
    (
        "target-relative",
        "the target depends on where it is read",
        "an http or https address, or a path that begins with exactly one /",
    ),
    ("target-scheme", "the target has a scheme that nobody is sent to", "http or https"),
    (
        "target-userinfo",
        "the target holds a user name or password",
        "an address without anything before an @",
        "RFC 9110, section 4.2.4",
    ),
    (
        "target-host",
        "the target's host cannot be one",
        "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535",
        "RFC 3986, section 3.2",
    ),
    (
        "target-character",
        "the target holds a character that no address can hold",
        "letters, digits, -._~!$&'()*+,;=:@/ and %XX",
        "RFC 3986, section 3.3",
    ),
    ("target-too-long", "the target is too long for the head of an answer", "at most 2,048 octets"),
    (
        "target-dot-segment",
        "a path of this site has a dot-segment",
        "a path without segments that are . or .. alone",
        "RFC 3986, section 5.2.4",
    ),
    ("target-not-local", "a served name is answered by this site", "a path that begins with exactly one /"),
    ("target-itself", "the name would lead to itself", "another target"),
    (
        "reserved-target",
        "the path belongs to the resolver itself",
        "a path of the site, outside /ark: and /urn:",
        f"{_POLICY}, section 4",
    ),
    # names are never re-assigned
    (
        "bound-otherwise",
        "the name leads to another place",
        "the resource on record, or the command relocate",
        f"{_POLICY}, section 3",
    ),
    (
        "other-resource",
        "the name belongs to another resource",
        "another name; one that was given is never given again",
        f"{_POLICY}, section 3",
    ),
    ("withdrawn", "the name is withdrawn", "the command restore, for the same resource", f"{_POLICY}, section 3"),
    (
        "claim-withdrawn",
        "a withdrawn name without a recorded resource gets none",
        "no resource; or restore the name, record its resource, and withdraw it again",
        f"{_POLICY}, section 3",
    ),
    (
        "naan-unregistered",
        "the NAAN is not registered",
        "a NAAN that is registered with the ARK Maintenance Agency, or that is said to be your own",
        f"{_ARK}, section 3.1",
    ),
    # where a policy is on
    (
        "name-reserved",
        "the policy keeps this name for later",
        "a name whose shoulder is any number of the digits 2 to 9 and one 0 or 1, and not 0 alone",
        f"{_POLICY}, section 3.1",
    ),
    (
        "persistent-not-ark",
        "only an ARK can be designated as persistent",
        "an ARK, or no statement of persistence",
        f"{_POLICY}, section 2",
    ),
    (
        "availability-statement",
        "a persistent name has another availability",
        "lifetime or subinfinite, or none for a name that is not published",
        f"{_POLICY}, section 2",
    ),
    ("uuid-reused", "the UUID belongs to another resource", "a UUID of its own", f"{_POLICY}, section 6.2"),
    # names that are made up here
    (
        "shoulder-characters",
        "no names are made under such a beginning",
        "a NAAN, or a NAAN, a slash and a shoulder of the characters 0123456789bcdfghjkmnpqrstvwxz",
        f"{_ARK}, section 3",
    ),
    (
        "shoulder-reserved",
        "names of this NAAN are made under another kind of shoulder",
        "any number of the digits 2 to 9 and then one 1, or one 0 after at least one of them",
        f"{_POLICY}, section 3.1",
    ),
    ("mint-count", "this number of names is not made at once", "1 to 10,000"),
    ("mint-length", "no name is made with so many characters", "1 or more, and at most 255 in the whole ARK"),
    (
        "mint-under-rule",
        "a rule answers every name of this namespace already",
        "a shoulder without a rule, or under_rule=True (--under-rule) to make names that the rule answers",
    ),
    ("names-exhausted", "there are not so many unused names of this length", "a longer name, or another shoulder"),
    # databases
    (
        "database-url",
        "this names no database",
        "sqlite:///FILE, postgresql://HOST/NAME, or a file that ends in .sqlite, .db, .csv, .tsv or .jsonl",
    ),
    (
        "database-in-memory",
        "a database in memory is not shared by threads and workers, and is lost with them",
        "a file",
    ),
    ("driver-missing", "the driver for PostgreSQL is not installed", "pip install 'ararat[postgres]'"),
    (
        "foreign-database",
        "the database holds other tables and none of Ararat's",
        "an empty database, or one that Ararat made",
    ),
    ("database-encoding", "the database does not keep texts in UTF-8", "a database with the encoding UTF8"),
    ("schema-version", "the database was made by another version of Ararat", "ararat migrate"),
    (
        "binding-unreadable",
        "the row of this name in the database cannot be read",
        "a row that Ararat wrote; restore it from a backup or from the history (table events)",
    ),
    (
        "keys-older",
        "the database has URNs under keys of an older Ararat, so that equivalent URNs could be bound twice",
        "ararat migrate",
    ),
    (
        "equivalent-urns",
        "the database has several bindings of one name, since these URNs are equivalent by the rule of their namespace",
        "all but one of them withdrawn with ararat withdraw, then ararat migrate",
    ),
    ("read-only", "these bindings can be read, not changed", "a database that can be written"),
    # tables
    (
        "table-encoding",
        "the file is not in the encoding that it is read in",
        "UTF-8, with or without a byte order mark",
        "RFC 3629, section 3",
    ),
    ("encoding-unknown", "there is no such encoding", "utf-8, windows-1252, utf-16 or another encoding of Python"),
    ("delimiter-unknown", "fields cannot be separated by this", "one character, such as a comma, semicolon or tab"),
    ("table-nul", "the file holds a NUL character", "text", "RFC 4180, section 2"),
    (
        "table-syntax",
        "the line is neither CSV nor TSV",
        "fields with commas (in TSV: tabs) between them; one with such, a quote or line break in double quotes",
        "RFC 4180, section 2",
    ),
    (
        "table-fields",
        "the line has another number of fields than the header",
        "one field for each column",
        "RFC 4180, section 2",
    ),
    (
        "table-json",
        "the line is no JSON object",
        'one JSON object a line: {"identifier": "...", "target": "..."}',
        "RFC 8259, section 4",
    ),
    ("table-value", "a value is no text", "texts; true or false for passthrough, a number for redirect"),
    ("format-unknown", "there is no such format", "csv, tsv or jsonl"),
    ("table-too-long", "the line is too long", "lines of at most 1,000,000 octets"),
    ("table-empty", "the file has no header", "a first line that names the columns", "RFC 4180, section 2"),
    (
        "table-column",
        "there is no such column",
        f"{_COLUMNS} or target[text/html;en]",
    ),
    ("table-column-twice", "a column is named twice", "each column once"),
    ("table-column-missing", "a column is missing", "a column identifier"),
    (
        "table-cut",
        "the last line has no line end, and the file may be cut",
        "the whole file, with a line end after its last line",
    ),
    ("duplicate-line", "two lines have different values for one name", "one line for each name"),
    (
        "name-missing",
        "a name is missing that was bound",
        "its line, with the status withdrawn",
        f"{_POLICY}, section 3",
    ),
    # resolver prefixes
    (
        "prefix-scheme",
        "the resolver prefix does not begin with http:// or https://",
        "http:// or https://",
        f"{_ARK}, section 7.1",
    ),
    (
        "prefix-userinfo",
        "the resolver prefix holds a user name or password",
        "an address without anything before an @",
        "RFC 9110, section 4.2.4",
    ),
    (
        "prefix-host",
        "the resolver prefix's host cannot be one",
        "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535",
        f"{_ARK}, section 7.1",
    ),
    (
        "prefix-path",
        "what follows the resolver prefix's host is no path",
        "a path of letters, digits, -._~!$&'()*+,;=:@/ and %XX, without query and fragment",
        f"{_ARK}, section 7.1",
    ),
)
"""The codes that bindings add to those of identifiers."""
