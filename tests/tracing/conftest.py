"""The hostile servers and scripted lookups of the tests of :mod:`ararat.net`, for the tests of traces."""

from __future__ import annotations

from tests.net.conftest import answering, authority, corpus, deadline, does, failure, listen, local, trusting
from tests.webapp.conftest import read_page

__all__ = [
    "answering",
    "authority",
    "corpus",
    "deadline",
    "does",
    "failure",
    "listen",
    "local",
    "read_page",
    "trusting",
]
