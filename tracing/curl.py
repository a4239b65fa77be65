"""Format the request of a hop as a curl command, so that a user can repeat it."""

from __future__ import annotations

import shlex

from ..net.hop import USER_AGENT, Where


def curl(method: str, url: str, where: Where = "elsewhere") -> str:
    """Return the curl command that sends the same method, target bytes and header fields as a hop, in one line for a
    POSIX shell. It ignores the curl settings of the user (``-q``) and proxies, and keeps braces, brackets and
    dot-segments. For a hop in process ("here") it omits Accept-Encoding and Connection, which are not sent there.

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
