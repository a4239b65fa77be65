"""Parse an http or https URL once into the parts of a request (RFC 9110, section 4.2; RFC 3986, section 3). Parsers
disagree on the host of ``http://127.0.0.1\\@example.com/``. So the client uses only the parts that this module returns.
Nothing is repaired. An unusual URL is refused (E-09).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import idna

from ..bindings.names.origins import DEFAULT_PORTS
from ..identifiers.text import characters, display
from ..identifiers.text.iri import PCHAR, run
from ..identifiers.text.translatable import Translatable

MAX_LENGTH = 4096
"""The length of a URL in characters. An ARK of 255 code points (ARK-099) has up to about 3,060 when it is encoded."""

# RFC 9110, sections 4.2.1 and 4.2.2:  "http" "://" authority path-abempty [ "?" query ]
_WEB_URL = re.compile(r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://(?P<authority>[^/?#]*+)(?P<target>[^#]*)", re.DOTALL)
# RFC 3986, sections 3.3 and 3.4: the characters of path-abempty and query
_TARGET = re.compile(run(f"{PCHAR}/?", least=0))
_BRACKETED = re.compile(r"\[(?P<host>[0-9A-Fa-f:.]+)\](?P<port>:[0-9]*)?")
_NAMED = re.compile(r"(?P<host>[^:\[\]]*)(?P<port>:[0-9]*)?")

# RFC 1123, section 2.1: letters, digits and inner hyphens. "_" is allowed because names of hosts contain it. A name in
# ASCII is not passed to idna, which refuses hyphens at positions 3 and 4. Existing names contain them.
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?")
# WHATWG URL, section 3.5, "ends in a number": systems read such a host as an IPv4 address.
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")


class BadURL(ValueError):
    """Raised for a text that is not an allowed http or https URL. The message is the reason in printable ASCII."""


@dataclass(frozen=True, slots=True)
class WebURL:
    """The parts of an http or https URL that a request needs. ``host`` is a name as A-labels in lower case without a
    final dot, or an IP address in its usual notation (``address``). ``target`` is the path and query as written, and
    begins with a slash.
    """

    scheme: str
    host: str
    port: int
    target: str
    address: IPv4Address | IPv6Address | None = None

    @property
    def authority(self) -> str:
        """The value for the Host field: an IPv6 address is in brackets, and the default port is omitted."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """The scheme, host and port of this URL, for comparing the servers of two URLs."""
        return self.scheme, self.host, self.port


def parse(url: str) -> WebURL:
    """Return the parts of an absolute http or https URL without a fragment.

    Its host can be an internationalized name (UTS 46, not transitional). The rest must be ASCII. Raises :class:`BadURL`
    for other schemes, user information, backslashes, and ports outside 1 to 65535. In the host, percent-encoding,
    hidden characters, and numbers that are not four decimal ones are refused.

    >>> parse("HTTPS://Example.ORG./a/../b%2E?")
    WebURL(scheme='https', host='example.org', port=443, target='/a/../b%2E?', address=None)
    >>> parse("http://0x7f.1/")
    Traceback (most recent call last):
    ararat...BadURL: the host 0x7f.1 is a number, but not an IPv4 address as four decimal numbers
    """
    if len(url) > MAX_LENGTH:
        raise BadURL(Translatable("the address is longer than %(most)s characters", most=MAX_LENGTH))
    found = _WEB_URL.fullmatch(url)
    if found is None:
        if "#" in url:
            raise BadURL(Translatable("the address is not an http or https URL without a fragment"))
        raise BadURL(Translatable("the address is not an http or https URL"))
    scheme = found["scheme"].lower()
    if _TARGET.fullmatch(found["target"]) is None:
        raise BadURL(Translatable("the path or query of the address contains a character that is not allowed in a URL"))
    host, port, address = _authority(found["authority"])
    target = found["target"]
    # RFC 9112, section 3.2.1: "If the target URI's path component is empty, the client MUST send "/" as the path within
    # the origin-form of request-target."
    return WebURL(
        scheme, host, port or DEFAULT_PORTS[scheme], target if target.startswith("/") else "/" + target, address
    )


def _authority(authority: str) -> tuple[str, int | None, IPv4Address | IPv6Address | None]:
    if "@" in authority:
        raise BadURL(Translatable("the address contains user information before its host"))
    bracketed = authority.startswith("[")
    found = (_BRACKETED if bracketed else _NAMED).fullmatch(authority)
    if found is None:
        raise BadURL(Translatable("the host of the address is not a name or an IP address"))
    host, address = _literal_v6(found["host"]) if bracketed else _host(found["host"])
    return host, _port(found["port"]), address


def _port(text: str | None) -> int | None:
    # RFC 3986, section 3.2.3: an empty port is the default port. A leading zero hides the port from a filter of texts.
    if text in (None, ":"):
        return None
    digits = text[1:6] if len(text) <= 6 else ""
    if not digits or digits[0] == "0" or int(digits) > 65535:
        raise BadURL(Translatable("the port of the address is not a number from 1 to 65535"))
    return int(digits)


def _literal_v6(text: str) -> tuple[str, IPv6Address]:
    try:
        address = IPv6Address(text)
    except ValueError:
        raise BadURL(Translatable("the brackets of the address do not contain an IPv6 address")) from None
    return str(address), address


def _host(text: str) -> tuple[str, IPv4Address | None]:
    name = _a_labels(text)
    if _NUMERIC_LABEL.fullmatch(name.rpartition(".")[2]) is None:
        return name, None
    try:
        return name, IPv4Address(name)
    except ValueError:
        raise BadURL(
            Translatable("the host %(host)s is a number, but not an IPv4 address as four decimal numbers", host=name)
        ) from None


def _a_labels(text: str) -> str:
    """Return the host as A-labels in lower case, without a final dot."""
    if not text or "%" in text or characters.HIDDEN.search(text):
        raise BadURL(
            Translatable("the host of the address is empty, is percent-encoded or contains an invisible character")
        )
    # Check the length before IDNA, whose time grows faster than the length.
    if len(text) > 254 or max(map(len, re.split("[.\u3002\uff0e\uff61]", text))) > 63:
        raise BadURL(Translatable("the host of the address is longer than a name can be"))
    name = text.lower() if text.isascii() else _idna(text)
    name = name.removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(len(label) <= 63 and _LABEL.fullmatch(label) for label in labels):
        raise BadURL(Translatable("the host of the address is not a name: %(host)s", host=display.escape(name[:80])))
    if any(label.startswith("xn--") for label in labels):
        _idna(name)
    return name


def _idna(text: str) -> str:
    try:
        return idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode("ascii")
    except UnicodeError:
        raise BadURL(Translatable("the host of the address is not an internationalized name")) from None
