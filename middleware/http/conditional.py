"""Conditional requests (RFC 9110, section 13): 304 for a client that has the description, and 412 for one that expects
another. The entity tag is a hash of the body. Last-Modified is sent only if it is older than two seconds, because
another change in the same second would have the same time.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from werkzeug.http import http_date, parse_date, parse_etags

_OCTETS = 18
_SETTLED = timedelta(seconds=2)

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def entity_tag(revision: int, *changed: datetime) -> str:
    """Return a strong entity tag (ETag) with its quotation marks, from a revision and times of changes in UTC.

    >>> entity_tag(1, datetime(2026, 11, 23, tzinfo=UTC))
    '"1-660e646648000"'
    """
    return f'"{"-".join([str(revision), *(f"{(time - _EPOCH) // _MICROSECOND:x}" for time in changed)])}"'


def validators(content: bytes, changed: datetime | None) -> list[tuple[str, str]]:
    """Return the fields ETag and Last-Modified of a response (RFC 9110, section 8.8). Without the time of the last
    change, or less than two seconds after it, Last-Modified is omitted.

    >>> validators(b"", datetime(2020, 10, 4, 12, 0, 0, 999, tzinfo=UTC))
    [('ETag', '"47DEQpj8HBSa-_TImW-5JCeu"'), ('Last-Modified', 'Sun, 04 Oct 2020 12:00:00 GMT')]
    """
    tag = urlsafe_b64encode(sha256(content).digest()[:_OCTETS]).decode()
    fields = [("ETag", f'"{tag}"')]
    if changed is not None and datetime.now(UTC) - changed > _SETTLED:
        fields.append(("Last-Modified", http_date(changed)))
    return fields


class Conditions(NamedTuple):
    """The conditions of a conditional request: the values of its header fields with these names, or None."""

    if_none_match: str | None = None
    if_modified_since: str | None = None
    if_match: str | None = None
    if_unmodified_since: str | None = None

    def precondition_fails(self, headers: Mapping[str, str]) -> bool:
        """Return whether the response with these header fields is not the one that the client expects (412). Source:
        RFC 9110, sections 13.1.1, 13.1.4 and 13.2.2.

        >>> held = {"ETag": '"a"'}
        >>> Conditions(if_match='"a"').precondition_fails(held), Conditions(if_match='W/"a"').precondition_fails(held)
        (False, True)
        """
        if self.if_match is not None:
            return not parse_etags(self.if_match).contains(headers.get("ETag", "").strip('"'))
        since, changed = parse_date(self.if_unmodified_since), parse_date(headers.get("Last-Modified"))
        return since is not None and changed is not None and changed > since

    def is_not_modified(self, headers: Mapping[str, str]) -> bool:
        """Return whether the client already has the response with these header fields (304). A malformed value is
        ignored. Source: RFC 9110, sections 13.1.3 and 13.2.2.

        >>> held = {"ETag": '"a"'}
        >>> [Conditions(tags).is_not_modified(held) for tags in ('W/"a", "b"', "*", '"b"')]
        [True, True, False]
        """
        # RFC 9110, section 13.1.3: "A recipient MUST ignore If-Modified-Since if the request contains an If-None-Match"
        if self.if_none_match is not None:
            tag = headers.get("ETag", "").strip('"')
            return bool(tag) and parse_etags(self.if_none_match).contains_weak(tag)
        since, changed = parse_date(self.if_modified_since), parse_date(headers.get("Last-Modified"))
        # Only an equal date proves that the client has this version: a clock or a backup can have been set back.
        return since is not None and changed is not None and changed == since
