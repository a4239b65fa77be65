"""The request of a hop as a command line, so that whoever doubts a trace can ask for themselves."""

from __future__ import annotations

import shlex

from .hop import USER_AGENT, Where


def curl(method: str, url: str, where: Where = "elsewhere") -> str:
    """The curl command that sends the request of a hop: the same method, target octets and header fields; one line
    of printable ASCII, quoted for a POSIX shell, whatever stands in the address.

    ``method`` is GET or HEAD, ``url`` an absolute http or https URL without a fragment, in ASCII, as a hop has it. The
    settings of whoever runs it have no say (``-q``, no proxy), and curl's own readings of an address are switched off:
    braces and brackets, and dot-segments. A hop that was answered in process sent no Accept-Encoding and had no
    connection to close.

    >>> shlex.split(curl("GET", "http://example.org/it's"))[-1]
    "http://example.org/it's"
    """
    words = ["curl", "-q", "--globoff", "--path-as-is", "--http1.1", "--noproxy", "*", "--include"]
    if method == "HEAD":
        words.append("--head")
    # "Accept: */*" is what curl sends of its own accord.
    words += ["--user-agent", USER_AGENT]
    if where == "elsewhere":
        words += ["--header", "Accept-Encoding: identity", "--header", "Connection: close"]
    return shlex.join([*words, url])
