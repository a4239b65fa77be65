"""The errors of :class:`~ararat.webapp.management.Management`, beside those of the bindings."""

from __future__ import annotations

from ...bindings.names.errors import BindingError


class Forbidden(BindingError):
    """The caller cannot make this request.

    The codes are ``account-required`` for a caller without an account, ``role-missing`` and ``not-granted``.
    """


class Missing(BindingError):
    """The request is about a name, a shoulder or a record that does not exist.

    The codes are ``not-bound``, ``shoulder-unknown`` and ``prefix-unknown``.
    """
