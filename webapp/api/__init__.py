"""The JSON API at ``/api/v1`` for programs that manage names. It translates between HTTP and :mod:`..management`."""

from .blueprint import blueprint, init_app
from .bodies import refusal
from .views import bulk, changes, description, exports, holds, imports, names, prefixes

__all__ = [
    "blueprint",
    "bulk",
    "changes",
    "description",
    "exports",
    "holds",
    "imports",
    "init_app",
    "names",
    "prefixes",
    "refusal",
]
