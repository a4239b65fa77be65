"""The Flask application that all sites of a process share, and the application of one site.
Registering the routes and compiling the templates takes longer than many requests. So each site gets an application of
its own with the same ones. What is set on that, such as a filter or an error handler, is not set on others.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, MutableMapping
from functools import cache, cached_property
from types import CodeType
from typing import Any, NamedTuple

from flask import Flask
from flask.templating import Environment
from htmx_flask import Htmx
from jinja2 import BaseLoader, StrictUndefined, Template, TemplateNotFound
from werkzeug.datastructures import ImmutableDict
from werkzeug.routing import Map, MapAdapter, Rule, RuleFactory

from .language.templates import TranslatedEnvironment
from .request_body import LimitedRequest


class SharedRule(Rule):
    """A route that can be copied to the routes of another application, with the attribute that Flask sets."""

    provide_automatic_options = False

    def empty(self) -> Rule:
        copied = super().empty()
        vars(copied)["provide_automatic_options"] = self.provide_automatic_options
        return copied

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        # A process builds the addresses of few rules, and compiling all builders takes most of the time for its routes.
        def build(rule: Rule, /, **values: Any) -> Any:
            compiled = super(SharedRule, self)._compile_builder(append_unknown).__get__(rule, None)
            setattr(rule, "_build_unknown" if append_unknown else "_build", compiled)
            return compiled(**values)

        return build


class Routes(Map):
    """The routes of one site: those of all sites until a route is added or an attribute is set.
    ``shared`` are compiled once, when a site first uses them: this takes longer than the rest of the start.

    >>> shared = SharedRoutes([SharedRule("/a", endpoint="a")])
    >>> one, other = Routes(shared), Routes(shared)
    >>> one.add(SharedRule("/b", endpoint="b"))
    >>> [[rule.rule for rule in routes.iter_rules()] for routes in (one, other)]
    [['/a', '/b'], ['/a']]
    """

    def __init__(self, shared: SharedRoutes) -> None:
        # Without these settings the router answers double or missing slashes with a permanent redirect (308).
        super().__init__(strict_slashes=False, merge_slashes=False)
        self._used: SharedRoutes | _Own = shared

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_"):
            self._separate()

    def _separate(self) -> None:
        """Compile a copy of the routes that no other site has."""
        shared = vars(self).get("_used")
        if isinstance(shared, SharedRoutes):
            self._used = _Own(self)
            for rule in shared:
                super().add(rule.empty())

    def add(self, rulefactory: RuleFactory) -> None:
        self._separate()
        super().add(rulefactory)

    def bind(self, *args: Any, **options: Any) -> MapAdapter:
        return Map.bind(self._used.compiled, *args, **options)

    def bind_to_environ(self, *args: Any, **options: Any) -> MapAdapter:
        return Map.bind_to_environ(self._used.compiled, *args, **options)

    def iter_rules(self, endpoint: Any | None = None) -> Iterator[Rule]:
        return Map.iter_rules(self._used.compiled, endpoint)

    def is_endpoint_expecting(self, endpoint: Any, *arguments: str) -> bool:
        return Map.is_endpoint_expecting(self._used.compiled, endpoint, *arguments)


class SharedRoutes(list[Rule]):
    """The routes of all sites in the order of their registration."""

    @cached_property
    def compiled(self) -> Map:
        """The compiled routes."""
        return Map((rule.empty() for rule in self), strict_slashes=False, merge_slashes=False)


class _Own(NamedTuple):
    """The routes of a site that are not shared."""

    compiled: Map


class _Registered(Map):
    """The routes that are registered in the application of all sites. ``routes`` has them, not compiled."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.routes = SharedRoutes()

    def add(self, rulefactory: RuleFactory) -> None:
        self.routes += rulefactory.get_rules(self)


class Application(Flask):
    """The application of one site, with the routes, views, hooks and templates of ``shared``.
    Without ``shared``, it is one that sites can share: it gets them by the methods of Flask, and answers no requests.
    """

    default_config = ImmutableDict(
        {
            **Flask.default_config,
            # Each route has its limits (:mod:`.body_routes`).
            "MAX_CONTENT_LENGTH": None,
            # The URL of an asset changes with its content.
            "SEND_FILE_MAX_AGE_DEFAULT": 31_536_000,
        }
    )
    jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}  # noqa: RUF012 - as in Flask
    jinja_environment = TranslatedEnvironment
    url_rule_class = SharedRule

    def __init__(self, shared: Application | None = None) -> None:
        self._shared = shared
        if shared is None:
            # Flask searches templates/ and static/ in the folder of the package "ararat".
            super().__init__(__name__.partition(".")[0], static_folder=None)
            self.url_map = registered = _Registered()
            self._routes = registered.routes
        else:
            super().__init__(
                shared.import_name,
                static_folder=None,
                instance_path=shared.instance_path,
                root_path=shared.root_path,
            )
            # Flask keeps what is registered in dictionaries and lists.
            for name, value in vars(shared).items():
                if isinstance(value, dict | list) and name != "config":
                    vars(self)[name] = _copy(value)
            self._routes = shared._routes
            self.url_map = Routes(shared._routes)
            vars(self)["jinja_loader"] = shared.jinja_loader
        self.static_folder = "static"
        Htmx(self)
        self.request_class = LimitedRequest

    def first_segments(self) -> set[str]:
        """Return the first segments of the paths of all pages, without compiling the routes."""
        return {rule.rule.split("/")[1] for rule in self._routes}

    def create_jinja_environment(self) -> Environment:
        if self._shared is None:
            return super().create_jinja_environment()
        common = self._shared.jinja_env
        environment = common.overlay(loader=_Templates(self, common), autoescape=self.select_jinja_autoescape)
        environment.app = self
        environment.filters, environment.tests = {**common.filters}, {**common.tests}
        environment.globals = {**common.globals, "config": self.config}
        environment.policies = {**common.policies, "json.dumps_function": self.json.dumps}
        return environment


class _Templates(BaseLoader):
    """The templates of one site: those of all sites (``common``), compiled once, and those of its own blueprints."""

    def __init__(self, app: Application, common: Environment) -> None:
        self._app, self._common, self._folder = app, common, app.jinja_loader
        self._own = app.create_global_jinja_loader()

    def get_source(self, environment: Any, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        return self._own.get_source(environment, template)

    def list_templates(self) -> list[str]:
        return self._own.list_templates()

    def load(self, environment: Any, name: str, globals: MutableMapping[str, Any] | None = None) -> Template:
        # A developer can set another folder, or let Flask read changed templates.
        if self._app.jinja_loader is self._folder and not environment.auto_reload:
            with contextlib.suppress(TemplateNotFound):
                code = _compile(self._common, name)
                return environment.template_class.from_code(environment, code, {} if globals is None else globals)
        return super().load(environment, name, globals)


@cache
def _compile(environment: Environment, name: str) -> CodeType:
    """Return the compiled code of a template. Raises TemplateNotFound."""
    assert environment.loader is not None, "Flask sets it"  # noqa: S101
    source, file, _ = environment.loader.get_source(environment, name)
    return environment.compile(source, name, file)


def _copy(value: Any) -> Any:
    """Return a copy of what Flask keeps, with the same functions. A defaultdict remains one."""
    if isinstance(value, dict):
        copied = copy.copy(value)
        copied.update((key, _copy(each)) for key, each in value.items())
        return copied
    return [*map(_copy, value)] if isinstance(value, list) else value
