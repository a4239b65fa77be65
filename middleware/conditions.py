"""Conditional requests: by what a client may say which description it has, and whether it still has the right one.

The entity-tag is a hash of what is shown, octet for octet, so that it is strong and changes whenever the answer does:
with the binding, with the settings, with the software. The time is that of the binding's last change, in full seconds;
where a client sends both, the tag alone decides.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256

from werkzeug.http import http_date, parse_date, parse_etags

_OCTETS = 18


def validators(content: bytes, changed: datetime | None) -> list[tuple[str, str]]:
    """The fields ETag and, where the time of the last change is known, Last-Modified. Source: RFC 9110, section 8.8.

    >>> from datetime import UTC
    >>> validators(b"", datetime(2026, 10, 4, 12, 0, 0, 999, tzinfo=UTC))
    [('ETag', '"47DEQpj8HBSa-_TImW-5JCeu"'), ('Last-Modified', 'Sun, 04 Oct 2026 12:00:00 GMT')]
    """
    tag = urlsafe_b64encode(sha256(content).digest()[:_OCTETS]).decode()
    fields = [("ETag", f'"{tag}"')]
    if changed is not None:
        fields.append(("Last-Modified", http_date(changed)))
    return fields


def is_held(headers: Mapping[str, str], if_none_match: str | None, if_modified_since: str | None) -> bool:
    """Whether an answer to GET or HEAD need not be sent: the client has it, by its If-None-Match or If-Modified-Since.

    ``headers`` are those of the answer. What is no tag and no date is no condition. Source: RFC 9110, section 13.

    >>> is_held({"ETag": '"a"'}, 'W/"a", "b"', None), is_held({"ETag": '"a"'}, "*", None), is_held({}, '"a"', None)
    (True, True, False)
    """
    # RFC 9110, section 13.1.3: "A recipient MUST ignore If-Modified-Since if the request contains an If-None-Match"
    if if_none_match is not None:
        tag = headers.get("ETag", "").strip('"')
        return bool(tag) and parse_etags(if_none_match).contains_weak(tag)
    since, changed = parse_date(if_modified_since), parse_date(headers.get("Last-Modified"))
    return since is not None and changed is not None and changed <= since
