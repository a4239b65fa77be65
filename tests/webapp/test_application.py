"""All sites of a process share routes and templates. What a user sets on one application is not set on others."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pytest
from flask import Blueprint, Flask, Request, current_app, render_template_string, url_for
from flask.json.provider import DefaultJSONProvider
from flask.sessions import SecureCookieSessionInterface
from jinja2 import DictLoader
from werkzeug.exceptions import Conflict
from werkzeug.routing import BaseConverter, Rule

from ararat.webapp import create_app
from tests.webapp.desk.conftest import with_accounts


class Letters(BaseConverter):
    regex = "[a-z]+"


class Loud(SecureCookieSessionInterface):
    pass


class OwnRequest(Request):
    pass


class OwnProvider(DefaultJSONProvider):
    pass


def page(app: Flask, path: str = "/") -> str:
    answer = app.test_client().get(path)
    return f"{answer.status_code} {answer.headers.get('X-Own')} {answer.text}"


def rendered(app: Flask, source: str) -> str:
    with app.test_request_context("/"):
        try:
            return render_template_string(source)
        except jinja2.TemplateError as error:
            return repr(error)


def own() -> Blueprint:
    blueprint = Blueprint("own", __name__)
    blueprint.add_url_rule("/own", view_func=lambda: "own")
    blueprint.add_app_template_filter(str.upper, "loud")
    blueprint.app_errorhandler(404)(lambda error: ("own", 404))
    return blueprint


def answer(*_: object, **__: object) -> str:
    return "own"


def stamp(response: Any) -> Any:
    response.headers["X-Own"] = "own"
    return response


def wrap(app: Flask) -> None:
    inner = app.wsgi_app
    app.wsgi_app = lambda environ, start: inner({**environ, "PATH_INFO": "/compare"}, start)  # type: ignore[method-assign]


def add_converter(app: Flask) -> None:
    app.url_map.converters["letters"] = Letters
    app.add_url_rule("/own/<letters:x>", "own", answer)


def static_status(app: Flask) -> int:
    with app.test_client().get("/static/test_application.py") as found:
        return found.status_code


def set_static(app: Flask) -> None:
    app.static_folder = str(Path(__file__).parent)


SETTINGS: dict[str, tuple[Callable[[Flask], Any], Callable[[Flask], Any]]] = {
    "a value of the configuration": (
        lambda app: app.config.update(MAX_CONTENT_LENGTH=1),
        lambda app: (app.config["MAX_CONTENT_LENGTH"], rendered(app, "{{ config.MAX_CONTENT_LENGTH }}")),
    ),
    "a secret key": (lambda app: setattr(app, "secret_key", "x"), lambda app: app.secret_key),
    "a blueprint": (lambda app: app.register_blueprint(own()), lambda app: page(app, "/own")),
    "a filter": (lambda app: app.add_template_filter(str.upper, "loud"), lambda app: rendered(app, "{{ 'x' | loud }}")),
    "a filter of our pages": (
        lambda app: app.jinja_env.filters.update(shown=lambda pieces: "own"),
        lambda app: page(app, "/?q=ark:12345/x"),
    ),
    "a global": (lambda app: app.jinja_env.globals.update(version="own"), lambda app: page(app)),
    "a function for templates": (
        lambda app: app.add_template_global(answer, "answer"),
        lambda app: rendered(app, "{{ answer() }}"),
    ),
    "a test of templates": (
        lambda app: app.add_template_test(str.isupper, "loud"),
        lambda app: rendered(app, "{{ 'X' is loud }}"),
    ),
    "an extension of templates": (
        lambda app: app.jinja_env.add_extension("jinja2.ext.do"),
        lambda app: rendered(app, "{% do [1] %}"),
    ),
    "an option of templates": (
        lambda app: setattr(app.jinja_env, "trim_blocks", False),
        lambda app: rendered(app, "{% if true %}\n{% endif %}x"),
    ),
    "a policy of templates": (
        lambda app: app.jinja_env.policies.update({"truncate.leeway": 99}),
        lambda app: rendered(app, "{{ ('x' * 300) | truncate }}"),
    ),
    "a folder of templates": (
        lambda app: setattr(app, "jinja_loader", DictLoader({"inspector/inspect.html": "own"})),
        lambda app: page(app),
    ),
    "a context processor": (
        lambda app: app.context_processor(lambda: {"mine": "own"}),
        lambda app: rendered(app, "{{ mine }}"),
    ),
    "an error handler": (
        lambda app: app.register_error_handler(404, lambda _: ("own", 404)),
        lambda app: page(app, "/x"),
    ),
    "a function before requests": (lambda app: app.before_request(answer), lambda app: page(app)),
    "a function after requests": (lambda app: app.after_request(stamp), lambda app: page(app)),
    "a function at the end of requests": (
        lambda app: app.teardown_request(lambda error: None),
        lambda app: len(app.teardown_request_funcs.get(None, ())),
    ),
    "a function at the end of contexts": (
        lambda app: app.teardown_appcontext(lambda error: None),
        lambda app: len(app.teardown_appcontext_funcs),
    ),
    "a route": (lambda app: app.add_url_rule("/own", "own", answer), lambda app: page(app, "/own")),
    "a route of werkzeug": (
        lambda app: (app.url_map.add(Rule("/own", endpoint="own")), app.endpoint("own")(answer)),
        lambda app: page(app, "/own"),
    ),
    "a route with a converter": (add_converter, lambda app: page(app, "/own/abc")),
    "an option of routes": (
        lambda app: setattr(app.url_map, "merge_slashes", True),
        lambda app: app.test_client().get("/docs//accounts").status_code,
    ),
    "an order of parameters": (
        lambda app: setattr(app.url_map, "sort_parameters", True),
        lambda app: rendered(app, "{{ url_for('inspect.page', z=1, a=2) }}"),
    ),
    "a view": (lambda app: app.view_functions.update({"inspect.page": answer}), lambda app: page(app)),
    "defaults of URLs": (
        lambda app: app.url_defaults(lambda endpoint, values: values.setdefault("own", 1)),
        lambda app: rendered(app, "{{ url_for('inspect.page') }}"),
    ),
    "a reader of URLs": (
        lambda app: app.url_value_preprocessor(lambda endpoint, values: current_app.aborter(418)),
        lambda app: page(app),
    ),
    "a handler of wrong URLs": (
        lambda app: app.url_build_error_handlers.append(lambda *_: "/own"),
        lambda app: len(app.url_build_error_handlers),
    ),
    "a wrapper": (wrap, lambda app: page(app)),
    "an extension": (lambda app: app.extensions.update(own=1), lambda app: app.extensions.get("own")),
    "a site": (lambda app: app.extensions.pop("ararat"), lambda app: "ararat" in app.extensions),
    "a format of JSON": (
        lambda app: setattr(app.json, "sort_keys", False),
        lambda app: app.json.dumps({"b": 1, "a": 2}),
    ),
    "a provider of JSON": (lambda app: setattr(app, "json", OwnProvider(app)), lambda app: type(app.json)),
    "sessions": (lambda app: setattr(app, "session_interface", Loud()), lambda app: type(app.session_interface)),
    "a class of requests": (lambda app: setattr(app, "request_class", OwnRequest), lambda app: app.request_class),
    "a command": (lambda app: app.cli.command("own")(answer), lambda app: sorted(app.cli.commands)),
    "a variable of the shell": (
        lambda app: app.shell_context_processor(lambda: {"own": 1}),
        lambda app: "own" in app.make_shell_context(),
    ),
    "an exception of a status": (
        lambda app: app.aborter.mapping.update({499: Conflict}),
        lambda app: 499 in app.aborter.mapping,
    ),
    "a folder of static files": (set_static, static_status),
    "its name": (lambda app: setattr(app, "name", "own"), lambda app: app.name),
}


@pytest.fixture(params=["without accounts", "with accounts"])
def make(request) -> Callable[[], Flask]:
    """make() returns a new application of a site."""
    if request.param == "without accounts":
        return create_app
    bindings = request.getfixturevalue("bindings_of_site")
    return lambda: create_app(bindings)


@pytest.fixture
def bindings_of_site(tmp_path):
    from ararat.middleware import open_bindings

    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        yield bindings


@pytest.mark.one_setup
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_of_one_application_does_not_reach_another(make, setting):
    change, read = SETTINGS[setting]
    one, before = make(), make()
    usual = read(make())
    change(one)
    assert read(one) != usual
    assert read(before) == usual
    assert read(make()) == usual


LATE = (
    "a value of the configuration",
    "a filter",
    "a global",
    "an option of templates",
    "a view",
    "a wrapper",
)


@pytest.mark.one_setup
@pytest.mark.parametrize("setting", LATE)
def test_a_setting_after_the_first_request_does_not_reach_another(make, setting):
    change, read = SETTINGS[setting]
    one, other = make(), make()
    usual = read(one)
    assert read(other) == usual
    change(one)
    assert read(one) != usual
    assert read(other) == usual


def test_a_second_site_compiles_neither_routes_nor_templates(make, monkeypatch):
    page(make())
    bound, compiled = [], []
    bind, compile_template = Rule.bind, jinja2.Environment.compile
    monkeypatch.setattr(Rule, "bind", lambda rule, *args: (bound.append(rule), bind(rule, *args)))
    monkeypatch.setattr(
        jinja2.Environment,
        "compile",
        lambda *args, **options: (compiled.append(args), compile_template(*args, **options))[1],
    )
    assert page(make()).startswith("200")
    assert bound == compiled == []


def test_sites_can_be_created_and_asked_in_threads(make):
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(page(make())[:3])) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert answers == ["200"] * 8


def test_templates_are_read_again_if_a_developer_wants_it(tmp_path, make):
    file = tmp_path / "inspector" / "inspect.html"
    file.parent.mkdir()
    app = make()
    app.jinja_loader = jinja2.FileSystemLoader(tmp_path)  # type: ignore[assignment]
    app.jinja_env.auto_reload = True
    for text in ("one", "another"):
        file.write_text(text)
        assert page(app).endswith(text)


def test_a_site_has_a_page_of_its_own_blueprint_in_a_folder(tmp_path, make):
    (tmp_path / "own.html").write_text("{% extends 'inspector/base.html' %}{% block title_language %}{% endblock %}")
    app = make()
    blueprint = Blueprint("own", __name__, template_folder=str(tmp_path))
    blueprint.add_url_rule("/own", view_func=lambda: current_app.jinja_env.get_template("own.html").render(title="Own"))
    app.register_blueprint(blueprint)
    assert "<title>Own</title>" in page(app, "/own")
    assert page(make(), "/own").startswith("404")


def test_a_route_of_one_site_can_be_built_there(make):
    app = make()
    app.add_url_rule("/own/<int:x>", "own", answer)
    with app.test_request_context("/"):
        assert url_for("own", x=5) == "/own/5"
        assert url_for("inspect.page") == "/"


STARTED = """
import sys
from ararat.webapp import create_app

create_app()
print(*sys.modules)

from ararat.middleware import open_bindings

with open_bindings(sys.argv[1]) as bindings:
    assert create_app(bindings).test_client().get("/?q=ark:12345/x").status_code == 200
print(*sys.modules)
"""


def test_a_site_starts_without_what_few_requests_need(tmp_path):
    (file := tmp_path / "bindings.sqlite").write_bytes(with_accounts()[0])
    command = [sys.executable, "-P", "-c", STARTED, file]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    without_database, with_database = (set(line.split()) for line in done.stdout.splitlines())
    assert {"sqlalchemy", "argon2", "segno", "psycopg"} & without_database == set()
    unneeded = {"babel", "openpyxl", "psycopg", "segno", "sqlalchemy.dialects.postgresql", "xlrd", "zxcvbn"}
    assert unneeded & with_database == set()
