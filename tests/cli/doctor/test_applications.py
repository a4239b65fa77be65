"""Check typical applications: whether the resolver wraps them, and which routes it hides."""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Blueprint, Flask
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix

from ararat.cli.doctor import applications
from ararat.cli.doctor.finding import HealthFinding
from ararat.middleware import BindingSource, ResolverASGIMiddleware, ResolverMiddleware
from tests.preloaded import ARARAT


class Nothing(BindingSource):
    def fetch(self, keys: Any) -> dict[str, Any]:
        return {}


def resolver(app: Any, **settings: Any) -> Any:
    return ResolverMiddleware(app, Nothing(), **{"prefix": "https://r.example"} | settings)  # type: ignore[arg-type]


def flask(*routes: str) -> Flask:
    app = Flask("site")
    for number, route in enumerate(("/about", *routes)):
        app.add_url_rule(route, str(number), view_func=lambda **_: "")
    return app


def bare(environ: Any, start_response: Any) -> list[bytes]:
    return []


def inside_flask(app: Flask, wrap: Callable[[Any], Any] = resolver) -> Flask:
    app.wsgi_app = wrap(app.wsgi_app)  # type: ignore[method-assign]
    return app


def in_a_closure(app: Any) -> Any:
    @functools.wraps(app)
    def logged(environ: Any, start_response: Any) -> Any:
        return app(environ, start_response)

    return logged


def found(app: Any) -> list[tuple[str, str]]:
    findings = list(applications.examine(app))
    assert all(finding.message.isascii() and finding.part == "app" for finding in findings)
    return [(finding.code, finding.state) for finding in findings]


WELL = [("resolver", "ok"), ("routes", "ok")]


@pytest.mark.parametrize(
    "app",
    [
        pytest.param(inside_flask(flask()), id="as the README says"),
        pytest.param(resolver(flask()), id="around the whole"),
        pytest.param(ProxyFix(resolver(flask())), id="inside of another"),
        pytest.param(resolver(ProxyFix(flask().wsgi_app)), id="outside of another"),
        pytest.param(inside_flask(flask(), lambda app: ProxyFix(resolver(app))), id="inside of another, in Flask"),
        pytest.param(DispatcherMiddleware(resolver(flask())), id="under a dispatcher"),
        pytest.param(in_a_closure(resolver(in_a_closure(flask().wsgi_app))), id="in closures"),
        pytest.param(resolver(flask("/arks", "/x/ark:<y>", "/<path:all>", "/foo:bar")), id="routes of other paths"),
        pytest.param(resolver(flask("/urn:<x>"), schemes=["ark"]), id="a scheme that is not reserved here"),
    ],
)
def test_the_resolver_is_found_in_all_kinds_of_wrappers(app: Any) -> None:
    assert found(app) == WELL


@pytest.mark.parametrize("route", ["/ark:<path:x>", "/ARK:/12345/<x>", "/urn:isbn:<x>"])
def test_routes_under_reserved_paths_are_reported(route: str) -> None:
    (well, hidden) = applications.examine(inside_flask(flask(route)))
    assert (well.state, hidden.code, hidden.state) == ("ok", "route-hidden", "error")
    assert f"The route {route} is never reached" in hidden.message
    assert "served" in (hidden.remedy or "")


def test_routes_of_a_blueprint_are_checked() -> None:
    app, parts = Flask("site"), Blueprint("parts", "parts", url_prefix="/ark:")
    parts.add_url_rule("/<x>", view_func=lambda x: x, endpoint="x")
    app.register_blueprint(parts)
    assert ("route-hidden", "error") in found(resolver(app))


def test_many_routes_are_counted_instead_of_listed() -> None:
    findings = list(applications.examine(resolver(flask(*(f"/ark:{n}" for n in range(50))))))
    assert len(findings) == 22
    assert "30 more" in findings[-1].message


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        pytest.param(bare, [("resolver", "error"), ("routes", "warning")], id="a bare function"),
        pytest.param(flask(), [("resolver", "error"), ("routes", "ok")], id="Flask"),
        pytest.param(resolver(bare), [("resolver", "ok"), ("routes", "warning")], id="a bare function, in front"),
        pytest.param(resolver(flask(), prefix=None), [*WELL, ("prefix", "warning")], id="no prefix"),
        pytest.param(
            DispatcherMiddleware(resolver(bare), {"/shop": flask("/ark:<x>")}),
            [("resolver", "warning"), ("route-hidden", "warning")],
            id="another site beside it",
        ),
    ],
)
def test_problems_of_an_application_are_reported(app: Any, expected: list[tuple[str, str]]) -> None:
    assert found(app) == expected


async def asgi(scope: Any, receive: Any, send: Any) -> None: ...


class Converted:
    """An ASGI application around a WSGI one, like those of a2wsgi and asgiref."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...


@pytest.mark.parametrize("app", [asgi, Converted(asgi)], ids=["function", "object"])
def test_an_asgi_application_without_a_resolver_is_reported_with_the_remedy(app: Any) -> None:
    finding, _ = applications.examine(app)
    assert (finding.code, finding.state) == ("resolver", "error")
    assert "is not wrapped in ResolverASGIMiddleware" in finding.message
    assert "ResolverASGIMiddleware(application, open_bindings(" in (finding.remedy or "")


def test_a_resolver_around_an_asgi_application_is_found() -> None:
    wrapped = ResolverASGIMiddleware(asgi, Nothing(), prefix="https://r.example")
    for app in (
        wrapped,
        Converted(wrapped),
        ResolverASGIMiddleware(Converted(asgi), Nothing(), prefix="https://r.example"),
    ):
        first, routes = applications.examine(app)
        assert (first.code, first.state, routes.state) == ("resolver", "ok", "warning")
        assert first.message.startswith("ResolverASGIMiddleware wraps ")
    assert applications.settings_of(wrapped) is wrapped.settings


def test_a_resolver_inside_of_a_converted_application_is_found() -> None:
    assert found(Converted(resolver(flask()))) == WELL


def test_wrappers_that_contain_each_other_end_the_search() -> None:
    one, two = ProxyFix(bare), ProxyFix(bare)
    one.app, two.app = two, one
    assert found(one)[0] == ("resolver", "error")


def test_properties_are_not_evaluated() -> None:
    class Trap:
        @property
        def app(self) -> Any:
            raise AssertionError("it was looked at")

        def __call__(self, *_: Any) -> list[bytes]:
            return []

    assert found(Trap())[0] == ("resolver", "error")


def test_settings_are_those_of_the_outermost_resolver() -> None:
    settings = applications.settings_of(ProxyFix(resolver(flask(), naans=["12148"])))
    assert settings is not None
    assert settings.naans == {"12148"}
    assert applications.settings_of(bare) is None


def test_the_routes_of_django_are_listed() -> None:
    from django.core.handlers.wsgi import WSGIHandler
    from django.http import HttpResponse
    from django.urls import include, path, re_path
    from django.urls.resolvers import RegexPattern, URLResolver

    def view(request: Any, **_: Any) -> HttpResponse:
        return HttpResponse()

    below = [path("<str:x>", view), re_path(r"^(?P<x>[a-z]+)/$", view)]
    urls = [
        path("about", view),
        path("ark:12345/", include(below)),
        re_path(r"^urn\:(?P<x>.+)$", view),
        re_path(r"^(?P<whole>ark:.*)$", view),
        re_path(r".*", view),
    ]
    routes = list(applications._patterns_below(URLResolver(RegexPattern(r"^/"), urls), ""))
    assert routes[1] == "ark:12345/<str:x>"
    assert [route for route in routes if route.startswith(("ark:", "urn:"))] == routes[1:5]
    assert applications._framework(WSGIHandler.__new__(WSGIHandler)) == "Django"


PYRAMID = """\
from pyramid.config import Configurator
from ararat.middleware import BindingSource, ResolverMiddleware, open_bindings

with Configurator() as site:
    for name, route in {"a": "/ark:{x:.*}", "b": "urn:{x}", "c": "/about"}.items():
        site.add_route(name, route)
    app = ResolverMiddleware(site.make_wsgi_app(), open_bindings("bindings.sqlite", create=True),
    prefix="https://r.example")
"""


@pytest.mark.skipif(importlib.util.find_spec("pyramid") is None, reason="Pyramid is not installed")
def test_the_routes_of_pyramid_are_listed(run_command: Callable[..., Any], tmp_path: Path) -> None:
    # In another process, because importing Pyramid causes warnings.
    (tmp_path / "site_under_test.py").write_text(PYRAMID, "utf-8")
    ran = run_command(ARARAT, "doctor", "--app", "site_under_test:app", "--json", folder=tmp_path)
    found = [(row["code"], row["message"].split()[2]) for row in map(json.loads, ran.stdout.splitlines()[:3])]
    assert found == [("resolver", "the"), ("route-hidden", "/ark:{x:.*}"), ("route-hidden", "urn:{x}")]
    assert ran.returncode == 1


def test_unlistable_routes_are_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(app: Any) -> Any:
        raise RuntimeError("not\x1b[2J now")

    monkeypatch.setitem(applications._LISTED, "Flask", fail)
    findings: list[HealthFinding] = list(applications.examine(resolver(flask())))
    assert (findings[-1].code, findings[-1].state) == ("routes", "warning")
    assert findings[-1].message.isprintable()
