"""The desk: manage names in the browser. Its pages are below /desk, and exist as soon as an account exists.

The desk has no rules of names: the operations of :mod:`ararat.webapp.management` check each permission and make each
change. All pages work without JavaScript. A form sends its data with POST; the response redirects to a page with a
message.
"""

from . import administration, answers, changes, errors, jobs, links, moves, names, overview, requests, tables
from .blueprint import blueprint

__all__ = [
    "administration",
    "answers",
    "blueprint",
    "changes",
    "errors",
    "jobs",
    "links",
    "moves",
    "names",
    "overview",
    "requests",
    "tables",
]
