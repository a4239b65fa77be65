"""The one table of errors and warnings of bindings: what each code means, and how the JSON API, the desk, the EZID API
and the command answer it. :data:`ararat.identifiers.PROBLEMS` has those of identifiers; :func:`error_code` finds both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...identifiers import PROBLEMS
from ...identifiers.text.translatable import Translatable

NO = 1
"""The exit code of a command whose answer is no: not bound, or bound to something else."""
UNREADABLE = 2
"""The exit code of a command whose input is not valid, or cannot be bound."""
UNAVAILABLE = 69
"""The exit code of a command that cannot reach or write the bindings (EX_UNAVAILABLE of sysexits.h)."""
CANNOT_WRITE = 74
"""The exit code of a command that cannot write a file (EX_IOERR of sysexits.h)."""
OUTCOME_UNKNOWN = 75
"""The exit code of a command whose change may be written or not (EX_TEMPFAIL of sysexits.h)."""

RETRY_SECONDS = 5
"""The field Retry-After of each answer 503. A failover of a database lasts some seconds."""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """The description of one error or warning, and the answers to it.

    - ``title``: what is wrong, in one sentence without a full stop. ``expected``: what is accepted instead.
    - ``reference``: the rule. "Ararat" marks a rule that no standard contains.
    - ``status``: the HTTP status of the JSON API and the desk. 422 means that a value is not valid. ``exit_code`` is
      that of a command.
    - ``about``: the argument of :class:`~ararat.middleware.Bindings` that is wrong, or None, as for the content of a
      file.
    - ``repeats``: whether a client can repeat a request with the status 503 by itself.
    - ``fix``: how to correct the error, in the imperative. By default it is to use what is ``expected``.
    - ``severity``: "warning" if the code is only that of a warning, which refuses no change.

    >>> ERROR_CODES["target-scheme"].status, ERROR_CODES["target-scheme"].about, ERROR_CODES["target-scheme"].remedy
    (422, 'target', 'use http or https')
    """

    code: str
    title: str
    expected: str
    reference: str = "Ararat"
    status: int = 422
    exit_code: int = UNREADABLE
    about: str | None = None
    fix: str = ""
    repeats: bool = True
    severity: Literal["error", "warning"] = "error"

    def __post_init__(self) -> None:
        for name in ("title", "expected", "fix"):
            object.__setattr__(self, name, Translatable.literal(getattr(self, name)))

    @property
    def remedy(self) -> str:
        """The sentence that states how to correct the error, in the imperative and without a full stop."""
        return self.fix or Translatable("use %(expected)s", expected=self.expected)

    @property
    def retry_after(self) -> int | None:
        """The seconds for the header field Retry-After. None for an error that a repetition does not correct."""
        return RETRY_SECONDS if self.status == 503 and self.repeats else None


def _warning(code: str, title: str, expected: str, about: str | None = None) -> ErrorCode:
    return ErrorCode(code, title, expected, about=about, severity="warning")


def _catalogue(*entries: ErrorCode) -> dict[str, ErrorCode]:
    found = {entry.code: entry for entry in entries}
    if len(found) < len(entries):
        raise ValueError("two entries have the same code")
    return found


_COLUMNS = (
    "identifier, target, kind, resource, status, passthrough, scope, number, further_numbers, former_numbers, who, "
    "what, when, where, how, persistence, availability, variance, allocated, policy, redirect, listed, reason, "
    "successor, spelling, created, changed, once_public, hold_until, hold_reason, embargo"
)
_ARK, _URN, _POLICY = "ARK draft", "URN draft", "IRI policy"
_NEVER_REASSIGNED = "a name is never reassigned: POL-023"

ERROR_CODES: dict[str, ErrorCode] = _catalogue(
    # Names
    ErrorCode("inflected-ark", "a query or fragment is not part of a name", "the ARK without the part from ? or #", f"{_ARK}, section 4", about="identifier"),
    ErrorCode("urn-not-assigned", "a URN with a query or fragment is not an assigned name", "the URN without the part from ? or #", f"{_URN}, section 2", about="identifier"),
    ErrorCode("name-too-long", "the name is longer than 255 characters", "at most 255 characters", f"{_ARK}, section 4", about="identifier"),
    ErrorCode("not-bound", "the name is not bound", "a name that is bound", status=404, exit_code=NO, about="identifier"),
    # Fields of a binding
    ErrorCode("kind-unknown", "the kind of the binding is unknown", "located, related, described or served; in a table also rule, prefix, counter or uuid", about="kind"),
    ErrorCode("key-unknown", "no recorded name has this key", "the key of a recorded name, or the choice to mint names", status=409, about="resource"),
    ErrorCode("number-damaged", "a spreadsheet program probably changed the number of the thing", "the recorded number, in a column that is formatted as text, or no column of numbers", status=409, exit_code=NO, about="resource"),
    ErrorCode("key-damaged", "a spreadsheet program probably changed the key", "the number of the thing, in a column that is formatted as text", about="resource"),
    ErrorCode("key-similar", "the key differs from another one only in case, spaces or hyphens", "the key as it is recorded", status=409, about="resource"),
    ErrorCode("key-former", "the key is a former number of a recorded thing", "the current number or the ARK of this thing, or the number of another thing", status=409, about="resource"),
    ErrorCode("number-kind", "the kind of numbers does not exist", "current, further or former", about="numbers"),
    ErrorCode("number-several", "there are too many numbers", "one current number, and at most 50 further or former ones", about="numbers"),
    ErrorCode("number-text", "the text cannot be recorded as a number", "a text of 1 to 400 characters in one line, without control characters", about="numbers"),
    ErrorCode("status-unknown", "the status is unknown", "live or withdrawn; in a table also reserved", about="state"),
    ErrorCode("scope-unknown", "the scope is unknown", "name or subtree", about="scope"),
    ErrorCode("scope-not-served", "only a served name can have the scope subtree", "the kind served, or the scope name; for other kinds, passthrough covers the names below", about="kind"),
    ErrorCode("passthrough-without-target", "passthrough needs a target to append the rest of a name to, and this binding has none", "passthrough on a binding with a target", about="passthrough"),
    ErrorCode("passthrough-without-path", "passthrough appends the rest of a name to the path of the target, and this target has no path", "a target with a path; a slash after the host is enough", about="passthrough"),
    ErrorCode("nothing-below", "a URN cannot contain other names", "an ARK; its slashes and dots state what contains it", about="identifier"),
    ErrorCode("passthrough-unknown", "the value of passthrough does not exist", "no, normal or given; true and false mean normal and no", about="passthrough"),
    ErrorCode("redirect-status", "this status cannot be used for a redirect", "302 or 307", f"{_ARK}, section 7.1.2", about="redirect"),
    ErrorCode("permanent-redirect-forbidden", "301 and 308 are permanent redirects; clients would stop using the identifier", "302 or 307", f"{_ARK}, section 7.1.2", about="redirect"),
    ErrorCode("test-unknown", "the column test does not fit the name", "yes for a name below NAAN 99999, and an empty cell for another name", about="name"),
    ErrorCode("listed-unknown", "the value of listed does not exist", "yes or no; true and false mean the same", about="listed"),
    ErrorCode("resource-text", "the resource is empty, too long or contains a control character", "1 to 2,000 characters without control characters", about="resource"),
    ErrorCode("actor-text", "the actor is empty, too long or contains a control character", "1 to 200 characters without control characters", about="actor"),
    ErrorCode("reason-text", "the reason is empty, too long or contains a control character", "1 to 2,000 characters without control characters", about="reason"),
    ErrorCode("reason-unwanted", "a live name cannot have a reason for its withdrawal", "a reason with the status withdrawn, or no reason", about="reason"),
    ErrorCode("once-public", "this value does not say whether the name was public", "yes, or no value", about="once_public"),
    ErrorCode("hold-until", "the end of the hold is not valid", "a date or a time with its offset in the future, at most a year ahead, such as 2027-03-01 or 2027-03-01T12:00:00Z", about="until"),
    ErrorCode("hold-reason", "the reason of the hold is empty, too long or contains a control character", "1 to 2,000 characters without control characters", about="reason"),
    ErrorCode("hold-withdrawn", "a withdrawn name cannot be put on hold: it does not redirect", "a live or a reserved name", status=409, exit_code=NO, about="name"),
    ErrorCode("hold-missing", "the name or prefix is not on hold", "a name or prefix in the list of holds", status=404, exit_code=NO, about="name", fix="to list the holds, run: ararat holds --all"),
    ErrorCode("hold-unknown", "this is neither a recorded name, nor a prefix with a record, a rule or names", "a recorded name, or a prefix of recorded names", status=404, exit_code=NO, about="name"),
    ErrorCode("prefix-held", "the record of a prefix on hold cannot be removed: this would end the hold", "a prefix without a hold", status=409, exit_code=NO, about="prefix", fix="release it first: ararat release PREFIX"),
    ErrorCode("successor-unwanted", "a live name cannot have a successor", "a successor with the status withdrawn, or no successor", about="successor"),
    ErrorCode("successor-itself", "the successor is the name itself", "another name, or an http or https address", about="successor"),
    ErrorCode("successor-text", "the successor is neither a name nor an address", "an ARK, a URN, or an http or https address", about="successor"),
    ErrorCode("time-text", "this is not a time", "a date such as 2020-10-04, or a time such as 2020-10-04T12:00:00Z", about="created"),
    ErrorCode("time-order", "the name was changed before it was created", "a time of creation that is not after the change", about="created"),
    ErrorCode("time-future", "the time is in the future", "a time in the past", about="created"),
    ErrorCode("embargo-state", "only a reserved name has a date of publication", "the state reserved, or no date", about="embargo"),
    ErrorCode("embargo-past", "the date of publication is past", "a date in the future; or the state live, which publishes the name now", about="embargo"),
    ErrorCode("embargo-reached", "the name is public, so its date of publication can neither be set, moved nor removed", "no date; a public name can be withdrawn", _NEVER_REASSIGNED, status=409, exit_code=NO, about="embargo"),
    ErrorCode("spelling-other-name", "the spelling belongs to another name", "a spelling of the identifier in the same row", about="identifier"),
    ErrorCode("metadata-key", "the metadata element is unknown", "who, what, when, where, how, persistence, availability, variance, allocated, policy, datacite, schema or a.b", about="metadata"),
    ErrorCode("metadata-text", "the metadata element is empty, too long or contains a control character", "a text of at most 65,536 bytes; line breaks and tabs are the only control characters", about="metadata"),
    ErrorCode("metadata-twice", "a metadata element is given twice", "the short or the full name of the element, not both", about="metadata"),
    ErrorCode("metadata-document", "the document in the metadata is not valid", "in datacite a DataCite record in XML that fits the schema 4.7, without a document type declaration; in schema one JSON object", about="metadata"),
    ErrorCode("alternate-selector", "the selector of an alternate target is not a media type, a language or both", "text/html, en, or text/html;en", about="alternates"),
    ErrorCode("alternate-twice", "two alternate targets have the same media type and language", "one target for each media type and language", about="alternates"),
    # Rules
    ErrorCode("rule-prefix", "the prefix is not the beginning of names", "a NAAN and a slash, a shoulder like ark:12345/x5, or the beginning of URNs like urn:nbn:se:uu:", f"{_ARK}, section 3.2", about="prefix"),
    ErrorCode("rule-template", "the template of the rule does not produce addresses", "an address or a path with one of ${content}, ${pid}, ${value} and ${suffix} after the host", about="template"),
    ErrorCode("rule-unknown", "this prefix has no rule", "a prefix that has a rule", status=404, about="prefix"),
    ErrorCode("rule-otherwise", "this prefix already has another rule", "the recorded rule; to change it, set or remove the rule", about="prefix"),
    # Lists
    ErrorCode("list-action", "this action is not in the history of names", "bound, updated, relocated, withdrawn, restored, redacted, hidden, reserved or deleted", about="action"),
    ErrorCode("list-after", "the position in the list is not valid", "the value that the page before returned, or no value", about="after"),
    ErrorCode("list-hold", "the condition on holds does not exist", "yes, no or any", about="hold"),
    ErrorCode("list-limit", "the number of names on a page is not valid", "a number from 1 to 1,000", about="limit"),
    ErrorCode("list-metadata", "the condition on the metadata is not valid", "the name of an element, an equals sign and its whole text, such as who=Noah", about="metadata"),
    ErrorCode("list-prefix", "the prefix is not the beginning of an ARK or URN", "ark:, a NAAN, a slash and the beginning of a Name; or urn:, an NID and a colon", about="prefix"),
    ErrorCode("list-resource", "the text is not the resource of a name", "1 to 400 characters of the recorded resource", about="resource"),
    ErrorCode("list-sort", "a list is not sorted by this", "name, title, resource, changed or created, with a minus sign before it for the reverse order", about="sort"),
    ErrorCode("list-state", "the state does not exist", "reserved, live or withdrawn", about="state"),
    ErrorCode("list-target", "the target is not the beginning of a stored target", "a host, or the beginning of a URL or path", about="target"),
    ErrorCode("list-text", "the text has no words to search for", "at least one word of at most 400 characters", about="text"),
    # Branding of the public pages
    ErrorCode("branding-text", "a text of the branding is not valid", "one line without control characters: institution up to 200 characters, contact 400, statement 1,000", about="text"),
    ErrorCode("branding-logo", "the logo is not valid", "a path of this site such as /static/logo.svg, or a PNG, JPEG, GIF or WebP image of at most 32,768 bytes", about="logo"),
    ErrorCode("branding-colour", "the colour is not valid", "a colour such as #0b4f6c", "CSS Color Module Level 4, section 5.2", about="colour"),
    # Operations
    ErrorCode("relocate-prefix", "the beginnings of the targets do not fit together", "two URLs, two paths or two hosts; or a host, and a URL or path that replaces it", about="prefix"),
    ErrorCode("check-unfinished", "the check of the names has not ended, or it failed", "a check whose state is done", status=409, about="number", fix="wait until the check is done, or start another one"),
    ErrorCode("check-used", "no name waits for this change", "a check that found names to change and was not used yet", status=409, about="number", fix="start another check"),
    ErrorCode("edit-fields", "these fields are not edited together for many names", "metadata, resource, redirect or listed", about="fields"),
    ErrorCode("names-refused", "the check has refused names", "a check without refused names, or the choice to leave them out", status=409, about="number", fix="correct the names and check again, or leave the refused names out"),
    ErrorCode("operation-large", "the operation is for too many names for one request", "the beginning of fewer names or targets; or POST /changes of the JSON API; or ararat relocate or ararat undo", status=409, about="number"),
    ErrorCode("operation-kind", "no operation on many names has this name", "one of the operations that the message lists", about="action"),
    ErrorCode("operation-unknown", "the operation does not exist", "a number in the list of operations", status=404, about="number"),
    ErrorCode("operation-running", "the operation has not ended, so it cannot be undone", "an operation that has ended; stop this one first, such as with ararat operations --stop NUMBER", status=409, about="number"),
    ErrorCode("operation-ended", "the operation has ended, so that it cannot go on", "an operation that runs or was interrupted", status=409, about="number", fix="start the operation again for the names that are left"),
    ErrorCode("operation-undone", "the operation was undone already", "an operation that is in effect; to repeat this one, undo the operation that undid it", status=409, about="number"),
    ErrorCode("undo-changed", "the name was changed after this operation", "a name that has not changed since then; or an undo that leaves changed names alone", about="number"),
    ErrorCode("undo-resource", "a recorded resource stays after an undo", "no action: the name keeps its resource", _NEVER_REASSIGNED, about="resource"),
    # Prefix records
    ErrorCode("prefix-text", "a text of the prefix record is not valid", "1 to 4,000 characters without control characters; an empty text deletes it", about="text"),
    ErrorCode("prefix-pattern", "the pattern of the prefix record is not valid", "29^8 or 10^8 for 8 betanumeric characters or digits; +check or +name at its end adds a check character of ARKs, +nbn the check digit of urn:nbn:de:", about="pattern"),
    ErrorCode("prefix-characters", "the character set of the prefix record is not valid", "betanumeric, digits, or a list of characters and ranges like 0-9a-f", f"{_ARK}, section 8.1", about="characters"),
    ErrorCode("prefix-hosts", "a host in the prefix record is not valid", "names of hosts such as museum.example, with spaces between them", about="hosts"),
    ErrorCode("prefix-empty", "the prefix record has no text", "at least one text, or the removal of the record", about="prefix"),
    ErrorCode("prefix-unknown", "this prefix has no record", "a prefix that has a record", status=404, about="prefix"),
    ErrorCode("prefix-state", "the state of the prefix is unknown", "active, delegated or retired", about="state"),
    ErrorCode("prefix-address", "an address of the prefix record is not valid", "an http or https address; for the resolver also a template with one variable after the host", about="resolver"),
    ErrorCode("prefix-delegation", "the state and the addresses of the prefix do not fit together", "for a delegated prefix a resolver or a page about it; for an active prefix neither a resolver nor a minter", about="state"),
    ErrorCode("prefix-lineage", "the lineage of the prefix record is not valid", "the lineage as ararat export writes it", about="lineage"),
    ErrorCode("prefix-delegated", "the prefix is delegated to another resolver, which mints its names", "the minter of the prefix", status=409, exit_code=NO, about="prefix", fix="mint the name there"),
    ErrorCode("prefix-retired", "the prefix is retired: no name is minted below it, and there is no way back", "another prefix; the names that are bound stay, and can be changed", status=409, exit_code=NO, about="prefix"),
    ErrorCode("prefix-otherwise", "this prefix already has another record", "the recorded texts; change them with ararat prefix set", about="prefix"),
    ErrorCode("name-characters", "the prefix of the name does not permit one of its characters", "another name, or a larger character set in the record of the prefix", f"{_ARK}, section 8.1", about="identifier"),
    ErrorCode("row-columns", "this column has no meaning for a row of this kind", "an empty cell in this column"),
    ErrorCode("counter-text", "this is neither a counter of minted names nor a UUID", "a row as ararat export writes it: next 17 of 10^4, or urn:uuid: with a resource"),
    # The log
    ErrorCode("log-missing", "the database has no log", "a log: run ararat log init"),
    ErrorCode("log-exists", "the log exists already", "a database and a folder without a log"),
    ErrorCode("log-origin", "the origin of the log is not valid", "the public address of the log without https://, such as example.org/log, without spaces and +", about="origin"),
    ErrorCode("log-key", "the key of the log cannot be used", "the key file that ararat log init or ararat witness init created", about="key"),
    ErrorCode("log-busy", "another process publishes this log at the same time", "one publication at a time; try again later"),
    ErrorCode("log-restored", "the database is older than the published log", "the newest backup of the database; if it is lost, run ararat log recover"),
    ErrorCode("log-folder", "the folder is older than the log in the database, or files are missing or damaged", "the newest backup of the folder; if it is lost, run ararat log recover"),
    ErrorCode("log-write", "a file of the log cannot be written", "a folder with free space that this user can write", exit_code=CANNOT_WRITE),
    ErrorCode("log-fork", "the database and the published checkpoint contradict each other", "the database and the folder of one log; if they are lost, create a new log with another origin"),
    ErrorCode("log-changed", "the database differs from an entry of the log", "the rows as they were published; run ararat verify, or restore a backup"),
    ErrorCode("revision-unknown", "the name does not have this change", "the number of a change in the history of the name", about="revision"),
    ErrorCode("log-quorum", "not enough witnesses have cosigned the new checkpoint, so it is not published", "the quorum of the policy; try again later, or publish without it: ararat log publish --quorum prefer"),
    ErrorCode("witness-log", "the witness cannot cosign this log", "the key of a log, with one key for each origin", about="key"),
    ErrorCode("witness-state", "the state of the witness cannot be used", "the folder that ararat witness init created"),
    ErrorCode("log-event", "a change of a name cannot be an entry of the log", "values that Ararat writes; run ararat verify"),
    # Targets
    ErrorCode("target-missing", "the binding has no target", "an http or https address, or a path of this site", about="target"),
    ErrorCode("target-unwanted", "a binding of the kind described has no target, because it leads to its description", "no target, or another kind", about="target"),
    ErrorCode("target-relative", "the target is a relative reference", "an http or https address, or a path that begins with exactly one /", about="target"),
    ErrorCode("target-scheme", "the scheme of the target is not http or https", "http or https", about="target"),
    ErrorCode("target-userinfo", "the target contains a user name or password", "an address without the part before the @", "RFC 9110, section 4.2.4", about="target"),
    ErrorCode("target-host", "the host or port of the target is not valid", "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535", "RFC 3986, section 3.2", about="target"),
    ErrorCode("target-character", "the target contains a character that is not allowed in an address", "letters, digits, -._~!$&'()*+,;=:@/ and %XX", "RFC 3986, section 3.3", about="target"),
    ErrorCode("target-too-long", "the target is too long for a header field", "at most 2,048 bytes", about="target"),
    ErrorCode("target-dot-segment", "the segment . or .. is in the path of the target", "a path without . and .. as segments", "RFC 3986, section 5.2.4", about="target"),
    ErrorCode("target-not-local", "the target of a served name is not a path of this site", "a path that begins with exactly one /", about="target"),
    ErrorCode("target-itself", "the target leads back to the same name", "another target", about="target"),
    ErrorCode("reserved-target", "the path of the target belongs to the resolver", "a path of the site outside /ark: and /urn:", "reserved paths: POL-038", about="target"),
    # Names are never reassigned
    ErrorCode("bound-otherwise", "the name is already bound to something else", "the recorded resource; or relocate the name", _NEVER_REASSIGNED, status=409, exit_code=NO, about="target"),
    ErrorCode("other-resource", "the name already identifies another resource", "the recorded resource, or a name that was never bound", _NEVER_REASSIGNED, status=409, exit_code=NO, about="resource"),
    ErrorCode("withdrawn", "the name is withdrawn", "its restoration, for the same resource", _NEVER_REASSIGNED, status=409, exit_code=NO, about="identifier"),
    ErrorCode("claim-withdrawn", "a withdrawn name without a recorded resource cannot get one", "no resource; or restore the name, record its resource, and withdraw it again", _NEVER_REASSIGNED, status=409, exit_code=NO, about="resource"),
    # Changes of several names
    ErrorCode("revision-stale", "the name was changed after it was read", "the current revision of the name; read the name again, and repeat the change", status=412, about="revision"),
    ErrorCode("name-taken", "the name is recorded already with other values", "another name; to change the recorded one, send a request that updates it", status=409, exit_code=NO, about="identifier"),
    ErrorCode("changes-count", "one call changes too many names", "at most 1,000 names", about="changes"),
    ErrorCode("name-twice", "the name is twice in one call", "each name once, in one of its spellings", about="identifier"),
    # Permissions
    ErrorCode("account-required", "this request needs an account", "a request with a token, or with a password or session", status=403),
    ErrorCode("role-missing", "the role of the account does not permit this request", "an account with another role", status=403),
    ErrorCode("right-missing", "the token does not have the right for this request", "another token; its account can create one with more rights", status=403),
    ErrorCode("not-granted", "the account has no grant for this name", "a name below a prefix that is granted to the account and to the token", status=403, about="identifier"),
    ErrorCode("shoulder-unknown", "the shoulder has no prefix record, and no account has a grant for it", "a shoulder with a prefix record, or a granted prefix", status=404, about="shoulder"),
    ErrorCode("row-only-names", "this import can contain names only", "a row of a name; an administrator can import rules, prefix records and counters", about="identifier"),
    # Reserved names
    ErrorCode("reserved", "the name is reserved and not public", "a binding of the name, which makes it public", status=409, exit_code=NO, about="identifier"),
    ErrorCode("reserve-public", "the name is or was public, so it cannot be reserved", "a name that was never bound", _NEVER_REASSIGNED, status=409, exit_code=NO, about="identifier"),
    ErrorCode("withdraw-reserved", "the name is reserved: it was never public, so it cannot be withdrawn", "the deletion of the name; or its binding before the withdrawal", status=409, exit_code=NO, about="identifier"),
    ErrorCode("delete-public", "the name is or was public, so it cannot be deleted", "its withdrawal", _NEVER_REASSIGNED, status=409, exit_code=NO, about="identifier"),
    ErrorCode("naan-unregistered", "the NAAN is not registered", "a NAAN that is registered with the ARK Maintenance Agency, or that you declare as your own", f"{_ARK}, section 3.1", about="identifier"),
    # With an IRI policy
    ErrorCode("name-reserved", "the IRI policy reserves this name for later use", "a name whose shoulder is any number of the digits 2 to 9 and one 0 or 1, and not 0 alone", f"{_POLICY}, POL-031", about="identifier"),
    ErrorCode("naan-foreign", "the NAAN belongs to another organization by the IRI policy", "a NAAN of the policy, or another one in its list naans", f"{_POLICY}, POL-038", about="identifier"),
    ErrorCode("persistent-not-ark", "only an ARK can be designated as persistent", "an ARK, or no statement of persistence", f"{_POLICY}, POL-017", about="identifier"),
    ErrorCode("availability-statement", "a persistent name cannot have this availability", "lifetime or subinfinite, or none for a name that is not published", f"{_POLICY}, POL-018", about="metadata"),
    ErrorCode("uuid-reused", "the UUID already identifies another resource", "another UUID", f"{_POLICY}, POL-048", about="identifier"),
    # Minting
    ErrorCode("shoulder-characters", "names cannot be minted below this prefix", "a NAAN, or a NAAN, a slash and a shoulder of the characters 0123456789bcdfghjkmnpqrstvwxz, or the beginning of valid URNs", f"{_ARK}, section 3", about="shoulder"),
    ErrorCode("shoulder-reserved", "the IRI policy does not allow this shoulder for its NAAN", "any number of the digits 2 to 9 and then one 1, or one 0 after at least one of them", f"{_POLICY}, POL-028", about="shoulder"),
    ErrorCode("mint-check", "the names below this prefix do not have this check character", "noid or name for ARKs, nbn for URNs that begin with urn:nbn:de:, or none", about="check"),
    ErrorCode("mint-count", "this number of names cannot be minted at once", "1 to 10,000", about="count"),
    ErrorCode("mint-length", "the length of minted names is out of range", "1 or more, and at most 255 in the whole name", about="length"),
    ErrorCode("mint-under-rule", "a rule already answers for all names of this shoulder", "a shoulder without a rule, or ararat mint --under-rule (in Python, under_rule=True)", about="shoulder"),
    ErrorCode("names-exhausted", "there are not enough unused names of this length", "a longer name, or another shoulder", about="length"),
    # Databases
    ErrorCode("database-url", "this is not the address of a database", "sqlite:///FILE, postgresql://HOST/NAME, or a FILE.sqlite, .sqlite3, .db, .csv, .tsv, .jsonl, .ndjson or .snapshot", about="url"),
    ErrorCode("database-missing", "the file of the database or table does not exist", "an existing file; create=True creates a database, and missing_ok=True starts without it", about="url"),
    ErrorCode("database-in-memory", "threads and processes cannot share a database in memory, and it is lost when they end", "a file", about="url"),
    ErrorCode("driver-missing", "the driver for PostgreSQL is not installed", "pip install 'ararat[postgres]'", about="url"),
    ErrorCode("foreign-database", "the database contains tables of other programs and no tables of Ararat", "an empty database, or a database that Ararat created", about="url"),
    ErrorCode("snapshot-foreign", "the file is not a snapshot of Ararat", "a file of ararat snapshot", status=503),
    ErrorCode("snapshot-damaged", "the snapshot is not complete, or its content was changed", "a file of ararat snapshot, copied completely and then renamed", status=503),
    ErrorCode("snapshot-version", "another version of Ararat wrote the snapshot", "a file of ararat snapshot of this version", status=503),
    ErrorCode("not-in-snapshot", "a snapshot has no history, no accounts and no words to search", "the database that the snapshot was made of", status=503, about="url"),
    ErrorCode("database-encoding", "the encoding of the database is not UTF-8", "a database with the encoding UTF8", about="url"),
    ErrorCode("schema-version", "another version of Ararat created the database", "ararat migrate; for the database of a newer version, that version of Ararat", about="url"),
    ErrorCode("binding-unreadable", "the row of this name in the database cannot be read", "a row that Ararat wrote; restore it from a backup or from the history (table events)", status=503, about="identifier"),
    ErrorCode("store-not-empty", "the database has names or other records already, and a copy must be exact", "an empty database, which ararat init or ararat copy creates", about="url"),
    ErrorCode("history-partial", "the file is not a complete history", "a file of ararat export --history without --since"),
    ErrorCode("copy-differs", "the copy has other content than the original, so nothing was written", "a database in which no trigger or other program changes the rows"),
    ErrorCode("read-only", "the database can only be read", "a database that can be written", status=503, exit_code=UNAVAILABLE, about="url", fix="try again in some seconds, or use the primary server"),
    ErrorCode("unavailable", "the database is busy or cannot be reached", "the same request after some seconds", status=503, exit_code=UNAVAILABLE, about="url", fix="try again in some seconds"),
    ErrorCode("database-full", "the disk of the database is full", "free space on the disk of the database", status=503, exit_code=UNAVAILABLE, about="url", fix="free space on this disk, or use a larger one"),
    ErrorCode("statement-stopped", "the database stopped a statement that took longer than its limit", "a request that reads less, or the same request when the database has less work", status=503, about="url", fix="try again in some seconds, or request less"),
    ErrorCode("too-broad", "the list, search or count reads too many names", "narrower conditions: the beginning of the names, another word, a shorter period, or no order", about="selection", fix="add the beginning of the names, another word or a shorter period, or omit the order"),
    ErrorCode("outcome-unknown", "the connection to the database broke, so the change may be written or not", "a look at the name before the change is repeated", status=503, exit_code=OUTCOME_UNKNOWN, repeats=False, about="url", fix="read the name; repeat only a change of a named name, or a request with its Idempotency-Key"),
    # Accounts, tokens and passwords
    ErrorCode("account-exists", "an account has this name already", "another name; a name of an account is never used again", status=409, about="name", fix="choose another name; a name of an account is never used again"),
    ErrorCode("account-last", "the account is the last administrator", "another administrator", status=409, about="name", fix="create another administrator first"),
    ErrorCode("account-name", "this is not a name of an account", "1 to 64 letters a-z, digits and . _ - + @, and begin with a letter or digit", about="name"),
    ErrorCode("account-program", "no person can sign in to the account of a program", "the account of a person", status=409, about="name", fix="use tokens, or run first: ararat account program NAME --remove"),
    ErrorCode("account-role", "the role does not exist", "reader, curator or administrator", about="role"),
    ErrorCode("account-unknown", "the account does not exist", "the name of an account", status=404, exit_code=NO, about="name", fix="to list the accounts, run: ararat account list"),
    ErrorCode("identity-taken", "the identity is linked to another account", "an identity that is not linked", status=409, about="subject", fix="unlink the identity from the other account first"),
    ErrorCode("identity-text", "the issuer or the subject is not valid", "the issuer and the subject that the sign-in page shows", about="issuer"),
    ErrorCode("identity-unknown", "the identity is not linked to the account", "an identity of the account", status=404, exit_code=NO, about="subject", fix="to list the identities, run: ararat account list"),
    ErrorCode("grant-unknown", "the account has no grant for this prefix", "a granted prefix", status=404, exit_code=NO, about="prefix", fix="to list the granted prefixes, run: ararat account list"),
    ErrorCode("password-common", "the password is common, or easy to guess", "another password", about="password", fix="use several words that do not belong together, or the password of a password manager"),
    ErrorCode("password-long", "the password is too long", "at most 1,024 characters", about="password"),
    ErrorCode("password-short", "the password is too short", "at least 12 characters", about="password"),
    ErrorCode("password-text", "the password has characters that it cannot have", "letters, digits, signs and spaces, and no control characters", about="password"),
    ErrorCode("token-emergency", "the end of the emergency token is missing or too late", "an end within 7 days", about="expires"),
    ErrorCode("token-expires", "the token would be expired already", "a time in the future", about="expires"),
    ErrorCode("token-label", "the label of the token is not valid", "1 to 100 characters without control characters", about="label"),
    ErrorCode("token-right", "the right of the token does not exist", "one or more of read, mint, bind, describe, relocate and withdraw", about="rights"),
    ErrorCode("token-unknown", "the token does not exist", "the number of a token", status=404, exit_code=NO, about="number", fix="to list the tokens of an account, run: ararat account tokens NAME"),
    # Tables
    ErrorCode("table-encoding", "the file is not in the expected encoding", "UTF-8, with or without a byte order mark", "RFC 3629, section 3", about="encoding"),
    ErrorCode("encoding-unknown", "the encoding is unknown", "utf-8, windows-1252, utf-16 or another encoding of Python", about="encoding"),
    ErrorCode("delimiter-unknown", "this cannot be a delimiter", "one character, such as a comma, semicolon or tab", about="delimiter"),
    ErrorCode("table-spreadsheet", "the file is a spreadsheet that cannot be read here", "CSV, TSV or JSON Lines; in the desk and the command also .xlsx, .xls and .ods without a password"),
    ErrorCode("table-not-text", "the file is not a table", "CSV, TSV or JSON Lines; or a dump that docs/migrate.md lists"),
    ErrorCode("table-workbook", "the workbook cannot be read", "an .xlsx file without a password, of at most 600 MB unpacked; or its sheet saved as CSV UTF-8"),
    ErrorCode("table-size", "the table has too many rows or columns", "at most 500,000 rows and 200 columns; or ararat import"),
    ErrorCode("table-sheet", "the workbook has no such sheet", "the name of a visible sheet", about="sheet"),
    ErrorCode("table-nul", "the file contains a NUL character", "text", "RFC 4180, section 2"),
    ErrorCode("table-syntax", "the line is neither CSV nor TSV", "fields separated by commas (in TSV: tabs); quote a field that contains a separator, a quote or a line break", "RFC 4180, section 2"),
    ErrorCode("table-fields", "the number of fields differs from the header", "one field for each column", "RFC 4180, section 2"),
    ErrorCode("table-history", "the line is not a record of a history", "a file of ararat export --history"),
    ErrorCode("table-json", "the line is not a JSON object", 'one JSON object a line: {"identifier": "...", "target": "..."}', "RFC 8259, section 4"),
    ErrorCode("table-value", "the value has the wrong type", "text; true or false for passthrough, a number for redirect"),
    ErrorCode("format-unknown", "the format is unknown", "csv, tsv or jsonl", about="format"),
    ErrorCode("dump-syntax", "the file is not a dump of this system", "a format that docs/migrate.md lists; name the system that wrote the file"),
    ErrorCode("archive-content", "the compressed file cannot be read", "gzip, or a ZIP archive with one file that is not encrypted"),
    ErrorCode("table-too-long", "the line is too long", "lines of at most 1,000,000 bytes"),
    ErrorCode("table-empty", "the file is empty", "a table whose first line names the columns, or a dump with names"),
    ErrorCode("table-column", "the column is unknown", f"{_COLUMNS} or target[text/html;en]"),
    ErrorCode("table-column-twice", "the header names a column twice", "each column once"),
    ErrorCode("table-column-missing", "the column identifier is missing", "a column identifier"),
    ErrorCode("cell-several", "the cell has several values", "one value in each cell; one row for each name, and a column such as target[text/html] for each further target"),
    ErrorCode("table-cut", "the last line has no line end, so the file may be incomplete", "the whole file, with a line end after its last line"),
    ErrorCode("duplicate-line", "two lines have different values for one name", "one line for each name", about="identifier"),
    ErrorCode("key-missing", "the row has no name, and no key to find or mint one", "a text in the column of the key, such as an inventory number", about="resource"),
    ErrorCode("key-twice", "another row has the same key", "one row for each key", about="resource", fix="to keep one, delete the other row; for two things, correct one of the keys"),
    ErrorCode("key-ambiguous", "two recorded names have this key", "a key that one name has, or the name itself in the column of the identifiers", status=409, about="resource"),
    ErrorCode("unless-name", "a request with unless needs a shoulder, not a name", "the shoulder below which the name is minted", about="shoulder"),
    ErrorCode("cell-error", "a cell of the row has no value", "a value that the spreadsheet program could compute", fix="correct the cell, and save the file"),
    ErrorCode("name-missing", "a bound name is missing", "its line, with the status withdrawn", _NEVER_REASSIGNED, about="identifier"),
    ErrorCode("preview-changed", "the row has another effect than in its preview", "a new preview before the import", status=409),
    # Changes of many names
    ErrorCode("changed-meanwhile", "the name was changed since the check", "a new check before the change", status=409, about="identifier"),
    ErrorCode("not-reserved", "the name is not reserved", "a reserved name", status=409, about="identifier"),
    ErrorCode("not-withdrawn", "the name is not withdrawn", "a withdrawn name", status=409, about="identifier"),
    ErrorCode("export-deleted", "the file of the export was deleted", "a new export", status=404),
    # Warnings
    _warning("personal-data", "the name or a value of it looks like data about a person", "a name without personal data: names enter the public log and stay there; only metadata can be redacted", "metadata"),
    _warning("name-several", "the name contains a second name", "one name in each cell or field", "identifier"),
    _warning("name-container", "the name probably contains text of the row, record or sentence around it", "the name without this text", "identifier"),
    _warning("name-case", "the URN differs in upper and lower case only from a recorded name", "the recorded name if both are the same, and no correction otherwise", "identifier"),
    _warning("name-similar", "the name differs by one typing error from a recorded name", "the recorded name if both are the same, and no correction otherwise", "identifier"),
    _warning("check-character", "the check character of the name is wrong", "the name with the right check character, and no correction for a name of another kind", "identifier"),
    _warning("naan-unrecorded", "there is no record of the NAAN", "a NAAN with a record, or a new record for this one", "identifier"),
    _warning("nid-unrecorded", "there is no record of the URN namespace", "a namespace with a record, or a new record for this one", "identifier"),
    _warning("shoulder-unrecorded", "there is no record of the shoulder or of the beginning of the name", "a name below a recorded prefix, or a new record for this one", "identifier"),
    _warning("resource-shared", "another name has the same resource", "the recorded name, because one resource needs one name", "resource"),
    _warning("number-shared", "another name has the same number", "the number of this thing, and no correction if two things have one number", "numbers"),
    _warning("title-shared", "another name has the same title", "the recorded name if both are the same, and no correction otherwise", "metadata"),
    _warning("target-shared", "another name has the same target", "the target of this resource, and no correction if both names lead to one page", "target"),
    _warning("target-empty", "the row has no target, so its name is reserved, not live", "a target, or the state reserved", "target"),
    _warning("target-entity", "the target has a character reference of HTML or XML, such as &amp;", "the character itself", "target"),
    _warning("target-local", "the host of the target is local or private, so that others cannot reach it", "an address that others can reach", "target"),
    _warning("target-session", "the target has the parameter of a session, which ends", "the address without this parameter", "target"),
    _warning("target-expires", "the target is a signed address, which expires", "a permanent address", "target"),
    _warning("target-several", "the target has two addresses, as in a cell with two values", "one address for each target", "target"),
    _warning("successor-unknown", "the successor is not recorded", "a recorded name, or an address", "successor"),
    _warning("successor-circle", "the successor is withdrawn, and its successors lead back to the name", "a successor that is not withdrawn", "successor"),
    _warning("persistence-term", "the statement does not begin with a term of persistence statements", "a term that the documentation lists, such as finite or lifetime", "metadata"),
    _warning("time-old", "the date is before 1970, and is probably an empty date of a spreadsheet", "the date on which the name was created, or an empty cell", "created"),
    _warning("text-misread", "the file was probably read in the wrong encoding", "a file in UTF-8, or the right encoding of the file"),
    _warning("cell-line-break", "a line break in a cell became a space", "a cell of one line"),
    _warning("cell-merged", "only the first row of merged cells has their value", "a value in each row, or no merged cells"),
    _warning("cell-divided", "a cell has several values, which are divided", "one value, or values with vertical lines between them"),
    _warning("row-struck", "the texts of the row are struck out in the sheet", "a row of a thing that is still there, or no row"),
    _warning("cell-shown", "the value of a cell differs from what the sheet shows", "a cell that shows its value"),
    # Resolver prefixes
    ErrorCode("prefix-scheme", "the resolver prefix does not begin with http:// or https://", "http:// or https://", f"{_ARK}, section 7.1", about="prefix"),
    ErrorCode("prefix-userinfo", "the resolver prefix contains a user name or password", "an address without the part before the @", "RFC 9110, section 4.2.4", about="prefix"),
    ErrorCode("prefix-host", "the host or port of the resolver prefix is not valid", "a host name, an IPv4 or a bracketed IPv6 address, and a port of 1 to 65535", f"{_ARK}, section 7.1", about="prefix"),
    ErrorCode("prefix-path", "the part after the host of the resolver prefix is not a path", "a path of letters, digits, -._~!$&'()*+,;=:@/ and %XX, without query and fragment", f"{_ARK}, section 7.1", about="prefix"),
)  # fmt: skip
"""All codes of :class:`~ararat.bindings.names.errors.CatalogueError` that are not in :data:`ararat.identifiers.PROBLEMS`."""

REFUSALS: dict[str, ErrorCode] = _catalogue(
    ErrorCode("not-bound", "this resolver has no location for this identifier", "an identifier that is bound here; it can be bound later, or another resolver can know it", f"{_ARK}, section 7.1.2", status=404),
    ErrorCode("unknown-inflection", "the identifier is bound here, but this inflection is unknown", "the identifier without a query, or with ?, ?? or ?info for its description", f"{_ARK}, section 3.4", status=404),
    ErrorCode("withdrawn", "the resource of this identifier was withdrawn", "a request for its description, which remains; the name is never given to another resource", f"{_ARK}, section 7.1.2", status=410),
    ErrorCode("hidden", "this identifier was public and is hidden now", "another identifier; this name is never given to another resource", f"{_ARK}, section 7.1.2", status=410),
    ErrorCode("container-withdrawn", "a name that contains this identifier was withdrawn", "a request for the description of the withdrawn name; its withdrawal includes all names below it", f"{_ARK}, section 7.1.2", status=410),
    ErrorCode("target-unusable", "the stored location of this identifier cannot be used", "a target that this resolver accepts; the operator must relocate the name", f"{_ARK}, section 7.1.2", status=404),
    ErrorCode("method-not-allowed", "this method cannot be used on identifiers", "GET, HEAD or OPTIONS", f"{_ARK}, section 7.1.3", status=405),
    ErrorCode("bindings-unavailable", "the bindings cannot be read at the moment", "the same request after some seconds", f"{_ARK}, section 3.1", status=503),
    ErrorCode("internal-error", "the resolver failed because of an error in its program", "the same request after the operator of this site has corrected the error; the log of the site describes it", "RFC 9110, section 15.6.1", status=500),
)  # fmt: skip
"""The codes of refused requests, besides :data:`ararat.identifiers.PROBLEMS`. They describe the answer.

No title blames the identifier, or the resource, for what this resolver does not know (ARK-115).
"""

HTTP_STATUS = {
    **{code: entry.status for code, entry in REFUSALS.items()},
    # NAAN 99999 is well-formed and never bound, so it is not found.
    "naan-reserved-invalid": 404,
    "too-long": 414,
}
"""The HTTP status of a refused request by its code; 400 for all other codes.

"The resolver SHOULD reply with HTTP status code 400 if the request-part is not a Basic ARK and the server is unwilling
to process it." (ARK draft, section 7.1.2; decision X-05)
"""


def error_code(code: str) -> ErrorCode:
    """Return the description of a code of bindings or of :data:`ararat.identifiers.PROBLEMS`. Raises KeyError for
    another.

    >>> error_code("naan-char").about, error_code("not-bound").status
    ('identifier', 404)
    """
    if entry := ERROR_CODES.get(code):
        return entry
    problem = PROBLEMS[code]
    return ErrorCode(code, problem.title, problem.expected, problem.reference, about="identifier")
