"""Conditional requests: by what a client may say which description it has, or which one it is that it wants.

The entity-tag is a hash of what is shown, octet for octet, so that it is strong and changes whenever the answer does:
with the binding, with the settings, with the software. The time is that of the binding's last change, in full seconds;
where a client sends both, the tag alone decides. A time of the last two seconds is not sent, because another change in
the same second would have the same time.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from werkzeug.http import http_date, parse_date, parse_etags

_OCTETS = 18
_SETTLED = timedelta(seconds=2)


def validators(content: bytes, changed: datetime | None) -> list[tuple[str, str]]:
    """The fields ETag and, where the time of the last change is known and older than two seconds, Last-Modified.

    Source: RFC 9110, section 8.8.

    >>> validators(b"", datetime(2020, 10, 4, 12, 0, 0, 999, tzinfo=UTC))
    [('ETag', '"47DEQpj8HBSa-_TImW-5JCeu"'), ('Last-Modified', 'Sun, 04 Oct 2020 12:00:00 GMT')]
    """
    tag = urlsafe_b64encode(sha256(content).digest()[:_OCTETS]).decode()
    fields = [("ETag", f'"{tag}"')]
    if changed is not None and datetime.now(UTC) - changed > _SETTLED:
        fields.append(("Last-Modified", http_date(changed)))
    return fields


class Conditions(NamedTuple):
    """The fields by which a request puts conditions on its answer; None where it has none of that name."""

    if_match: str | None = None
    if_unmodified_since: str | None = None
    if_none_match: str | None = None
    if_modified_since: str | None = None

    @classmethod
    def of(cls, environ: Mapping[str, Any]) -> Conditions:
        """Those of a WSGI request."""
        return cls(*(environ.get(f"HTTP_{name.upper()}") for name in cls._fields))

    def status(self, headers: Mapping[str, str]) -> int:
        """What becomes of an answer that would be 200 with these header fields: 200, 304 or 412.

        304 where the client has it already, 412 where it wants another one than there is. What is no date is no
        condition; what is no tag is none that this answer has. Source: RFC 9110, section 13.2.2.

        >>> held = {"ETag": '"a"'}
        >>> Conditions(if_none_match='W/"a", "b"').status(held), Conditions(if_none_match="*").status(held)
        (304, 304)
        >>> Conditions(if_match='"b", "a"').status(held), Conditions(if_match='W/"a"').status(held)
        (200, 412)
        """
        if not self._wants(headers):
            return 412
        return 304 if self._has(headers) else 200

    def _wants(self, headers: Mapping[str, str]) -> bool:
        # RFC 9110, section 13.1.4: "A recipient MUST ignore If-Unmodified-Since if the request contains an If-Match
        # header field"
        if self.if_match is not None:
            # Section 13.1.1: a weak tag is none by which one can be sure of every octet.
            wanted, tag = parse_etags(self.if_match), _tag(headers)
            return wanted.star_tag or (bool(tag) and wanted.is_strong(tag))
        since, changed = parse_date(self.if_unmodified_since), parse_date(headers.get("Last-Modified"))
        return since is None or changed is None or changed <= since

    def _has(self, headers: Mapping[str, str]) -> bool:
        # RFC 9110, section 13.1.3: "A recipient MUST ignore If-Modified-Since if the request contains an If-None-Match"
        if self.if_none_match is not None:
            tag = _tag(headers)
            return bool(tag) and parse_etags(self.if_none_match).contains_weak(tag)
        since, changed = parse_date(self.if_modified_since), parse_date(headers.get("Last-Modified"))
        # A later date is not one that this site sent for what it has now: a clock or a backup was set back.
        return since is not None and changed is not None and changed == since


def _tag(headers: Mapping[str, str]) -> str:
    return headers.get("ETag", "").strip('"')
