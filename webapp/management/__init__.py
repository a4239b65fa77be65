"""Management of names by people and programs: the permissions of accounts, and the actor of each request.
The JSON API, the EZID API and the desk begin a change with :func:`.acting.acting`, and have no rules of their own.
"""

from ...bindings.changes import ChangeResult
from ...bindings.creation import NewName
from ...bindings.names.errors import Missing, Stale
from ...bindings.names.fields import Fields
from .permissions import Forbidden
from .prefixes import NO_RECORD, prefix_etag

__all__ = [
    "NO_RECORD",
    "ChangeResult",
    "Fields",
    "Forbidden",
    "Missing",
    "NewName",
    "Stale",
    "prefix_etag",
]
