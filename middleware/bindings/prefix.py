"""Resolver prefixes: what stands before an ARK or URN in the address at which this site, or another, answers for it."""

from __future__ import annotations

import re

from ...identifiers.text import iri
from ..errors import PrefixError
from . import authority, validation

# ARK draft, section 7.1:  http-resolver-prefix = (~"http" / ~"https") "://" authority path-abempty
# RFC 3986, section 3.3:   path-abempty = *( "/" segment )      segment = *pchar
_HTTP_RESOLVER_PREFIX = re.compile("(https?)://([^/?#]*+)(.*+)", re.ASCII | re.IGNORECASE | re.DOTALL)
_PATH_ABEMPTY = re.compile(f"(?:/{iri.run(iri.PCHAR, least=0)})*+")


def check(prefix: str) -> str:
    """Return an HTTP resolver prefix as it is stored: scheme and host in lower case, without the scheme's own port, and
    without one slash at its end, since exactly one is put between it and what is asked for (E-04).

    Raises :class:`PrefixError` with the code ``prefix-scheme``, ``prefix-userinfo``, ``prefix-host`` or
    ``prefix-path``.

    Source: ARK draft, section 7.1; ARK-090, ARK-094.

    >>> check("HTTPS://N2T.net:443/"), check("http://x.example/a/b")
    ('https://n2t.net', 'http://x.example/a/b')
    >>> check("https://x.example/?q")
    Traceback (most recent call last):
    ararat.middleware.errors.PrefixError: a resolver prefix has no query and no fragment (prefix-path)
    expected a path of letters, digits, -._~!$&'()*+,;=:@/ and %XX, without query and fragment (ARK draft, section 7.1)
    """
    read = _HTTP_RESOLVER_PREFIX.fullmatch(prefix)
    if read is None:
        raise PrefixError(
            "prefix-scheme", f"{validation.shown(prefix) or 'nothing'} does not begin with http:// or https://"
        )
    scheme, host_and_port, path = read[1].lower(), read[2], read[3]
    if "@" in host_and_port:
        raise PrefixError("prefix-userinfo")
    try:
        host_and_port = authority.normal(host_and_port, scheme)
    except ValueError as error:
        raise PrefixError("prefix-host", str(error)) from None
    if not _PATH_ABEMPTY.fullmatch(path):
        queried = "?" in path or "#" in path
        raise PrefixError("prefix-path", "a resolver prefix has no query and no fragment" if queried else None)
    return f"{scheme}://{host_and_port}{path.removesuffix('/')}"


def join(prefix: str, core: str) -> str:
    """The address of ``core`` (an ARK or URN as it is sent) at the resolver with this prefix, which is in its stored
    form.

        request-uri = prefix "/" request-core ["?" query]

    >>> join("https://n2t.net", "ark:12345/x?info")
    'https://n2t.net/ark:12345/x?info'
    """
    return f"{prefix}/{core}"
