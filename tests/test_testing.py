"""The pytest plugin: its fixtures, its assertions with the clients of several libraries, and its cost if unused.

The examples of docs/test-your-site.md run in this process, and (long) with the wheel in a fresh environment.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Depends, FastAPI
from fastapi.security import HTTPBasic
from flask import Flask
from quart import Quart, redirect
from starlette.applications import Starlette
from starlette.authentication import AuthenticationBackend, requires
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.httpsredirect import HTTPSRedirectMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Mount, Route

from ararat.bindings.collection import Bindings
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware
from ararat.testing import LiveSite, assert_described, assert_resolves, assert_signposting, assert_withdrawn

with warnings.catch_warnings(action="ignore"):
    # It prefers httpx2 to httpx.
    from starlette.testclient import TestClient

pytest_plugins = ["pytester", "ararat.testing"]

ROOT = Path(__file__).parents[1]
TARGET = "https://museum.example/paintings/17"


def flask_site() -> Flask:
    app = Flask(__name__)
    app.add_url_rule("/paintings/17", "painting", lambda: "<h1>Night</h1>")
    app.add_url_rule("/old", "old", lambda: ("", 301, {"Location": TARGET}))
    return app


def fastapi_site() -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI):
        app.state.started = True
        yield
        app.state.started = False

    app = FastAPI(lifespan=lifespan)

    @app.get("/paintings/{number}")
    async def painting(number: int) -> dict[str, Any]:
        return {"painting": number, "started": app.state.started}

    return app


@pytest.fixture
def names(ararat_bindings: Bindings) -> Bindings:
    ararat_bindings.bind("ark:12345/x", TARGET, metadata={"erc.what": "Night", "erc.who": "Anna"})
    ararat_bindings.bind("ark:12345/page", "/paintings/17", kind="served")
    ararat_bindings.bind("ark:12345/here", "/paintings/17")
    ararat_bindings.bind("ark:12345/lost", "/paintings/lost")
    ararat_bindings.bind("ark:12345/gone", TARGET)
    ararat_bindings.withdraw("ark:12345/gone", reason="never existed")
    return ararat_bindings


@pytest.fixture
def unconfigured() -> Iterator[Any]:
    """Return the settings of Django, without values. Restore those of other tests afterwards."""
    from django.conf import settings

    # A process has only one Django site.
    before = dict(vars(settings))
    forget(settings)
    yield settings
    forget(settings)
    vars(settings).clear()
    vars(settings).update(before)


@pytest.fixture
def django(unconfigured: Any) -> Any:
    """Return a test client of Django, whose site answers a name by a view of its own."""
    from django.http import HttpResponse, HttpResponseRedirect
    from django.test import Client
    from django.urls import path

    def name(request: Any, name: str) -> Any:
        if request.GET:
            return HttpResponse(b'{"metadata": {"what": "Night"}}', content_type="application/json")
        link = {"Link": f'</ark:12345/{name}?info>; rel="describedby"'}
        return HttpResponseRedirect(TARGET, headers=link) if name == "x" else HttpResponse(status=410)

    unconfigured.configure(ROOT_URLCONF=(path("ark:12345/<name>", name),), ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50)
    return Client()


def of_flask(bindings: Bindings) -> Any:
    app = flask_site()
    app.wsgi_app = ResolverMiddleware(app.wsgi_app, bindings, prefix="http://localhost")
    return app.test_client()


def of_starlette(bindings: Bindings) -> Any:
    app = fastapi_site()
    app.state.started = True
    return TestClient(ResolverASGIMiddleware(app, bindings, prefix="http://testserver"))


def of_httpx(bindings: Bindings) -> Any:
    transport = httpx.WSGITransport(app=ResolverMiddleware(flask_site().wsgi_app, bindings))
    return httpx.Client(transport=transport, base_url="http://museum.example", follow_redirects=True)


def of_the_plugin(make: Callable[[], Any], factory: str) -> Callable[..., Any]:
    return lambda bindings, request: request.getfixturevalue(factory)(make())


CLIENTS = {
    "Flask": lambda bindings, request: of_flask(bindings),
    "Starlette": lambda bindings, request: of_starlette(bindings),
    "httpx": lambda bindings, request: of_httpx(bindings),
    "ararat_site, WSGI": of_the_plugin(flask_site, "ararat_site"),
    "ararat_site, ASGI": of_the_plugin(fastapi_site, "ararat_site"),
    "ararat_live_site, WSGI": of_the_plugin(flask_site, "ararat_live_site"),
    "ararat_live_site, ASGI": of_the_plugin(fastapi_site, "ararat_live_site"),
}


@pytest.mark.parametrize("make", CLIENTS.values(), ids=CLIENTS)
def test_the_assertions_take_the_client_of_each_library(names, request, make):
    client = make(names, request)
    assert_resolves(client, "ark:12345/x", TARGET)
    assert_resolves(client, "/ark:/12345/x-", TARGET)
    assert_resolves(client, "ark:12345/page")
    assert_resolves(client, "ark:12345/here", "/paintings/17")
    assert_described(client, "ark:12345/x", what="Night", who="Anna")
    assert_withdrawn(client, "ark:12345/gone", "never existed")
    assert_signposting(client, "ark:12345/x", "describedby")
    with pytest.raises(AssertionError, match="not bound"):
        assert_resolves(client, "ark:12345/none")


def test_the_assertions_take_the_client_of_django(django):
    assert_resolves(django, "ark:12345/x", TARGET)
    assert_described(django, "ark:12345/x", what="Night")
    assert_withdrawn(django, "ark:12345/y")
    assert_signposting(django, "ark:12345/x")
    with pytest.raises(AssertionError, match="Django's test client does not run WSGI middleware"):
        assert_resolves(django, "ark:67890/x")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("check", "parts"),
    [
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/none", TARGET),
            ("GET /ark:12345/none", "404 Not Found: This resolver has no", f"302, 303 or 307 to {TARGET}", "Bind it"),
            id="not bound",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/x", "https://museum.example/paintings/18"),
            (f"302 Found to {TARGET}", "to https://museum.example/paintings/18", "leads elsewhere"),
            id="another target",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/lost", "/paintings/lost"),
            ("which answers 404 Not Found", "Restore the page /paintings/lost"),
            id="the page is lost",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "/old"),
            (f"301 Moved Permanently to {TARGET}", "Clients keep a permanent redirect"),
            id="permanent",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/page", TARGET),
            ("200 OK (text/html; charset=utf-8)", "a page of its own"),
            id="a page",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/gone"),
            ("410 Gone: The resource of this identifier was withdrawn.", "ararat restore NAME"),
            id="withdrawn",
        ),
        pytest.param(
            lambda site: assert_resolves(site, "nothing"), ("404 Not Found", "did not reach a resolver"), id="no name"
        ),
        pytest.param(
            lambda site: assert_resolves(site, "ark:12345/a!b"), ("GET /ark:12345/a!b", "ararat inspect"), id="no ARK"
        ),
        pytest.param(
            lambda site: assert_described(site, "ark:12345/x", what="Day"),
            ("GET /ark:12345/x?info", "what: 'Night'", "what: 'Day'", "Set the metadata"),
            id="another title",
        ),
        pytest.param(
            lambda site: assert_described(site, "/paintings/17"), ("not by a page of the site",), id="a page at ?info"
        ),
        pytest.param(
            lambda site: assert_withdrawn(site, "ark:12345/x"), ("302 Found", "410", "Withdraw it"), id="not withdrawn"
        ),
        pytest.param(
            lambda site: assert_withdrawn(site, "ark:12345/gone", "lost"),
            ("'never existed'", "'lost'"),
            id="another reason",
        ),
        pytest.param(
            lambda site: assert_signposting(site, "ark:12345/x", "license"),
            ("relations describedby", "relation license"),
            id="no licence",
        ),
        pytest.param(lambda site: assert_signposting(site, "/paintings/17"), ("no Link field",), id="no link"),
    ],
)
def test_a_failed_assertion_states_what_was_asked_what_came_and_what_to_do(names, ararat_site, check, parts):
    with pytest.raises(AssertionError) as failed:
        check(ararat_site(flask_site()))
    text = str(failed.value)
    assert re.findall(r"^(\w+)  ", text, re.MULTILINE) == ["asked", "came", "expected", "fix"]
    assert [part for part in parts if part not in text] == []
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("client", "said"),
    [
        pytest.param("http://localhost", "str is not a test client", id="an address"),
        pytest.param(httpx.AsyncClient(), "AsyncClient is asynchronous", id="asynchronous"),
    ],
)
def test_another_object_than_a_client_is_refused(client, said):
    with pytest.raises(TypeError, match=said):
        assert_resolves(client, "ark:12345/x")


def test_the_lifespan_of_an_application_begins_and_ends(names, pytester):
    pytester.makepyfile(
        """
        from tests.test_testing import fastapi_site

        app = fastapi_site()

        def test_started(ararat_site):
            assert ararat_site(app).get("/paintings/17").json == {"painting": 17, "started": True}

        def test_ended():
            assert app.state.started is False
        """
    )
    run(pytester).assert_outcomes(passed=2)


def test_a_live_site_answers_at_its_address(names, ararat_live_site):
    site = ararat_live_site(flask_site(), max_length=500)
    assert isinstance(site, LiveSite)
    assert httpx.get(f"{site.url}/ark:12345/here", follow_redirects=True).text == "<h1>Night</h1>"
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+", site.url)


def test_nothing_is_imported_before_a_test_uses_the_plugin():
    code = (
        "import pytest, sys; before = set(sys.modules); import ararat.testing; "
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert loaded.split() == ["ararat", "ararat.testing"]


# -- The examples of the documentation -----------------------------------------------------------------------------

GUIDE = (ROOT / "docs" / "test-your-site.md").read_text("utf-8")


def examples() -> dict[str, list[str]]:
    """Return the blocks of Python below each heading."""
    parts = re.split(r"^## (.*)$", GUIDE, flags=re.MULTILINE)
    block = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return {title: block.findall(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


EXAMPLES = examples()
FRAMEWORKS = ("Flask", "Django", "FastAPI and Starlette")
ALONE = ("-p", "ararat.testing", "-p", "no:cacheprovider")


def run(pytester: pytest.Pytester, *more: str) -> pytest.RunResult:
    """Run the tests in the folder of ``pytester`` in this process, only with the plugin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        return pytester.runpytest_inprocess(*ALONE, *more)


# A session of pytester in this process unloads the modules that it loads. Parts of Django must not be loaded twice.
importlib.import_module("django.test")


def forget(settings: Any) -> None:
    """Let the next site of Django in this process begin without settings and addresses."""
    from django.urls import clear_url_caches
    from django.utils.functional import empty

    settings._wrapped = empty
    clear_url_caches()


def broken(site: str) -> str:
    """Return the code of a site whose paintings have another address."""
    assert "paintings/" in site
    return site.replace("paintings/", "works/")


@pytest.mark.parametrize("title", FRAMEWORKS)
def test_an_example_is_green_and_turns_red_when_a_name_breaks(pytester, title, unconfigured):
    museum, tests = EXAMPLES[title]
    pytester.makepyfile(museum=museum, test_names=tests)
    passed = run(pytester)
    passed.assert_outcomes(passed=tests.count("def test_"))
    pytester.makepyfile(museum=broken(museum), test_names=tests)
    forget(unconfigured)
    red = run(pytester)
    red.stdout.fnmatch_lines(["*wrong answer for ark:12345/x6np1", "*fix * Restore the page /paintings/17*"])
    assert red.ret == 1


def test_the_table_of_names_of_a_site_is_tested(pytester):
    pytester.makepyfile(museum=EXAMPLES["Flask"][0], test_names=EXAMPLES["Your own table of names"][0])
    table = pytester.path / "names.csv"
    table.write_text("identifier,target\nark:12345/x6np1,/paintings/17\n", "utf-8")
    run(pytester).assert_outcomes(passed=1)
    table.write_text("identifier,target\nark:12345/x6np1,/works/17\n", "utf-8")
    run(pytester).assert_outcomes(failed=1)


# Broken projects ------------------------------------------------------------------------------------------------------


def broken_flask(**pages: Any) -> Flask:
    """Return a site with a page /objects/17/ that a function answers."""
    app = Flask(__name__)
    for number, (path, answer) in enumerate(pages.items()):
        app.add_url_rule(path.replace("_", "/"), f"page{number}", answer)
    return app


def moved(where: str) -> Callable[[], Any]:
    return lambda: ("", 302, {"Location": where})


def walled() -> Flask:
    app = broken_flask(_objects_17=lambda: "<h1>Map</h1>", _login=lambda: "<h1>Hello</h1>")
    app.before_request_funcs.setdefault(None, []).append(lambda: moved("/login?next=x")())
    return app


def for_everything() -> Flask:
    app = Flask(__name__)
    app.add_url_rule("/<path:path>", "shell", lambda path: "<h1>Museum</h1>")
    return app


PROJECTS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "a page to sign in": (walled, "a page to sign in", "Let readers see the page without an account."),
    "a form to sign in": (
        lambda: broken_flask(_objects_17=lambda: '<form><input type="password" name="p"></form>'),
        "a form to sign in", "Let readers see the page",
    ),
    "a loop": (
        lambda: broken_flask(_objects_17=moved("/b"), _b=moved("/objects/17")),
        "a loop of redirects: /objects/17 to /b to /objects/17", "Remove one of the redirects.",
    ),
    "another host": (
        lambda: broken_flask(_objects_17=moved("https://other.example/17")),
        "another host: https://other.example/17", "Remove this redirect",
    ),
    "a soft 404": (lambda: broken_flask(_objects_17=lambda: "<h1>Not found</h1>"), "does not exist", "Restore"),
    "one page for everything": (for_everything, "does not exist", "Restore the page"),
    "no page": (broken_flask, "which answers 404", "Restore the page /objects/17"),
}  # fmt: skip


@pytest.mark.parametrize("project", PROJECTS)
def test_a_page_that_no_reader_gets_fails(project: str, ararat_bindings: Bindings, ararat_site: Any) -> None:
    make, came, fix = PROJECTS[project]
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17")
    client = ararat_site(make())
    for target in ("/objects/17", None):
        with pytest.raises(AssertionError) as failed:
            assert_resolves(client, "ark:12345/x6np1", target)
        assert came in str(failed.value)
        assert f"fix       {fix}" in str(failed.value)


def test_redirects_inside_the_site_are_followed(ararat_bindings: Bindings, ararat_site: Any) -> None:
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17")
    app = broken_flask(_objects_17=moved("/objects/17/en"), _objects_17_en=lambda: "<h1>Map</h1>")
    assert_resolves(ararat_site(app), "ark:12345/x6np1", "/objects/17")
    assert_resolves(ararat_site(app), "ark:12345/x6np1")


def cause_of(client: Any, name: str = "ark:12345/x6np1", target: str | None = None) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_resolves(client, name, target)
    return str(failed.value)


def test_the_cause_of_a_moved_page_of_a_served_name_is_the_page(ararat_bindings: Bindings, ararat_site: Any) -> None:
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17", kind="served")
    said = cause_of(ararat_site(broken_flask()))
    assert "The name is served, and the site has no page for it." in said
    assert "did not reach a resolver" not in said


def test_a_served_name_behind_a_page_to_sign_in_fails(ararat_bindings: Bindings, ararat_site: Any) -> None:
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17", kind="served")
    assert "a page to sign in" in cause_of(ararat_site(walled()))


@pytest.mark.parametrize("kind", ["served", "located"])
def test_the_cause_of_a_prefix_with_a_path_is_the_prefix(
    ararat_bindings: Bindings, ararat_site: Any, kind: Any
) -> None:
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17", kind=kind)
    client = ararat_site(broken_flask(), prefix="https://museum.example/ids")
    assert "The prefix has the path /ids" in cause_of(client, target="/objects/17" if kind == "located" else None)


def test_the_cause_of_a_refused_host_is_allowed_hosts(
    ararat_bindings: Bindings, ararat_site: Any, unconfigured: Any
) -> None:
    unconfigured.configure(DEBUG=False, ALLOWED_HOSTS=["museum.example"], ROOT_URLCONF=__name__, MIDDLEWARE=[
        "django.middleware.common.CommonMiddleware"])  # fmt: skip
    from django.core.wsgi import get_wsgi_application

    ararat_bindings.bind("ark:12345/x6np1", "/objects/17", kind="served")
    assert "ALLOWED_HOSTS" in cause_of(ararat_site(get_wsgi_application()))


def starlette_site(*middleware: Any) -> Starlette:
    async def page(request: Any) -> HTMLResponse:
        return HTMLResponse("<h1>Map</h1>")

    return Starlette(routes=[Route("/objects/17", page), Route("/signin", page, name="signin")], middleware=middleware)


def behind_an_account() -> Starlette:
    class Unknown(AuthenticationBackend):
        async def authenticate(self, conn: Any) -> None:
            return None

    @requires("authenticated", redirect="signin")
    async def page(request: Any) -> None:
        raise AssertionError("the page needs an account")

    routes = [Route("/objects/17", page), Route("/signin", lambda request: HTMLResponse("Hello"), name="signin")]
    return Starlette(routes=routes, middleware=[Middleware(AuthenticationMiddleware, backend=Unknown())])


def with_password() -> FastAPI:
    app = FastAPI(dependencies=[Depends(HTTPBasic())])
    app.add_api_route("/objects/{number}", lambda number: number)
    return app


def through_a_portal() -> Quart:
    app = Quart(__name__)

    @app.before_request
    async def to_the_portal() -> Any:
        return redirect("https://museum.example/konto/anmelden")

    return app


def two_languages() -> Starlette:
    return Starlette(routes=[
        Route("/objects/17", lambda request: RedirectResponse("/de/objects/17")),
        Route("/de/objects/17", lambda request: RedirectResponse("/objects/17")),
    ])  # fmt: skip


ASYNCHRONOUS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "Starlette, an account": (behind_an_account, "/signin", "Let readers see the page without an account."),
    "FastAPI, a password": (with_password, "401 Unauthorized", "password"),
    "Quart, a portal": (through_a_portal, "/konto/anmelden, a page to sign in", "without an account."),
    "Starlette, a loop": (two_languages, "a loop of redirects: ", "Remove one of the redirects."),
    "Starlette, other hosts": (
        lambda: starlette_site(Middleware(TrustedHostMiddleware, allowed_hosts=["museum.example"])),
        "400 Bad Request", "allowed_hosts of TrustedHostMiddleware",
    ),
    "Starlette, https only": (
        lambda: starlette_site(Middleware(HTTPSRedirectMiddleware)), "redirects http to https", "Turn off this redirect"
    ),
}  # fmt: skip


@pytest.mark.parametrize("project", ASYNCHRONOUS)
@pytest.mark.parametrize("kind", ["served", "located"])
def test_the_cause_in_a_project_of_another_framework_is_the_true_one(
    project: str, kind: Any, ararat_bindings: Bindings, ararat_site: Any
) -> None:
    make, came, fix = ASYNCHRONOUS[project]
    ararat_bindings.bind("ark:12345/x6np1", "/objects/17", kind=kind)
    printed = cause_of(ararat_site(make()))
    assert came in printed
    if (project, kind) != ("FastAPI, a password", "located"):
        assert fix in printed.partition("fix ")[2]
    assert "Restore" not in printed


def test_a_middleware_inside_a_mount_is_not_reached(ararat_bindings: Bindings) -> None:
    inside = Middleware(ResolverASGIMiddleware, bindings=ararat_bindings)
    app = Starlette(routes=[Mount("/site", app=starlette_site(), middleware=[inside])])
    assert "wrap the application from outside" in cause_of(TestClient(app))


def test_the_cause_of_an_unbound_name_is_the_binding(ararat_bindings: Bindings, ararat_site: Any) -> None:
    assert "the name is not bound. Bind it" in cause_of(ararat_site(broken_flask()))


def test_the_cause_of_a_middleware_inside_a_router_is_its_place() -> None:
    from werkzeug.test import Client

    assert "wrap the application from outside" in cause_of(Client(broken_flask()))
