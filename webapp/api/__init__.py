"""The JSON API at ``/api/v1`` for programs that manage names. It translates between HTTP and :mod:`..management`."""

from .blueprint import init_app
from .views import bulk, changes, description, exports, holds, imports, names, prefixes

__all__ = ["bulk", "changes", "description", "exports", "holds", "imports", "init_app", "names", "prefixes"]
