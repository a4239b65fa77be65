"""The socket of ``ararat serve``: open it, and the addresses and hosts at which it is reached."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

FIRST_PORT = 8000

TRIED = 100
"""The number of ports to try if no port is given."""


def hosts_of(listener: socket.socket, *addresses: str) -> list[str]:
    """Return the host names at which the inspector answers: those of this machine, of a listening socket and of URLs.
    An IPv6 address is in brackets. Raises ValueError for a URL that is not valid.
    """
    return host_names(str(listener.getsockname()[0]), *addresses)


def host_names(listening: str, *addresses: str) -> list[str]:
    """Return the host names at which the inspector answers: those of this machine, of the IP address ``listening`` and
    of URLs. An IPv6 address is in brackets.

    >>> host_names("127.0.0.1", "https://example.org")
    ['127.0.0.1', 'localhost', '[::1]', 'example.org']
    """
    hosts = ["127.0.0.1", "localhost", "::1", listening, *(urlsplit(address).hostname or "" for address in addresses)]
    return list(dict.fromkeys(f"[{host}]" if ":" in host else host for host in hosts if host))


def is_loopback(listener: socket.socket) -> bool:
    """Return whether a socket has a loopback address, so that only this machine can reach it."""
    return ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening TCP socket. Port 0 is any free port, None the first free one from :data:`FIRST_PORT` on.
    Raises OSError if the port is in use, or if the host is not an address of this machine.
    """
    family, _, _, _, _ = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    ports = range(FIRST_PORT, FIRST_PORT + TRIED) if port is None else [port]
    for each in ports:
        try:
            return socket.create_server((host, each), family=family, backlog=1024)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or each == ports[-1]:
                raise
    raise AssertionError("no port was tried")


def address_of(listener: socket.socket) -> str:
    """Return the URL by which a browser on this machine reaches a server."""
    host, port = str(listener.getsockname()[0]), listener.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a wildcard address includes loopback
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
