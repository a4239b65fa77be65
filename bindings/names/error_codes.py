"""The catalogue of error codes of the middleware: for bindings, databases, tables and refused requests.

The codes of errors in an *identifier* are in :data:`ararat.identifiers.PROBLEMS`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """The description of one error code of the middleware.

    ``title`` states what is wrong, ``expected`` what is accepted instead, ``reference`` names the rule. The reference
    "Ararat" marks a rule that no standard contains.
    """

    code: str
    title: str
    expected: str
    reference: str = "Ararat"


def _catalogue(*rows: tuple[str, str, str] | tuple[str, str, str, str]) -> dict[str, ErrorCode]:
    return {row[0]: ErrorCode(*row) for row in rows}


_COLUMNS = (
    "identifier, target, kind, resource, status, passthrough, scope, who, what, when, where, how, persistence, "
    "availability, variance, allocated, policy, redirect, reason, successor, spelling, created, changed"
)
_ARK, _URN, _POLICY = "ARK draft", "URN draft", "IRI policy"
_NEVER_REASSIGNED = "a name is never reassigned: POL-023"

ERROR_CODES: dict[str, ErrorCode] = _catalogue(
    # Names
    ("inflected-ark", "a query or fragment is not part of a name", "the ARK without the part from ? or #", f"{_ARK}, section 4"),
    ("urn-not-assigned", "a URN with a query or fragment is not an assigned name", "the URN without the part from ? or #", f"{_URN}, section 2"),
    ("name-too-long", "the name is longer than 255 characters", "at most 255 characters", f"{_ARK}, section 4"),
    ("not-bound", "the name is not bound", "a name that is bound"),
    ("personal-data", "the name or a value of it looks like data about a person", "a name without personal data: names enter the public log and stay there; only metadata can be redacted"),
    # Fields of a binding
    ("kind-unknown", "the kind of the binding is unknown", "located, related, described or served; in a table also rule, prefix, counter or uuid"),
    ("status-unknown", "the status is unknown", "live or withdrawn; in a table also reserved"),
    ("scope-unknown", "the scope is unknown", "name or subtree"),
    ("scope-not-served", "only a served name can have the scope subtree", "the kind served, or the scope name; for other kinds, passthrough covers the names below"),
    ("passthrough-without-target", "passthrough needs a target to append the rest of a name to, and this binding has none", "passthrough on a binding with a target"),
    ("passthrough-without-path", "passthrough appends the rest of a name to the path of the target, and this target has no path", "a target with a path; a slash after the host is enough"),
    ("nothing-below", "a URN cannot contain other names", "an ARK; its slashes and dots state what contains it"),
    ("passthrough-unknown", "passthrough is neither true nor false", "true or false"),
    ("redirect-status", "this status cannot be used for a redirect", "302 or 307", f"{_ARK}, section 7.1.2"),
    ("permanent-redirect-forbidden", "301 and 308 are permanent redirects; clients would stop using the identifier", "302 or 307", f"{_ARK}, section 7.1.2"),
    ("resource-text", "the resource is empty, too long or contains a control character", "1 to 2,000 characters without control characters"),
    ("actor-text", "the actor is empty, too long or contains a control character", "1 to 200 characters without control characters"),
    ("reason-text", "the reason is empty, too long or contains a control character", "1 to 2,000 characters without control characters"),
    ("reason-unwanted", "a live name cannot have a reason for its withdrawal", "a reason with the status withdrawn, or no reason"),
    ("successor-unwanted", "a live name cannot have a successor", "a successor with the status withdrawn, or no successor"),
    ("successor-itself", "the successor is the name itself", "another name, or an http or https address"),
    ("successor-text", "the successor is neither a name nor an address", "an ARK, a URN, or an http or https address"),
    ("time-text", "this is not a time", "a date such as 2020-10-04, or a time such as 2020-10-04T12:00:00Z"),
    ("time-order", "the name was changed before it was created", "a time of creation that is not after the change"),
    ("time-future", "the time is in the future", "a time in the past"),
    ("spelling-other-name", "the spelling belongs to another name", "a spelling of the identifier in the same row"),
    ("metadata-key", "the metadata element is unknown", "who, what, when, where, how, persistence, availability, variance, allocated, policy, datacite, schema or a.b"),
    ("metadata-text", "the metadata element is empty, too long or contains a control character", "1 to 4,000 characters without control characters; elements of other namespaces: at most 65,536 bytes"),
    ("metadata-twice", "a metadata element is given twice", "the short or the full name of the element, not both"),
    ("metadata-document", "the document in the metadata is not valid", "DataCite XML without a document type declaration in datacite, one JSON object in schema"),
    ("alternate-selector", "the selector of an alternate target is not a media type, a language or both", "text/html, en, or text/html;en"),
    ("alternate-twice", "two alternate targets have the same media type and language", "one target for each media type and language"),
    # Rules
    ("rule-prefix", "the prefix is not the beginning of ARKs", "a NAAN and a slash, or a shoulder, like ark:12345/x5", f"{_ARK}, section 3.2"),
    ("rule-template", "the template of the rule does not produce addresses", "an address or a path with one of ${content}, ${pid}, ${value} and ${suffix} after the host"),
    ("rule-unknown", "this prefix has no rule", "a prefix that has a rule"),
    ("rule-otherwise", "this prefix already has another rule", "the recorded rule; to change it, set or remove the rule"),
    # Lists
    ("list-action", "this action is not in the history of names", "bound, updated, relocated, withdrawn, restored, redacted, reserved or deleted"),
    ("list-after", "the position in the list is not valid", "the value that the page before returned, or no value"),
    ("list-limit", "the number of names on a page is not valid", "a number from 1 to 1,000"),
    ("list-prefix", "the prefix is not the beginning of an ARK or URN", "ark:, a NAAN, a slash and the beginning of a Name; or urn:, an NID and a colon"),
    ("list-state", "the state does not exist", "reserved, live or withdrawn"),
    ("list-target", "the target is not the beginning of a stored target", "a host, or the beginning of a URL or path"),
    ("list-text", "the text has no words to search for", "at least one word of at most 400 characters"),
    # Branding of the public pages
    ("branding-text", "a text of the branding is not valid", "one line without control characters: institution up to 200 characters, contact 400, statement 1,000"),
    ("branding-logo", "the logo is not valid", "a path of this site such as /static/logo.svg, or a PNG, JPEG, GIF or WebP image of at most 32,768 bytes"),
    ("branding-colour", "the colour is not valid", "a colour such as #0b4f6c", "CSS Color Module Level 4, section 5.2"),
    # Operations
    ("relocate-prefix", "the beginnings of the targets do not fit together", "two URLs, two paths or two hosts; or a host, and a URL or path that replaces it"),
    ("operation-large", "the operation is for too many names for one request", "the beginning of fewer names or targets; or ararat relocate or ararat undo on the server"),
    ("operation-unknown", "the operation does not exist", "a number in the list of operations"),
    ("operation-undone", "the operation was undone already", "an operation that is in effect; to repeat this one, undo the operation that undid it"),
    ("undo-changed", "the name was changed after this operation", "a name that has not changed since then; or an undo that leaves changed names alone"),
    ("undo-resource", "a recorded resource stays after an undo", "no action: the name keeps its resource", _NEVER_REASSIGNED),
    # Prefix records
    ("prefix-text", "a text of the prefix record is not valid", "1 to 4,000 characters without control characters; an empty text deletes it"),
    ("prefix-pattern", "the pattern of the prefix record is not valid", "29^8 or 10^8 for 8 betanumeric characters or digits; +check or +name at its end adds a check character"),
    ("prefix-characters", "the character set of the prefix record is not valid", "betanumeric, digits, or a list of characters and ranges like 0-9a-f", f"{_ARK}, section 8.1"),
    ("prefix-empty", "the prefix record has no text", "at least one text, or the removal of the record"),
    ("prefix-unknown", "this prefix has no record", "a prefix that has a record"),
    ("prefix-otherwise", "this prefix already has another record", "the recorded texts; change them with ararat prefix set"),
    ("name-characters", "the prefix of the name does not permit one of its characters", "another name, or a larger character set in the record of the prefix", f"{_ARK}, section 8.1"),
    ("row-columns", "this column has no meaning for a row of this kind", "an empty cell in this column"),
    ("counter-text", "this is neither a counter of minted names nor a UUID", "a row as ararat export writes it: next 17 of 10^4, or urn:uuid: with a resource"),
    # The log
    ("log-missing", "the database has no log", "a log: run ararat log init"),
    ("log-exists", "the log exists already", "a database and a folder without a log"),
    ("log-origin", "the origin of the log is not valid", "the public address of the log without https://, such as example.org/log, without spaces and +"),
    ("log-key", "the key of the log cannot be used", "the key file that ararat log init or ararat witness init created"),
    ("log-busy", "another process publishes this log at the same time", "one publication at a time; try again later"),
    ("log-restored", "the database is older than the published log", "the newest backup of the database; if it is lost, run ararat log recover"),
    ("log-folder", "the folder is older than the log in the database, or files are missing or damaged", "the newest backup of the folder; if it is lost, run ararat log recover"),
    ("log-write", "a file of the log cannot be written", "a folder with free space that this user can write"),
    ("log-fork", "the database and the published checkpoint contradict each other", "the database and the folder of one log; if they are lost, create a new log with another origin"),
    ("log-changed", "the database differs from an entry of the log", "the rows as they were published; run ararat verify, or restore a backup"),
    ("revision-unknown", "the name does not have this change", "the number of a change in the history of the name"),
    ("log-quorum", "not enough witnesses have cosigned the new checkpoint, so it is not published", "the quorum of the policy; try again later, or publish without it: --quorum prefer"),
    ("witness-log", "the witness cannot cosign this log", "the key of a log, with one key for each origin"),
    ("witness-state", "the state of the witness cannot be used", "the folder that ararat witness init created"),
    ("log-event", "a change of a name cannot be an entry of the log", "values that Ararat writes; run ararat verify"),
    # Targets
    ("target-missing", "the binding has no target", "an http or https address, or a path of this site"),
    ("target-unwanted", "a binding of the kind described has no target, because it leads to its description", "no target, or another kind"),
    ("target-relative", "the target is a relative reference", "an http or https address, or a path that begins with exactly one /"),
    ("target-scheme", "the scheme of the target is not http or https", "http or https"),
    ("target-userinfo", "the target contains a user name or password", "an address without the part before the @", "RFC 9110, section 4.2.4"),
    ("target-host", "the host or port of the target is not valid", "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535", "RFC 3986, section 3.2"),
    ("target-character", "the target contains a character that is not allowed in an address", "letters, digits, -._~!$&'()*+,;=:@/ and %XX", "RFC 3986, section 3.3"),
    ("target-too-long", "the target is too long for a header field", "at most 2,048 bytes"),
    ("target-dot-segment", "the segment . or .. is in the path of the target", "a path without . and .. as segments", "RFC 3986, section 5.2.4"),
    ("target-not-local", "the target of a served name is not a path of this site", "a path that begins with exactly one /"),
    ("target-itself", "the target leads back to the same name", "another target"),
    ("reserved-target", "the path of the target belongs to the resolver", "a path of the site outside /ark: and /urn:", "reserved paths: POL-038"),
    # Names are never reassigned
    ("bound-otherwise", "the name is already bound to something else", "the recorded resource; or relocate the name", _NEVER_REASSIGNED),
    ("other-resource", "the name already identifies another resource", "a name that was never bound", _NEVER_REASSIGNED),
    ("withdrawn", "the name is withdrawn", "its restoration, for the same resource", _NEVER_REASSIGNED),
    ("claim-withdrawn", "a withdrawn name without a recorded resource cannot get one", "no resource; or restore the name, record its resource, and withdraw it again", _NEVER_REASSIGNED),
    # Changes of several names
    ("revision-stale", "the name was changed after it was read", "the current revision of the name; read the name again, and repeat the change"),
    ("name-taken", "the name is recorded already with other values", "another name; to change the recorded one, send a request that updates it"),
    ("changes-count", "one call changes too many names", "at most 1,000 names"),
    ("name-twice", "the name is twice in one call", "each name once, in one of its spellings"),
    # Permissions
    ("account-required", "this request needs an account", "a request with a token, or with a password or session"),
    ("role-missing", "the role of the account does not permit this request", "an account with another role"),
    ("not-granted", "the account has no grant for this name", "a name below a prefix that is granted to the account and to the token"),
    ("shoulder-unknown", "the shoulder has no prefix record, and no account has a grant for it", "a shoulder with a prefix record, or a granted prefix"),
    ("row-only-names", "this import can contain names only", "a row of a name; an administrator can import rules, prefix records and counters"),
    # Reserved names
    ("reserved", "the name is reserved and not public", "a binding of the name, which makes it public"),
    ("reserve-public", "the name is or was public, so it cannot be reserved", "a name that was never bound", _NEVER_REASSIGNED),
    ("withdraw-reserved", "the name is reserved: it was never public, so it cannot be withdrawn", "the deletion of the name; or its binding before the withdrawal"),
    ("delete-public", "the name is or was public, so it cannot be deleted", "its withdrawal", _NEVER_REASSIGNED),
    ("naan-unregistered", "the NAAN is not registered", "a NAAN that is registered with the ARK Maintenance Agency, or that you declare as your own", f"{_ARK}, section 3.1"),
    # With an IRI policy
    ("name-reserved", "the IRI policy reserves this name for later use", "a name whose shoulder is any number of the digits 2 to 9 and one 0 or 1, and not 0 alone", f"{_POLICY}, POL-031"),
    ("persistent-not-ark", "only an ARK can be designated as persistent", "an ARK, or no statement of persistence", f"{_POLICY}, POL-017"),
    ("availability-statement", "a persistent name cannot have this availability", "lifetime or subinfinite, or none for a name that is not published", f"{_POLICY}, POL-018"),
    ("uuid-reused", "the UUID already identifies another resource", "another UUID", f"{_POLICY}, POL-048"),
    # Minting
    ("shoulder-characters", "the shoulder contains characters that minted names cannot have", "a NAAN, or a NAAN, a slash and a shoulder of the characters 0123456789bcdfghjkmnpqrstvwxz", f"{_ARK}, section 3"),
    ("shoulder-reserved", "the IRI policy does not allow this shoulder for its NAAN", "any number of the digits 2 to 9 and then one 1, or one 0 after at least one of them", f"{_POLICY}, POL-028"),
    ("mint-count", "this number of names cannot be minted at once", "1 to 10,000"),
    ("mint-length", "the length of minted names is out of range", "1 or more, and at most 255 in the whole ARK"),
    ("mint-under-rule", "a rule already answers for all names of this shoulder", "a shoulder without a rule, or ararat mint --under-rule (in Python, under_rule=True)"),
    ("names-exhausted", "there are not enough unused names of this length", "a longer name, or another shoulder"),
    # Databases
    ("database-url", "this is not the address of a database", "sqlite:///FILE, postgresql://HOST/NAME, or a FILE.sqlite, .db, .csv, .tsv, .jsonl or .snapshot"),
    ("database-in-memory", "threads and processes cannot share a database in memory, and it is lost when they end", "a file"),
    ("driver-missing", "the driver for PostgreSQL is not installed", "pip install 'ararat[postgres]'"),
    ("foreign-database", "the database contains tables of other programs and no tables of Ararat", "an empty database, or a database that Ararat created"),
    ("snapshot-foreign", "the file is not a snapshot of Ararat", "a file of ararat snapshot"),
    ("snapshot-damaged", "the snapshot is not complete, or its content was changed", "a file of ararat snapshot, copied completely and then renamed"),
    ("snapshot-version", "another version of Ararat wrote the snapshot", "a file of ararat snapshot of this version"),
    ("not-in-snapshot", "a snapshot has no history, no accounts and no words to search", "the database that the snapshot was made of"),
    ("database-encoding", "the encoding of the database is not UTF-8", "a database with the encoding UTF8"),
    ("schema-version", "another version of Ararat created the database", "ararat migrate; for the database of a newer version, that version of Ararat"),
    ("binding-unreadable", "the row of this name in the database cannot be read", "a row that Ararat wrote; restore it from a backup or from the history (table events)"),
    ("store-not-empty", "the database has names or other records already, and a copy must be exact", "an empty database, which ararat init or ararat copy creates"),
    ("history-partial", "the file is not a complete history", "a file of ararat export --history without --since"),
    ("copy-differs", "the copy has other content than the original, so nothing was written", "a database in which no trigger or other program changes the rows"),
    ("read-only", "these bindings are read-only", "a database that can be written"),
    # Tables
    ("table-encoding", "the file is not in the expected encoding", "UTF-8, with or without a byte order mark", "RFC 3629, section 3"),
    ("encoding-unknown", "the encoding is unknown", "utf-8, windows-1252, utf-16 or another encoding of Python"),
    ("delimiter-unknown", "this cannot be a delimiter", "one character, such as a comma, semicolon or tab"),
    ("table-spreadsheet", "the file is a spreadsheet, not text", "CSV, TSV or JSON Lines"),
    ("table-workbook", "the workbook cannot be read", "an .xlsx file without a password, of at most 50 MB unpacked; or its sheet saved as CSV UTF-8"),
    ("table-size", "the table has too many rows or columns", "at most 20,000 rows and 200 columns; or ararat import"),
    ("table-nul", "the file contains a NUL character", "text", "RFC 4180, section 2"),
    ("table-syntax", "the line is neither CSV nor TSV", "fields separated by commas (in TSV: tabs); quote a field that contains a separator, a quote or a line break", "RFC 4180, section 2"),
    ("table-fields", "the number of fields differs from the header", "one field for each column", "RFC 4180, section 2"),
    ("table-history", "the line is not a record of a history", "a file of ararat export --history"),
    ("table-json", "the line is not a JSON object", 'one JSON object a line: {"identifier": "...", "target": "..."}', "RFC 8259, section 4"),
    ("table-value", "the value has the wrong type", "text; true or false for passthrough, a number for redirect"),
    ("format-unknown", "the format is unknown", "csv, tsv or jsonl"),
    ("dump-syntax", "the file is not a dump of this system", "a format that docs/migrate.md lists; set --from to the system that wrote the file"),
    ("archive-content", "the compressed file cannot be read", "gzip, or a ZIP archive with one file that is not encrypted"),
    ("table-too-long", "the line is too long", "lines of at most 1,000,000 bytes"),
    ("table-empty", "the file has no header", "a first line that names the columns", "RFC 4180, section 2"),
    ("table-column", "the column is unknown", f"{_COLUMNS} or target[text/html;en]"),
    ("table-column-twice", "the header names a column twice", "each column once"),
    ("table-column-missing", "the column identifier is missing", "a column identifier"),
    ("table-cut", "the last line has no line end, so the file may be incomplete", "the whole file, with a line end after its last line"),
    ("duplicate-line", "two lines have different values for one name", "one line for each name"),
    ("name-missing", "a bound name is missing", "its line, with the status withdrawn", _NEVER_REASSIGNED),
    # Resolver prefixes
    ("prefix-scheme", "the resolver prefix does not begin with http:// or https://", "http:// or https://", f"{_ARK}, section 7.1"),
    ("prefix-userinfo", "the resolver prefix contains a user name or password", "an address without the part before the @", "RFC 9110, section 4.2.4"),
    ("prefix-host", "the host or port of the resolver prefix is not valid", "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535", f"{_ARK}, section 7.1"),
    ("prefix-path", "the part after the host of the resolver prefix is not a path", "a path of letters, digits, -._~!$&'()*+,;=:@/ and %XX, without query and fragment", f"{_ARK}, section 7.1"),
)  # fmt: skip
"""All codes of :class:`~ararat.bindings.names.errors.Refused` that are not in :data:`ararat.identifiers.PROBLEMS`."""

REFUSALS: dict[str, ErrorCode] = _catalogue(
    ("not-bound", "this resolver has no location for this identifier", "an identifier that is bound here; it can be bound later, or another resolver can know it", f"{_ARK}, section 7.1.2"),
    ("unknown-inflection", "the identifier is bound here, but this inflection is unknown", "the identifier without a query, or with ?, ?? or ?info for its description", f"{_ARK}, section 3.4"),
    ("withdrawn", "the resource of this identifier was withdrawn", "a request for its description, which remains; the name is never given to another resource", f"{_ARK}, section 7.1.2"),
    ("container-withdrawn", "a name that contains this identifier was withdrawn", "a request for the description of the withdrawn name; its withdrawal includes all names below it", f"{_ARK}, section 7.1.2"),
    ("target-unusable", "the stored location of this identifier cannot be used", "a target that this resolver accepts; the operator must relocate the name", f"{_ARK}, section 7.1.2"),
    ("method-not-allowed", "this method cannot be used on identifiers", "GET, HEAD or OPTIONS", f"{_ARK}, section 7.1.3"),
    ("bindings-unavailable", "the bindings cannot be read at the moment", "the same request after some seconds", f"{_ARK}, section 3.1"),
    ("internal-error", "the resolver failed because of an error in its program", "the same request after the operator of this site has corrected the error; the log of the site describes it", "RFC 9110, section 15.6.1"),
)  # fmt: skip
"""The codes of refused requests, besides :data:`ararat.identifiers.PROBLEMS`. They describe the answer.

No title blames the identifier, or the resource, for what this resolver does not know (ARK-115).
"""

HTTP_STATUS = {
    "not-bound": 404,
    "unknown-inflection": 404,
    "withdrawn": 410,
    "container-withdrawn": 410,
    "target-unusable": 404,
    "method-not-allowed": 405,
    "bindings-unavailable": 503,
    "internal-error": 500,
    # NAAN 99999 is well-formed and never bound, so it is not found.
    "naan-reserved-invalid": 404,
    "too-long": 414,
}
"""The HTTP status of a refused request by its code; 400 for all other codes.

"The resolver SHOULD reply with HTTP status code 400 if the request-part is not a Basic ARK and the server is unwilling
to process it." (ARK draft, section 7.1.2; decision X-05)
"""
