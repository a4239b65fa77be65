"""The applications that the options of ``ararat serve`` describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...middleware.resolution.settings import Settings
from .sign_in import SignIn

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from ...middleware import Bindings, Resolution

_SETTINGS = frozenset(field.name for field in fields(Settings) if field.init) - {"prefix", "inspector"}


def resolver_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the resolver that options of a command state, except its prefix and inspector.

    ``options`` has the values of the options by their names.

    >>> resolver_settings({"cache": 60, "naans": (), "hsts": None, "cors": ("none",), "port": 8000})
    {'cache': 60, 'cors': False}
    """
    values = {name: value for name, value in options.items() if name in _SETTINGS and value not in (None, ())}
    if "cors" in values:
        values["cors"] = {("all",): True, ("none",): False}.get(values["cors"], values["cors"])
    return values


def wsgi_application_of(
    options: Mapping[str, Any],
    bindings: Bindings,
    *,
    prefix: str,
    address: str,
    inspector: str | None,
    trusted_hosts: Sequence[str] | None,
    on_resolve: Callable[[Resolution], object] | None,
    demo: bool = False,
    resume: bool = True,
    first_secret: str | None = None,
) -> WSGIApplication:
    """Return the WSGI application with the resolver and the inspector for options of ``ararat serve``.

    - ``options``: the values of the options by their names.
    - ``bindings``: the store of the names.
    - ``prefix``: the public resolver prefix.
    - ``address``: the URL of the server.
    - ``inspector``: the link to the inspector in error pages, or None.
    - ``trusted_hosts``: the host names of the inspector; None for any.
    - ``on_resolve``: a function that is called for each resolution, or None.
    - ``demo``: whether to mount the demo site.
    - ``resume``: whether to carry out unfinished jobs now.
    - ``first_secret``: the secret of the link that creates the first account, or None.

    Raises ValueError, NotImplementedError, UsageError and CommandError for a wrong option.
    """
    if options["only"] == "names":
        from .names_only import names_application

        return names_application(
            bindings,
            prefix=prefix,
            also=(address, *options["also"]),
            inspector=inspector,
            trusted_proxies=options["trusted_proxies"],
            secret=SignIn.of(options).proxy_secret(options["trusted_proxies"]),
            on_resolve=on_resolve,
            **{name: value for name, value in resolver_settings(options).items() if name != "also"},
        )
    from . import server

    sign_in = SignIn.of(options)
    return server.compose(
        bindings,
        prefix=prefix,
        address=address,
        inspector=inspector,
        trusted_proxies=options["trusted_proxies"],
        demo=demo,
        trace_elsewhere=options["trace_elsewhere"],
        networks=options["networks"],
        denied_networks=options["denied_networks"],
        trusted_hosts=trusted_hosts,
        policies=options["profiles"],
        on_resolve=on_resolve,
        resolvers=options["resolvers"],
        **sign_in.of_proxy(options["trusted_proxies"]),
        openid=sign_in.openid(),
        session_idle=options["session_idle"],
        threads=options["threads"],
        resource_label=options["resource_label"],
        ezid=options["ezid"],
        ezid_passthrough=options["ezid_passthrough"],
        resume=resume,
        first_secret=first_secret,
        only_desk=options["only"] == "desk",
        **resolver_settings(options),
    )
