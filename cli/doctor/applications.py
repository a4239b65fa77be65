"""Import a WSGI or ASGI application, and check that the resolver wraps it and hides no route.
The check follows the attributes (such as ``wsgi_app``), methods and closures in which middleware keeps the wrapped
application. It can list the routes of Flask, Quart, Django, Pyramid, Starlette and FastAPI.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from ...identifiers.text import display
from ...middleware import Bindings, ResolverASGIMiddleware, ResolverMiddleware
from ...middleware.asgi_detection import describe_application, is_asgi
from ...middleware.resolution.custom_scheme import OwnScheme
from ...middleware.resolution.settings import SCHEMES, Settings
from .finding import HealthFinding, State

_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_Resolver = ResolverMiddleware | ResolverASGIMiddleware
_INSIDE = ("wsgi_app", "asgi_app", "app", "application", "wrapped", "__func__", "__self__")
# The maximum number of objects in which the resolver is searched.
_MAX_OBJECTS = 200
_MAX_ROUTES = 20
_RESOURCES = ("metrics", "metrics_token_file", "statistics", "log", "log_folder", "sitemap", "atom", "oai", "services")
# The syntax of a regular expression before its first letter.
_BEGINNING = re.compile(r"(?:\^|\\A|\(\?[aiLmsux]+\)|\((?:\?P<\w+>|\?:)?)*")


class NotLoaded(Exception):
    """Raised when the application cannot be imported, with the reason in printable ASCII. ``usage``: its name does not
    have the form MODULE:NAME.
    """

    def __init__(self, why: str, *, usage: bool = False) -> None:
        super().__init__(why)
        self.usage = usage


class ListedApplication(NamedTuple):
    """An application whose routes can be listed, its framework, such as "Flask", and the resolver around it."""

    framework: str
    app: Any
    resolver: _Resolver | None


def load(place: str) -> Any:
    """Import a WSGI or ASGI application ``MODULE:NAME``, such as "shop.wsgi:application", also from the current folder.
    The import runs the code of the module. Raises :class:`NotLoaded` if that fails or the result cannot be called.
    """
    if not _PLACE.fullmatch(place):
        raise NotLoaded("expected MODULE:NAME, for example shop.wsgi:application", usage=True)
    module, _, name = place.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        application: Any = importlib.import_module(module)
        for part in name.split("."):
            application = getattr(application, part)
    except (Exception, SystemExit) as error:
        reason = display.escape(str(error).partition("\n")[0][:600])
        raise NotLoaded(f"{type(error).__name__}: {reason}" if reason else type(error).__name__) from error
    if not callable(application):
        raise NotLoaded(f"it is not a WSGI or ASGI application but {describe_application(application)}")
    return application


def examine(application: Any) -> Iterator[HealthFinding]:
    """Check that each site in an application is wrapped in the resolver (POL-037). Yield the findings, also about its
    routes under reserved paths.

    >>> [finding.state for finding in examine(lambda environ, start_response: [])]
    ['error', 'warning']
    """
    sites, resolvers = _walk(application)
    if not resolvers:
        kind = "ResolverASGIMiddleware" if is_asgi(application) else "ResolverMiddleware"
        inside = "" if is_asgi(application) else " For Flask: app.wsgi_app = ResolverMiddleware(app.wsgi_app, ...)."
        yield HealthFinding(
            "app",
            "resolver",
            "error",
            "resolver",
            f"{describe_application(application)} is not wrapped in {kind}.",
            f'Wrap it: application = {kind}(application, open_bindings("bindings.sqlite"), prefix=...).{inside}',
        )
    for site in sites:
        if site.resolver is not None:
            message = f"{type(site.resolver).__name__} wraps the {site.framework} application."
            yield HealthFinding("app", "resolver", "ok", "resolver", message)
        elif resolvers:
            outer = type(resolvers[0]).__name__
            message = f"{outer} wraps another application, but not the {site.framework} application."
            yield HealthFinding("app", "resolver", "warning", "resolver", message)
        yield from _routes(site)
    if resolvers and not sites:
        message = f"{type(resolvers[0]).__name__} wraps {describe_application(resolvers[0].app)}."
        yield HealthFinding("app", "resolver", "ok", "resolver", message)
    if not sites:
        message = (
            "The routes of this application cannot be listed. Check yourself that none begins with /ark: or /urn:."
        )
        yield HealthFinding("app", "routes", "warning", "routes", message)
    if resolvers and resolvers[0].settings.prefix is None:
        change = 'Set the argument prefix="https://example.org" to the public URL of the site.'
        message = "No prefix is set, so links contain no host and do not work outside of this site."
        yield HealthFinding("app", "prefix", "warning", "prefix", message, change)


def settings_of(application: Any) -> Settings | None:
    """Return the settings of the outermost resolver in an application, or None without a resolver."""
    _, resolvers = _walk(application)
    return resolvers[0].settings if resolvers else None


def bindings_of(application: Any) -> Bindings | None:
    """Return the bindings of the outermost resolver in an application, or None without :class:`Bindings`."""
    _, resolvers = _walk(application)
    bindings = resolvers[0].bindings if resolvers else None
    return bindings if isinstance(bindings, Bindings) else None


def arguments_of(settings: Settings) -> dict[str, Any]:
    """Return the arguments of a resolver that answers for the same names as another one.

    >>> arguments_of(Settings(cache=60))["cache"]
    60
    """
    return without_resources({each.name: getattr(settings, each.name) for each in fields(settings) if each.init})


def without_resources(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a resolver without its feeds, metrics, statistics and log, which write or need files."""
    return {name: value for name, value in arguments.items() if name not in _RESOURCES}


def _walk(application: Any) -> tuple[list[ListedApplication], list[_Resolver]]:
    """Return the sites and the resolvers in an application, the outermost first."""
    sites: list[ListedApplication] = []
    resolvers: list[_Resolver] = []
    waiting: deque[tuple[Any, _Resolver | None]] = deque([(application, None)])
    seen: list[Any] = []
    while waiting and len(seen) < _MAX_OBJECTS:
        each, resolver = waiting.popleft()
        if any(each is other for other in seen):
            continue
        seen.append(each)
        if isinstance(each, _Resolver):
            resolvers.append(each)
            waiting.appendleft((each.app, each))
            continue
        inside = list(_inside(each))
        if framework := _framework(each):
            # Applications of Flask, Quart and Starlette contain their own middleware.
            own = next((inner for inner in _inner_applications(inside) if isinstance(inner, _Resolver)), None)
            if own is not None and own not in resolvers:
                resolvers.append(own)
            sites.append(ListedApplication(framework, each, resolver or own))
            continue
        waiting.extend((inner, resolver) for inner in inside)
    return sites, resolvers


def _inner_applications(inside: Iterable[Any]) -> Iterator[Any]:
    """Yield the applications inside, through all wrappers, up to a framework."""
    waiting = deque(inside)
    for _ in range(_MAX_OBJECTS):
        if not waiting:
            return
        application = waiting.popleft()
        yield application
        if not _framework(application):
            waiting.extend(_inside(application))


def _inside(app: Any) -> Iterator[Any]:
    """Yield the applications that another one contains."""
    # functools.wraps copies attributes such as wsgi_app, so follow __wrapped__ only.
    wrapped = inspect.getattr_static(app, "__wrapped__", None)
    if callable(wrapped):
        yield wrapped
        return
    for name in _INSIDE:
        # Do not run the code of a property.
        attribute = inspect.getattr_static(app, name, None)
        if isinstance(attribute, property):
            continue
        attribute = getattr(app, name, None) if attribute is not None else None
        if callable(attribute) and not inspect.isclass(attribute):
            yield attribute
    if _framework(app) == "Starlette":
        # add_middleware records a class, from which the first request makes the middleware.
        yield app.middleware_stack or app.build_middleware_stack()
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
    """Return the framework of an application. Look only at imported modules: no other can have created it."""
    for framework, (module, name) in _CLASSES.items():
        kind = getattr(sys.modules.get(module), name, None)
        if inspect.isclass(kind) and isinstance(app, kind):
            return framework
    return None


def _routes(site: ListedApplication) -> Iterator[HealthFinding]:
    schemes = site.resolver.settings.schemes if site.resolver else SCHEMES
    labels = tuple(f"{scheme.name if isinstance(scheme, OwnScheme) else scheme}:" for scheme in schemes)
    try:
        every = list(_LISTED[site.framework](site.app))
    except Exception as error:  # noqa: BLE001 - this runs code of the framework
        reason = display.escape(f"{type(error).__name__}: {error}"[:200])
        message = f"The routes of the {site.framework} application cannot be listed ({reason})."
        yield HealthFinding("app", "routes", "warning", "routes", message)
        return
    hidden = [route for route in every if route.lstrip("/").lower().startswith(labels)]
    if not hidden:
        message = (
            f"None of the {len(every):,} routes of the {site.framework} application begins with {' or '.join(labels)}"
        )
        yield HealthFinding("app", "routes", "ok", "routes", message)
    change = "Move these routes to other paths, and bind names to them (ararat bind --kind served)."
    state: State = "error" if site.resolver else "warning"
    fate = "is never reached:" if site.resolver else "will not be reached after the resolver is added:"
    for route in hidden[:_MAX_ROUTES]:
        message = f"The route {display.escape(route[:200])} {fate} the resolver answers for this path."
        yield HealthFinding("app", "route-hidden", state, "routes", message, change)
    if len(hidden) > _MAX_ROUTES:
        message = f"... and {len(hidden) - _MAX_ROUTES:,} more routes."
        yield HealthFinding("app", "route-hidden", state, "routes", message, change)


def _of_flask(app: Any) -> Iterator[str]:
    return (rule.rule for rule in app.url_map.iter_rules())


def _of_starlette(app: Any) -> Iterator[str]:
    # Other kinds of routes, such as hosts, have no path.
    return (route.path for route in app.routes if isinstance(getattr(route, "path", None), str))


def _of_django(app: Any) -> Iterator[str]:
    from django.urls import get_resolver

    yield from _patterns_below(get_resolver(), "")


def _patterns_below(resolver: Any, beginning: str) -> Iterator[str]:
    for each in resolver.url_patterns:
        pattern = each.pattern
        # path() has a route and re_path() a regular expression. A language prefix (i18n_patterns) has neither.
        route, regex = getattr(pattern, "_route", None), getattr(pattern, "_regex", None)
        own = str(route) if route is not None else _literal(str(regex)) if regex is not None else str(pattern)
        if hasattr(each, "url_patterns"):
            yield from _patterns_below(each, beginning + own)
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
    "Quart": ("quart", "Quart"),
    "Starlette": ("starlette.applications", "Starlette"),
    "Django": ("django.core.handlers.base", "BaseHandler"),
    "Pyramid": ("pyramid.router", "Router"),
}
_LISTED: dict[str, Callable[[Any], Iterator[str]]] = {
    "Flask": _of_flask,
    "Quart": _of_flask,
    "Starlette": _of_starlette,
    "Django": _of_django,
    "Pyramid": _of_pyramid,
}
