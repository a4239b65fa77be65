"""Management of names by people and programs: the permissions of accounts, and one method for each operation.

The JSON API, the EZID API and the desk translate requests to :class:`Management` and have no rules of their own.
"""

from ...bindings.changes import ChangeResult
from ...bindings.names.errors import Stale
from ...bindings.names.fields import Fields
from .permissions import Forbidden, Missing
from .prefixes import NO_RECORD, prefix_etag
from .service import Management, NewName, etag

__all__ = [
    "NO_RECORD",
    "ChangeResult",
    "Fields",
    "Forbidden",
    "Management",
    "Missing",
    "NewName",
    "Stale",
    "etag",
    "prefix_etag",
]
