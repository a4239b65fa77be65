"""create_app: the application, and refused arguments."""

from __future__ import annotations

from typing import Any

import flask
import pytest

from ararat import webapp
from ararat.webapp import app as application
from ararat.webapp import create_app


def report(app, text):
    found: Any = app.test_client().get("/api/inspect", query_string={"q": text}).json
    return found["found"][0]


def test_create_app_returns_a_flask_application():
    app = create_app()
    assert isinstance(app, flask.Flask)
    assert app.name == "ararat"


def test_two_applications_share_no_state(bound):
    one, other = create_app(bound({"ark:12345/x": "located"})), create_app()
    assert report(one, "ark:12345/x")["bound"] == {"ark:12345/x": "located"}
    assert report(other, "ark:12345/x")["bound"] is None


def test_the_prefix_of_the_site_is_used_in_equivalents():
    found = report(create_app(prefix="https://ids.example.org"), "ark:12345/x")
    assert "https://ids.example.org/ark:12345/x" in found["report"]["equivalents"]


def test_missing_htmx_raises_an_error_with_the_command(monkeypatch):
    monkeypatch.setattr(application, "VENDORED", ("vendor/not-built.js",))
    with pytest.raises(application.MissingAssets, match="pip install -e"):
        create_app()


@pytest.mark.parametrize(
    "network", [pytest.param("10.0.0.1/8", id="bits outside"), pytest.param("home", id="no network")]
)
def test_an_invalid_network_raises_an_error_at_start(network):
    with pytest.raises(ValueError, match="CIDR"):
        create_app(networks=[network])


def test_untrusted_hosts_are_refused():
    client = create_app(trusted_hosts=["ids.example.org"]).test_client()
    assert client.get("/", base_url="http://ids.example.org").status_code == 200
    assert client.get("/", base_url="http://evil.example.net").status_code == 400


def test_the_application_uses_no_sessions():
    app = create_app()
    assert app.secret_key is None
    response = app.test_client().get("/?q=ark:12345/x", headers={"Cookie": "session=x"})
    assert "Set-Cookie" not in response.headers


def test_the_url_of_an_asset_changes_with_its_content():
    client = create_app().test_client()
    with client.application.test_request_context():
        address = application.asset("ararat.css")
    name, _, digest = address.partition("?v=")
    assert name == "/static/ararat.css"
    assert len(digest) == 12
    with client.get(address) as response:
        assert response.status_code == 200
        assert response.headers["Cache-Control"].endswith("max-age=31536000")


def test_create_app_is_imported_on_first_use():
    assert dir(webapp) == webapp.__all__ == ["ForwardedFields", "create_app"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = webapp.nothing  # pyright: ignore[reportAttributeAccessIssue]
