"""The middleware in front of Flask, Django, Pyramid and a plain function, at any mount point."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import create_environ, run_wsgi_app

from ararat.middleware import ResolverMiddleware

# Each site has a page that reports its mount point and the request, and a form that returns its input.


def bare_function():
    def site(environ, start_response):
        path, status = environ["PATH_INFO"], "200 OK"
        body = f"page at {environ.get('SCRIPT_NAME', '')}, asked {environ.get('QUERY_STRING', '')}".encode()
        if path == "/form":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        elif path != "/page":
            status, body = "404 Not Found", b"none such"
        start_response(status, [("Content-Type", "application/octet-stream"), ("Content-Length", str(len(body)))])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    return site


def flask():
    from flask import Flask, request

    site = Flask(__name__)
    site.add_url_rule("/page", "page", lambda: f"page at {request.root_path}, asked {request.query_string.decode()}")
    site.add_url_rule("/form", "form", lambda: request.get_data(), methods=["GET", "POST"])
    return site.wsgi_app


def django():
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import path

    def page(request):
        return HttpResponse(f"page at {request.META['SCRIPT_NAME']}, asked {request.META['QUERY_STRING']}".encode())

    urls = (path("page", page), path("form", lambda request: HttpResponse(request.body)))
    settings.configure(ROOT_URLCONF=urls, ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50)
    return get_wsgi_application()


def pyramid():
    with warnings.catch_warnings(action="ignore"):
        # Pyramid imports deprecated modules.
        from pyramid.config import Configurator
        from pyramid.response import Response

    with Configurator() as site:
        site.add_route("page", "/page")
        site.add_view(
            lambda request: Response(f"page at {request.script_name}, asked {request.query_string}"), route_name="page"
        )
        site.add_route("form", "/form")
        site.add_view(lambda request: Response(request.body), route_name="form")
        return site.make_wsgi_app()


@pytest.fixture(scope="module", params=[bare_function, flask, django, pyramid], ids=lambda site: site.__name__)
def site(request):
    if request.param is not django:
        yield request.param()
        return
    from django.conf import settings
    from django.utils.functional import empty

    # A process has only one Django site. Restore the settings of other tests afterwards.
    before = dict(vars(settings))
    settings._wrapped = empty  # pyright: ignore[reportAttributeAccessIssue]
    yield django()
    vars(settings).clear()
    vars(settings).update(before)


def at_the_root(site):
    return "", site


def under_script_name(site):
    """Set the environ like a server that knows the mount point: only the raw target contains it."""

    def mounted(environ, start_response):
        assert environ["PATH_INFO"].startswith("/app")
        environ |= {"SCRIPT_NAME": "/app", "PATH_INFO": environ["PATH_INFO"].removeprefix("/app")}
        return site(environ, start_response)

    return "/app", mounted


def under_a_dispatcher(site):
    return "/app", DispatcherMiddleware(bare_function(), {"/app": site})


@pytest.fixture(params=[at_the_root, under_script_name, under_a_dispatcher], ids=lambda mount: mount.__name__)
def asked(request, site, held, binding):
    """asked.ask(target) returns the answer of the site behind a resolver: status, header fields and body.

    With resolver=False there is no resolver. `asked.root` is the mount point of the site.
    """
    resolver = ResolverMiddleware(
        site,
        held(
            binding("ark:12345/doc", "https://example.org/doc", metadata={"what": "A document"}),
            binding("ark:12345/s%2Ft", "https://example.org/encoded"),
            binding("ark:12345/s/t", "https://example.org/slash"),
            binding("ark:12345/page", "/page", kind="served"),
            binding("ark:12345/local", "/page"),
        ),
    )
    root, behind = request.param(resolver)
    _, alone = request.param(site)

    def ask(target, method="GET", body=b"", *, resolver=True):
        path, _, query = target.partition("?")
        environ = create_environ(path, method=method, data=body)
        environ |= {"REQUEST_URI": root + target, "RAW_URI": root + target, "QUERY_STRING": query}
        environ["PATH_INFO"] = root + environ["PATH_INFO"]
        chunks, status, headers = run_wsgi_app(behind if resolver else alone, environ)
        return status, [*headers], b"".join(chunks)

    return SimpleNamespace(ask=ask, root=root)


def test_a_name_is_found_in_every_spelling(asked):
    for target in ("/ark:12345/doc", "/ark:/12-345/d-oc", "/ARK:12345/%64oc", "/ark:12345/doc/"):
        status, headers, _ = asked.ask(target)
        fields = dict(headers)
        assert (status, fields["Location"]) == ("302 Found", "https://example.org/doc")
        assert ("Link", f'<{asked.root}/ark:12345/doc?info>; rel="describedby"') in headers
        assert fields["Link"].startswith(f'<{asked.root}/ark:12345/doc>; rel="cite-as", ')
    assert asked.ask("/ark:12345/nope")[0] == "404 Not Found"
    assert asked.ask("/ark:12345/doc", "HEAD")[2] == b""


def test_an_encoded_slash_is_not_a_slash(asked):
    assert dict(asked.ask("/ark:12345/s%2Ft")[1])["Location"] == "https://example.org/encoded"
    assert dict(asked.ask("/ark:12345/s/t")[1])["Location"] == "https://example.org/slash"


def test_a_name_is_described(asked):
    for inflection in ("?info", "??", "?"):
        status, headers, body = asked.ask(f"/ark:12345/do-c{inflection}")
        assert status == "200 OK"
        assert ("Link", f'<{asked.root}/ark:12345/doc?info>; rel="canonical"') in headers
        assert b"A document" in body
        assert f'href="{asked.root}/ark:12345/doc"'.encode() in body


def test_a_target_path_is_below_the_mount_point(asked):
    assert dict(asked.ask("/ark:12345/local")[1])["Location"] == f"{asked.root}/page"


def test_a_served_name_is_answered_by_the_site(asked):
    status, headers, body = asked.ask("/ark:12345/pa-ge?q=%2F")
    assert (status, body) == ("200 OK", f"page at {asked.root}, asked q=%2F".encode())
    assert ("Link", f'<{asked.root}/ark:12345/page?info>; rel="describedby"') in headers


def test_unsafe_requests_are_refused_and_do_not_reach_the_site(asked):
    for method in ("POST", "PUT", "DELETE"):
        status, headers, _ = asked.ask("/ark:12345/page", method, b"body")
        assert (status, dict(headers)["Allow"]) == ("405 Method Not Allowed", "GET, HEAD, OPTIONS")


PASSED = [
    ("/page", "GET"),
    ("/page", "HEAD"),
    ("/page?info", "GET"),
    ("/page?a=%2F&b=%ff;c=+", "GET"),
    ("/pa%67e", "GET"),
    ("/page/", "GET"),
    ("/page%2F", "GET"),
    ("/page", "POST"),
    ("/missing", "GET"),
    ("/%E2%80%AE", "GET"),
    ("/ark/12345/doc", "GET"),
    ("/x/ark:12345/doc", "GET"),
    ("/x/ark%3A12345/doc", "GET"),
]


def test_other_requests_are_answered_as_without_a_resolver(asked):
    for target, method in PASSED:
        assert asked.ask(target, method) == asked.ask(target, method, resolver=False), f"{method} {target}"


def test_requests_reach_the_site_byte_by_byte(asked):
    body = bytes(range(256)) * 30
    status, _, sent_back = asked.ask("/form", "POST", body)
    assert (status, sent_back) == ("200 OK", body)
