"""A WSGI application, imported: whether the resolver is in front of it, and which of its routes the resolver hides.

Applications are wrapped in one another under a few usual names (``app``, ``wsgi_app``, ``application``), as methods or
in closures; they are followed from the outside in. What an application routes is asked of Flask, Django and Pyramid;
of any other one it is said that it cannot be.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...identifiers.text import display
from ...middleware import ResolverMiddleware
from ...middleware.asgi_detection import REMEDY, is_asgi, named
from ...middleware.custom_scheme import OwnScheme
from ...middleware.settings import SCHEMES, Settings
from .finding import Finding, State

_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_INSIDE = ("wsgi_app", "app", "application", "wrapped", "__func__", "__self__")
_MOST = 200
_MOST_ROUTES = 20
# What may stand in a regular expression before its first letter.
_BEGINNING = re.compile(r"(?:\^|\\A|\(\?[aiLmsux]+\)|\((?:\?P<\w+>|\?:)?)*")


class NotLoaded(Exception):
    """The application could not be imported; the text says why, in printable ASCII. ``usage``: the name is no name."""

    def __init__(self, why: str, *, usage: bool = False) -> None:
        super().__init__(why)
        self.usage = usage


class Site(NamedTuple):
    """An application whose routes can be listed, its framework, and whether a resolver stands in front of it."""

    framework: str
    app: Any
    resolver: ResolverMiddleware | None


def load(place: str) -> Any:
    """The application ``module:name``, with the current folder on the path, as servers import it.

    Raises :class:`NotLoaded`. Whatever the module does on being imported, it does.
    """
    if not _PLACE.fullmatch(place):
        raise NotLoaded("expected MODULE:NAME, as servers take it: shop.wsgi:application", usage=True)
    module, _, name = place.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        said = display.escape(str(error).partition("\n")[0][:600])
        raise NotLoaded(f"{type(error).__name__}: {said}" if said else type(error).__name__) from error
    if not callable(found):
        raise NotLoaded(f"it is no WSGI application but {named(found)}")
    return found


def examine(application: Any) -> Iterator[Finding]:
    """Whether the resolver is in front of each site in the application, and which routes lie under reserved paths.

    Source: requirements 3.22; 17beta policy, section 4 (POL-037).

    >>> [finding.state for finding in examine(lambda environ, start_response: [])]
    ['bad', 'doubtful']
    """
    sites, resolvers = _walk(application)
    if not resolvers and is_asgi(application):
        message = f"{named(application)} is an ASGI application: ResolverMiddleware, which is for WSGI, cannot wrap it."
        yield Finding("app", "asgi", "bad", "resolver", message, REMEDY)
        return
    if not resolvers:
        yield Finding(
            "app",
            "resolver",
            "bad",
            "resolver",
            f"There is no ResolverMiddleware in front of {named(application)}.",
            'Wrap it: application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix=...); of '
            "Flask app.wsgi_app = ResolverMiddleware(app.wsgi_app, ...).",
        )
    for site in sites:
        if site.resolver is not None:
            message = f"ResolverMiddleware is in front of {site.framework}."
            yield Finding("app", "resolver", "well", "resolver", message)
        elif resolvers:
            message = f"ResolverMiddleware is not in front of {site.framework}, though it is in front of something."
            yield Finding("app", "resolver", "doubtful", "resolver", message)
        yield from _routes(site)
    if resolvers and not sites:
        message = f"ResolverMiddleware is in front of {named(resolvers[0].app)}."
        yield Finding("app", "resolver", "well", "resolver", message)
    if not sites:
        message = "This application does not say which routes it has; look yourself for any that begin with /ark:."
        yield Finding("app", "routes", "doubtful", "routes", message)
    if resolvers and resolvers[0].settings.prefix is None:
        change = 'ResolverMiddleware(..., prefix="https://example.org"), with the address at which it is public.'
        message = "No prefix is set: links are path-absolute, and are nothing once they are copied elsewhere."
        yield Finding("app", "prefix", "doubtful", "prefix", message, change, "17beta policy, section 3.2")


def settings_of(application: Any) -> Settings | None:
    """The settings of the outermost resolver in the application, if there is one."""
    _, resolvers = _walk(application)
    return resolvers[0].settings if resolvers else None


def _walk(application: Any) -> tuple[list[Site], list[ResolverMiddleware]]:
    """The sites and the resolvers in an application, the outermost first."""
    sites: list[Site] = []
    resolvers: list[ResolverMiddleware] = []
    waiting: deque[tuple[Any, ResolverMiddleware | None]] = deque([(application, None)])
    seen: list[Any] = []
    while waiting and len(seen) < _MOST:
        each, resolver = waiting.popleft()
        if any(each is other for other in seen):
            continue
        seen.append(each)
        if isinstance(each, ResolverMiddleware):
            resolvers.append(each)
            waiting.appendleft((each.app, each))
            continue
        inside = list(_inside(each))
        if framework := _framework(each):
            # Flask holds the middleware that is put in front of it.
            own = next((found for found in _held(inside) if isinstance(found, ResolverMiddleware)), None)
            if own is not None and own not in resolvers:
                resolvers.append(own)
            sites.append(Site(framework, each, resolver or own))
            continue
        waiting.extend((found, resolver) for found in inside)
    return sites, resolvers


def _held(inside: Iterable[Any]) -> Iterator[Any]:
    """What is inside, and inside of that as long as nothing but wrappers are met."""
    waiting = deque(inside)
    for _ in range(_MOST):
        if not waiting:
            return
        found = waiting.popleft()
        yield found
        if not _framework(found):
            waiting.extend(_inside(found))


def _inside(app: Any) -> Iterator[Any]:
    """The applications that another one holds."""
    # functools.wraps copies the attributes of what it wraps, and they are no way around it.
    wrapped = inspect.getattr_static(app, "__wrapped__", None)
    if callable(wrapped):
        yield wrapped
        return
    for name in _INSIDE:
        # As it stands there: a property of somebody else's would run his code.
        found = inspect.getattr_static(app, name, None)
        if isinstance(found, property):
            continue
        found = getattr(app, name, None) if found is not None else None
        if callable(found) and not inspect.isclass(found):
            yield found
    mounts = getattr(app, "mounts", None)
    if isinstance(mounts, dict):
        yield from (mounted for mounted in mounts.values() if callable(mounted))
    if inspect.isfunction(app):
        for cell in app.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                continue
            if callable(held) and not inspect.isclass(held):
                yield held


def _framework(app: Any) -> str | None:
    """The framework that an application is of, without importing any: one that was not imported made nothing."""
    for framework, (module, name) in _CLASSES.items():
        kind = getattr(sys.modules.get(module), name, None)
        if inspect.isclass(kind) and isinstance(app, kind):
            return framework
    return None


def _routes(site: Site) -> Iterator[Finding]:
    schemes = site.resolver.settings.schemes if site.resolver else SCHEMES
    labels = tuple(f"{scheme.name if isinstance(scheme, OwnScheme) else scheme}:" for scheme in schemes)
    try:
        every = list(_LISTED[site.framework](site.app))
    except Exception as error:  # noqa: BLE001 - it is somebody else's code
        said = display.escape(f"{type(error).__name__}: {error}"[:200])
        message = f"{site.framework} cannot list its routes ({said})."
        yield Finding("app", "routes", "doubtful", "routes", message)
        return
    hidden = [route for route in every if route.lstrip("/").lower().startswith(labels)]
    if not hidden:
        message = f"None of the {len(every):,} routes of {site.framework} begins with {' or '.join(labels)}"
        yield Finding("app", "routes", "well", "routes", message)
    change = "Move these routes to other paths; bind names to them as served (ararat bind --kind served)."
    state: State = "bad" if site.resolver else "doubtful"
    fate = "is never reached: the resolver" if site.resolver else "is not reached once a resolver is in front, which"
    for route in hidden[:_MOST_ROUTES]:
        message = f"The route {display.escape(route[:200])} {fate} answers for such paths."
        yield Finding("app", "route-hidden", state, "routes", message, change, "17beta policy, section 4")
    if len(hidden) > _MOST_ROUTES:
        message = f"So it is with {len(hidden) - _MOST_ROUTES:,} more routes."
        yield Finding("app", "route-hidden", state, "routes", message, change, "17beta policy, section 4")


def _of_flask(app: Any) -> Iterator[str]:
    return (rule.rule for rule in app.url_map.iter_rules())


def _of_django(app: Any) -> Iterator[str]:
    from django.urls import get_resolver

    yield from _below(get_resolver(), "")


def _below(resolver: Any, beginning: str) -> Iterator[str]:
    for each in resolver.url_patterns:
        pattern = each.pattern
        # path() has a route, re_path() an expression; a translated prefix has neither, and is one of the language.
        route, regex = getattr(pattern, "_route", None), getattr(pattern, "_regex", None)
        own = str(route) if route is not None else _literal(str(regex)) if regex is not None else str(pattern)
        if hasattr(each, "url_patterns"):
            yield from _below(each, beginning + own)
        else:
            yield beginning + own


def _literal(regex: str) -> str:
    return _BEGINNING.sub("", regex, count=1).replace("\\", "")


def _of_pyramid(app: Any) -> Iterator[str]:
    interfaces = importlib.import_module("pyramid.interfaces")
    mapper = app.registry.queryUtility(interfaces.IRoutesMapper)
    return iter(()) if mapper is None else (route.pattern for route in mapper.get_routes())


_CLASSES = {
    "Flask": ("flask", "Flask"),
    "Django": ("django.core.handlers.wsgi", "WSGIHandler"),
    "Pyramid": ("pyramid.router", "Router"),
}
_LISTED: dict[str, Callable[[Any], Iterator[str]]] = {
    "Flask": _of_flask,
    "Django": _of_django,
    "Pyramid": _of_pyramid,
}
