"""The desk: manage names in the browser, below /desk. Its pages exist as soon as an account exists. The operations of
:mod:`ararat.webapp.management` have all rules and permissions. No page needs JavaScript.
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
