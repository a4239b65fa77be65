"""Management of names by people and programs: the permissions of accounts, and one method for each operation.

The JSON API, the EZID API and the desk translate requests to :class:`Management` and have no rules of their own.
"""

from ...bindings.names.errors import Stale
from .errors import Forbidden, Missing
from .fields import Fields, NewName, Saved, etag
from .prefixes import NO_RECORD, prefix_etag
from .service import Management

__all__ = [
    "NO_RECORD",
    "Fields",
    "Forbidden",
    "Management",
    "Missing",
    "NewName",
    "Saved",
    "Stale",
    "etag",
    "prefix_etag",
]
