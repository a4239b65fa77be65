"""Format the request of a hop as a curl command, so that a user can repeat it."""

from __future__ import annotations

import shlex

from ..net.hop import USER_AGENT, Where


def curl(method: str, url: str, where: Where = "elsewhere") -> str:
    """Return the curl command that sends the same method, target bytes and header fields as a hop.

    ``method``, ``url`` and ``where`` are those of the hop. ``where`` is "here" for a hop in process. The command is one
    line of printable ASCII, quoted for a POSIX shell. ``method`` is GET or HEAD; ``url`` is the URL of a hop: absolute,
    http or https, ASCII, without a fragment. The command ignores the curl settings of the user (``-q``) and proxies. It
    keeps braces, brackets and dot-segments in the URL. For a hop in process it omits Accept-Encoding and Connection,
    which are not sent there.

    >>> shlex.split(curl("GET", "http://example.org/it's"))[-1]
    "http://example.org/it's"
    """
    words = ["curl", "-q", "--globoff", "--path-as-is", "--http1.1", "--noproxy", "*", "--include"]
    if method == "HEAD":
        words.append("--head")
    # curl sends "Accept: */*" by default.
    words += ["--user-agent", USER_AGENT]
    if where == "elsewhere":
        words += ["--header", "Accept-Encoding: identity", "--header", "Connection: close"]
    return shlex.join([*words, url])
