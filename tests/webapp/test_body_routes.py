"""The table of the limits of bodies: each route has its limit, and no other path has a greater one."""

from __future__ import annotations

import re

import pytest

from ararat.middleware import open_bindings
from ararat.middleware.http.trusted_proxy import ProxySecret, RemoteUser
from ararat.webapp import body_routes, create_app
from ararat.webapp.body_routes import FORM_OVERHEAD, MAX_FIELDS, MAX_OPEN, MAX_TABLE, ROUTES, BodyLimits

TOKEN = {"HTTP_AUTHORIZATION": "Bearer a"}
FORM = {"CONTENT_TYPE": "application/x-www-form-urlencoded; charset=utf-8"}
PARTS = {"CONTENT_TYPE": "multipart/form-data; boundary=a"}
MB = 2**20

# Each route that accepts more than others: a path, its size without and with a credential, and its fields.
GREATER = {
    "/": (MB + FORM_OVERHEAD, MB + FORM_OVERHEAD, 1016),
    "/list": (MB + FORM_OVERHEAD, MB + FORM_OVERHEAD, 1016),
    "/compare": (MB + FORM_OVERHEAD, MB + FORM_OVERHEAD, 1016),
    "/policy": (MB + FORM_OVERHEAD, MB + FORM_OVERHEAD, MAX_FIELDS),
    "/desk/names/selected": (MAX_OPEN, MAX_OPEN, 1016),
    "/desk/names/change": (MAX_OPEN, MAX_OPEN, 1016),
    "/desk/links/relocate": (MAX_OPEN, MAX_OPEN, 1016),
    "/desk/name/metadata": (MAX_OPEN, MAX_OPEN, 1016),
    "/desk/new/name": (MAX_OPEN, MAX_OPEN, 1016),
    "/desk/tables": (MAX_OPEN, MAX_TABLE + FORM_OVERHEAD, MAX_FIELDS),
    "/desk/tables/7/columns": (MAX_OPEN, MAX_OPEN, 500),
    "/desk/tables/7/corrections": (MAX_OPEN, 4 * MB, 40_100),
    "/api/v1/imports": (MAX_OPEN, MAX_TABLE, MAX_FIELDS),
    "/api/v1/names": (MAX_OPEN, 4 * MB, MAX_FIELDS),
    "/api/v1/changes": (MAX_OPEN, 4 * MB, MAX_FIELDS),
}


def rows(path: str, *, ezid: str | None = None) -> tuple[int, int, int]:
    limits = BodyLimits(ezid=ezid)
    without, with_token = limits.of(path, {}), limits.of(path, TOKEN)
    assert without.fields == with_token.fields
    return without.size, with_token.size, with_token.fields


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The paths of all routes that read a body."""
    with open_bindings(tmp_path_factory.mktemp("routes") / "b.sqlite", create=True) as bindings:
        app = create_app(bindings, prefix="https://a.example", ezid="/ezid")
        found = [rule.rule for rule in app.url_map.iter_rules() if (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}]
    return [re.sub(r"<\w+>|<path:\w+>", "x", re.sub(r"<int:\w+>", "7", rule)) for rule in found]


def test_each_route_has_the_limit_of_the_table_or_that_of_all_others(paths: list[str]) -> None:
    assert {path: rows(path) for path in paths} == dict.fromkeys(paths, (MAX_OPEN, MAX_OPEN, MAX_FIELDS)) | GREATER
    assert {*GREATER} <= {*paths}


def test_each_row_of_the_table_is_of_a_route(paths: list[str]) -> None:
    assert all(any(route.path.fullmatch(path) for path in paths) for route in ROUTES)


@pytest.mark.parametrize(
    "path",
    [
        *("/no/such/imports", "/x/desk/tables", "/imports", "/api/v1/imports/1/undo", "/API/v1/imports"),
        *("/api/v1//imports", "//api/v1/imports", "/api/v1/names/ark:12345/x", "/desk/tables/x/corrections"),
        *("/desk/tables\n", "/api/v1/imports\n", "*", "", "/ark:12345/imports", "/desk/tables/../tables"),
    ],
)
def test_a_path_that_is_not_exact_has_the_limit_of_all_others(path: str) -> None:
    assert rows(path) == (MAX_OPEN, MAX_OPEN, MAX_FIELDS)


@pytest.mark.parametrize("path", ["/", "/list", "/compare", "/policy"])
def test_a_form_of_the_inspector_can_be_three_times_its_text(path: str) -> None:
    assert BodyLimits().of(path, FORM).size == 3 * MB + FORM_OVERHEAD
    assert BodyLimits().of(path, PARTS).size == MB + FORM_OVERHEAD
    assert BodyLimits().of("/desk/tables", FORM).size == MAX_OPEN


@pytest.mark.parametrize(
    ("environ", "is_credential"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"HTTP_AUTHORIZATION": "Bearer a"}, True, id="a token"),
        pytest.param({"HTTP_COOKIE": "a=b; ararat=c"}, True, id="a session"),
        pytest.param({"HTTP_COOKIE": "__Host-ararat=c"}, True, id="a session on https"),
        pytest.param({"HTTP_COOKIE": "ararat-form=c; ararat-language=de; xararat=a"}, False, id="other cookies"),
        pytest.param({"HTTP_XUSER": "jane", "HTTP_X_ARARAT_SECRET": "s" * 32}, True, id="a user of the proxy"),
        pytest.param({"HTTP_XUSER": "jane"}, False, id="a user without the secret"),
        pytest.param({"REMOTE_USER": "jane"}, False, id="a user that is not trusted"),
    ],
)
def test_a_long_body_needs_a_credential(environ: dict[str, str], is_credential: bool) -> None:
    limits = BodyLimits(RemoteUser.of_setting("XUser", ProxySecret("s" * 32)))
    assert limits.of("/desk/tables", environ).size == (MAX_TABLE + FORM_OVERHEAD if is_credential else MAX_OPEN)


def test_the_user_of_the_server_is_a_credential() -> None:
    limits = BodyLimits(RemoteUser.of_setting("REMOTE_USER", None))
    assert limits.of("/desk/tables", {"REMOTE_USER": "jane"}).size > MAX_OPEN
    assert limits.of("/desk/tables", {}).size == MAX_OPEN


def test_the_form_of_ezid_has_a_field_for_each_column() -> None:
    assert rows("/a.N/download_request", ezid="/a.N") == (MAX_OPEN, MAX_OPEN, 200)
    assert rows("/aXN/download_request", ezid="/a.N") == (MAX_OPEN, MAX_OPEN, MAX_FIELDS)
    assert rows("/a.N/shoulder/ark:/12345/x5", ezid="/a.N") == (MAX_OPEN, MAX_OPEN, MAX_FIELDS)


def test_the_greatest_limit_without_a_credential_is_that_of_the_text_box() -> None:
    limits = BodyLimits()
    greatest = max(limits.of(path, FORM).size for path in GREATER)
    assert greatest == 3 * MB + FORM_OVERHEAD
    assert MB < body_routes.MAX_OPEN < 1.01 * MB
