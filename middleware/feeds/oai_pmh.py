"""OAI-PMH 2.0: all public names for harvesters, in simple Dublin Core. A withdrawn or no longer listed name is a
deleted record. One that was not listed while it was public is not an item (X-09). Source:
https://www.openarchives.org/OAI/openarchivesprotocol.html

The identifier of an item is the name, and its datestamp the time of the last change. A list is in the order of these
times, so a name that changes during a harvest moves to its end. A list of a whole set is in the order of the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from ...bindings.names.binding import Binding, utc_seconds
from ...bindings.names.branding.model import NO_BRANDING, Branding, contact_address
from ...bindings.names.errors import BindingError
from ...bindings.names.selection import Page, Selection
from ..http.request import MAX_FORM, Request
from . import oai_arguments, oai_tokens
from .dublin_core import DublinCoreElement, elements
from .feed import FeedAnswer, FeedSource, refusal
from .oai_arguments import OaiError, Verb
from .oai_sets import Sets
from .xml import render

RECORDS = 100
"""The number of records in a part of a list."""

HEADERS = 500
"""The number of headers in a part of a list of identifiers."""

_PAGES = 10
"""The number of pages of a list that a request reads before one with a name. Each takes a limited time."""

_MAX_ARGUMENTS = 100
# emailType in OAI-PMH.xsd
_EMAIL = re.compile(r"[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+")
_EPOCH = "1970-01-01T00:00:00Z"


class _Record(NamedTuple):
    identifier: str
    datestamp: str
    sets: Sequence[str]
    deleted: bool
    elements: Sequence[DublinCoreElement]


class _SearchedSoFar(Exception):
    """A request has read :data:`_PAGES` without a name. ``reached`` is the position at which the next one continues."""

    def __init__(self, reached: str) -> None:
        self.reached = reached


class OaiPmh:
    """The OAI-PMH repository at ``path``. ``branding`` has the institution and its contact, if the store has none."""

    methods = ("GET", "POST")

    def __init__(self, source: FeedSource, path: str, branding: Branding = NO_BRANDING) -> None:
        self._bindings, self._prefix, self._beginnings = source
        self._branding = branding
        self._address = f"{self._prefix}{path}"
        self._host = urlsplit(self._prefix).hostname or ""

    def answer(self, request: Request) -> FeedAnswer:
        """Return the answer of the repository. An error of the protocol has the status 200."""
        try:
            text = self._arguments(request)
        except RequestEntityTooLarge:
            return refusal(413, f"The form is larger than {MAX_FORM:,} bytes. Send fewer arguments.")
        except HTTPException:
            return refusal(400, "The form ends before its Content-Length. Send all of it.")
        values: dict[str, Any] = {"address": self._address, "now": utc_seconds(self._bindings.now())}
        try:
            verb, arguments = oai_arguments.read(_pairs(text))
        except OaiError as error:
            # "the attributes must not be included" with badVerb and badArgument
            return _document(values, verb=None, arguments={}, error=error)
        try:
            variables = self._values_of(verb, arguments)
        except _SearchedSoFar as search:
            return self._continue_list(verb, search.reached)
        except OaiError as error:
            valid_arguments = {} if error.code == "badArgument" else arguments
            return _document(
                values, verb=None if error.code == "badArgument" else verb, arguments=valid_arguments, error=error
            )
        return _document(values, verb=verb, arguments=arguments, error=None, **variables)

    def _continue_list(self, verb: Verb, token: str) -> FeedAnswer:
        """Return a redirect to the next request of a list, because a list cannot be empty (section 3.1.2.2)."""
        answer = refusal(302, "The list continues at the address in Location.")
        query = urlencode({"verb": verb, "resumptionToken": token})
        return answer._replace(headers=[*answer.headers, ("Location", f"{self._address}?{query}")])

    def _arguments(self, request: Request) -> str:
        """Return the arguments as in a query. A request with POST has them in its body."""
        query = request.target.query or ""
        if request.method != "POST" or request.read_body is None:
            return query
        body = request.read_body()
        return "&".join(part for part in (query, body.decode("latin-1")) if part)

    def _values_of(self, verb: Verb, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return the values for the template of a verb."""
        match verb:
            case "Identify":
                return self._identity()
            case "ListMetadataFormats":
                if "identifier" in arguments:
                    self._name(arguments["identifier"])
                return {}
            case "ListSets":
                return self._sets(arguments)
            case "GetRecord":
                oai_arguments.require_format(arguments)
                sets = self._all_sets()
                return {"records": [self._record(self._name(arguments["identifier"]), sets)]}
            case "ListIdentifiers" | "ListRecords":
                return self._list(verb, arguments)

    def _identity(self) -> dict[str, Any]:
        page = self._bindings.list_names(self._selection(sort="changed"), limit=10)
        earliest = utc_seconds(page.names[0].recorded_at) if page.names else _EPOCH
        branding = self._bindings.branding.current().with_defaults(self._branding)
        address = contact_address(branding.contact or "") or ""
        email = address.removeprefix("mailto:")
        if not address.startswith("mailto:") or not _EMAIL.fullmatch(email):
            # RFC 2142, section 5: the mailbox of the service HTTP is WEBMASTER.
            email = f"webmaster@{self._host if '.' in self._host else f'{self._host}.invalid'}"
        return {"title": branding.institution or self._host, "email": email, "earliest": earliest}

    def _sets(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        if "resumptionToken" in arguments:
            raise OaiError("badResumptionToken", "the list of sets is complete; send no token")
        sets = self._all_sets()
        if not sets.names:
            raise OaiError("noSetHierarchy", "this repository has no sets")
        return {"sets": sets.names}

    def _list(self, verb: Verb, arguments: Mapping[str, str]) -> dict[str, Any]:
        token, after = arguments.get("resumptionToken"), None
        if token is not None:
            arguments, after = oai_tokens.decode(verb, token)
        harvest = oai_arguments.harvest(arguments)
        sets = self._all_sets()
        prefix = None
        if harvest.set is not None:
            if not sets.names:
                raise OaiError("noSetHierarchy", "this repository has no sets")
            if (prefix := sets.prefix(harvest.set)) is None:
                raise OaiError("noRecordsMatch", "the set does not exist")
        selection = self._selection(
            prefix=prefix,
            changed_since=harvest.since,
            changed_before=harvest.before,
            sort="changed" if prefix is None or harvest.since is not None or harvest.before is not None else None,
        )
        try:
            page = self._page(selection, after, RECORDS if verb == "ListRecords" else HEADERS)
        except _SearchedSoFar as error:
            raise _SearchedSoFar(oai_tokens.encode(verb, arguments, error.reached)) from None
        if not page.names:
            raise OaiError("noRecordsMatch", "no name matches")
        following = None if page.next is None else oai_tokens.encode(verb, arguments, page.next)
        records = [self._record(name, sets) for name in page.names]
        return {"records": records, "token": following, "is_part": token is not None or following is not None}

    def _page(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return the first page behind a position that has a readable name, or an empty page at the end."""
        try:
            for _ in range(_PAGES):
                page = self._bindings.list_names(selection, cursor=after, limit=limit)
                if page.names or page.next is None:
                    return page
                after = page.next
        except BindingError:
            raise oai_tokens.wrong_token() from None
        raise _SearchedSoFar(after or "")

    def _all_sets(self) -> Sets:
        records = self._bindings.store.prefixes()
        return Sets(record for record in records if record.prefix.startswith(self._beginnings))

    def _selection(self, **conditions: Any) -> Selection:
        return Selection(beginnings=self._beginnings, public=True, listed="ever", **conditions)

    def _name(self, identifier: str) -> Binding:
        """Return the public name with an identifier in any spelling."""
        try:
            # A query is not a part of a name, so an identifier with a query is not an item.
            binding = None if "?" in identifier else self._bindings.lookup(identifier)
        except BindingError:
            binding = None
        if (
            binding is None
            or (binding.is_reserved and not binding.is_hidden)
            or not binding.identifier.startswith(self._beginnings)
        ):
            raise OaiError("idDoesNotExist", "no public name has this identifier")
        if not binding.listed and not self._was_listed(binding):
            raise OaiError("idDoesNotExist", "no public name has this identifier")
        return binding

    def _was_listed(self, name: Binding) -> bool:
        """Return whether harvesters could have seen a name that is not listed now."""
        page = self._bindings.list_names(self._selection(prefix=name.identifier), limit=1)
        return any(each.identifier == name.identifier for each in page.names)

    def _record(self, name: Binding, sets: Sets) -> _Record:
        is_deleted = not (name.is_live and name.listed)
        dublin_core = [] if is_deleted else list(elements(name, f"{self._prefix}/{name.identifier}"))
        return _Record(
            name.identifier, utc_seconds(name.recorded_at), sets.of(name.identifier), is_deleted, dublin_core
        )


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_ARGUMENTS)
    except ValueError:
        raise OaiError("badArgument", "the arguments are not an encoded form in UTF-8, or there are too many") from None


def _document(values: Mapping[str, Any], **others: Any) -> FeedAnswer:
    content = render("oai_pmh.xml", **{"metadata_prefix": oai_arguments.METADATA_PREFIX, **values, **others})
    headers = [("Content-Type", "text/xml; charset=utf-8"), ("Content-Length", str(len(content)))]
    return FeedAnswer(200, [*headers, ("Cache-Control", "no-store")], content)
