"""The inspector mounted under a path of a Django site, and a site of the fixture for browsers of the pytest plugin."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.test_testing import EXAMPLES

pytest_plugins = ["ararat.testing"]

SITE = """
import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from ararat.webapp import create_app

PAGE = "<!doctype html><html lang=en><link rel=icon href=data:,><title>Library</title><h1>The library at %s</h1>"

urlpatterns = [
    path("", lambda request: HttpResponse(PAGE % request.path)),
    path("compare", lambda request: HttpResponse(PAGE % request.path)),
]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50)
django.setup()
application = DispatcherMiddleware(get_wsgi_application(), {"/tools/inspector": create_app()})
"""


def test_the_inspector_and_a_django_site_work_side_by_side(page, wsgi_server, page_watch):
    server = wsgi_server(SITE, threads=2)
    page_watch.origins.add(server.origin)
    page.goto(f"{server.origin}/compare")
    expect(page.get_by_role("heading")).to_have_text("The library at /compare")

    mount = f"{server.origin}/tools/inspector"
    page.goto(f"{mount}/")
    page.locator("#q").fill("ark:/12345/x-1 and ark:12345/x1")
    page.locator("#q").press("Enter")
    expect(page).to_have_url(re.compile(re.escape(mount) + r"/\?q="))
    expect(page.locator(".list tbody tr")).to_have_count(2)
    page.locator(".list td > a").first.click()
    page.locator("#i1 .depth > summary").click()
    page.locator("#i1 .qr summary").click()
    # Not with wait_for_function, which can evaluate a text. The content security policy of the page forbids that.
    expect(page.locator("#i1 .qr img")).not_to_have_js_property("naturalWidth", 0)
    page.get_by_role("button", name="Compare the two selected").click()
    expect(page).to_have_url(re.compile(re.escape(mount) + r"/compare\?a="))
    expect(page.locator(".verdict")).to_contain_text("Equivalent")
    page.get_by_role("link", name="Inspect", exact=True).click()
    expect(page).to_have_url(f"{mount}/")


def test_the_example_of_the_guide_leads_a_reader_to_the_painting(
    ararat_bindings, ararat_live_site, page, page_watch, monkeypatch, tmp_path
):
    (tmp_path / "museum_in_a_browser.py").write_text(EXAMPLES["Flask"][0], "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    space: dict[str, Any] = {}
    exec(EXAMPLES["In a browser"][0].replace("from museum ", "from museum_in_a_browser "), space)

    def start(app: Any) -> Any:
        site = ararat_live_site(app)
        page_watch.origins.add(site.url)
        return site

    space["test_a_reader_sees_the_painting"](ararat_bindings, start, page)
