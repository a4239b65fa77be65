"""The pages of the administration and the reference pages have no text that is not translated."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from ararat.webapp import create_app
from ararat.webapp.language import current

from ...pseudo import pseudo_language
from ..desk.conftest import Browser, Desk, open_desk
from .test_pages_names import left_of

GERMAN = {"Accept-Language": "de"}
PASSWORD = "seven lakes above the valley"
NAMES = {"Ararat", *(name for _, name in current.LANGUAGE_NAMES)}
"""Names that are the same in all languages: that of the program, and those of languages."""
_REFUSED = re.compile(r"(: )?(hello|ark:99999/|x+\.\.\.): \.")
"""A prefix and the place of its error."""


def _left_of(html: str) -> list[str]:
    return sorted(each for each in {*left_of(html)} - NAMES if not _REFUSED.fullmatch(each))


@pytest.fixture
def desk(tmp_path):
    opened = open_desk(tmp_path)
    yield opened
    opened.bindings.close()


class Walk:
    """Pages in the language for tests, and the texts that are left in English."""

    def __init__(self) -> None:
        self.left: dict[str, list[str]] = {}

    def _look(self, label: str, html: str) -> None:
        if found := _left_of(html):
            self.left[label] = found

    def get(self, browser: Browser, path: str, label: str = "", status: int = 200) -> str:
        response = browser.get(path, headers=GERMAN)
        assert response.status_code == status, path
        self._look(label or path, response.text)
        return response.text

    def post(self, browser: Browser, path: str, form: dict[str, Any], label: str, status: int = 303) -> str:
        """Send a form. Look at its answer, or at the page of a redirect."""
        response = browser.post(path, form, headers=GERMAN)
        assert response.status_code == status, (label, response.status_code)
        if status != 303:
            self._look(label, response.text)
            return response.text
        return self.get(browser, response.location, label)


def test_accounts_and_tokens(desk: Desk):
    walk = Walk()
    accounts = desk.accounts
    with pseudo_language():
        ada, jane, rita = map(desk.signed_in, ("ada", "jane", "rita"))
        for path in ("/desk/accounts", "/desk/accounts/ada", "/desk/accounts/jane", "/desk/accounts/rita"):
            walk.get(ada, path)
        for browser in (ada, jane, rita):
            walk.get(browser, "/desk/account")
            walk.get(browser, "/desk/tokens")
        walk.get(jane, "/desk/accounts", "forbidden", 403)
        walk.get(ada, "/desk/accounts/nobody", "unknown", 404)

        wrong = {"name": "Ä", "role": "king", "prefixes": "hello"}
        walk.post(ada, "/desk/accounts", wrong, "wrong account", 422)
        walk.post(ada, "/desk/accounts", wrong | {"prefixes": ""}, "wrong name", 422)
        walk.post(ada, "/desk/accounts", {"name": "kim", "role": "king"}, "wrong role", 422)
        walk.post(ada, "/desk/accounts", {"name": "jane", "role": "reader"}, "taken name", 422)
        walk.post(ada, "/desk/accounts", {"name": "kim", "role": "curator", "prefixes": "a\n" * 101}, "many", 422)
        lines = "\n".join(f"ark:12345/x{number}" for number in range(7))
        walk.post(ada, "/desk/accounts", {"name": "kim", "role": "curator", "prefixes": lines}, "added")
        walk.get(desk.signed_in("kim"), "/desk/account", "more prefixes")
        walk.post(ada, "/desk/accounts", {"name": "lee", "role": "curator", "link": "yes"}, "added with a link")
        walk.get(desk.signed_in("lee"), "/desk/account", "no prefixes")
        for change, form in (
            ("role", {"role": "curator"}),
            ("role", {"role": "reader"}),
            ("role", {"role": "administrator"}),
            ("grant", {"prefix": "12345\n67890"}),
            ("revoke", {"prefix": "ark:12345/"}),
            ("disable", {}),
            ("enable", {}),
            ("unlock", {}),
            ("end-sessions", {}),
            ("one-time-link", {}),
            ("remove-password", {}),
        ):
            walk.post(ada, f"/desk/accounts/lee/{change}", form, change)
        accounts.disable("lee")
        walk.get(ada, "/desk/accounts/lee", "locked")
        accounts.set_role("lee", "reader")
        for change, form in (
            ("role", {"role": "king"}),
            ("grant", {"prefix": ""}),
            ("grant", {"prefix": "hello"}),
            ("revoke", {"prefix": "ark:99"}),
        ):
            walk.post(ada, f"/desk/accounts/lee/{change}", form, f"wrong {change} {form}", 422)
        walk.post(ada, "/desk/accounts/ada/disable", {}, "last administrator", 422)
        walk.get(ada, "/desk/accounts", "all states")

        tomorrow = (desk.bindings.now() + timedelta(days=1)).date().isoformat()
        token = {"label": "robot", "expires": tomorrow, "rights": ["", "read", "mint"], "emergency": "1"}
        walk.post(jane, "/desk/tokens", token, "token")
        walk.post(jane, "/desk/tokens", {"label": "other", "prefixes": "ark:12345/x5"}, "token without an end")
        for each in (
            {"label": ""},
            {"label": "x", "expires": "soon"},
            {"label": "x", "expires": "2020-01-01"},
            {"label": "x", "rights": [""]},
            {"label": "x", "rights": ["fly"]},
            {"label": "x", "prefixes": "ark:99999/"},
            {"label": "x", "prefixes": "?"},
            {"label": "x", "prefixes": "x" * 401},
            {"label": "x", "emergency": "1"},
        ):
            walk.post(jane, "/desk/tokens", each, f"wrong token {each}", 422)
        walk.get(ada, "/desk/accounts/jane", "valid tokens")
        walk.post(jane, "/desk/tokens/revoke", {"number": "1"}, "revoked")
        walk.post(ada, "/desk/accounts/jane/revoke-token", {"number": "2"}, "revoked by an administrator")
        walk.get(jane, "/desk/tokens", "revoked tokens")

        preferences = {"display_name": "\x07", "language": "xx", "time_zone": "nowhere", "separator": "?"}
        walk.post(jane, "/desk/account/preferences", preferences, "wrong preferences", 422)
        walk.post(jane, "/desk/account/preferences", {"display_name": "Jane"}, "preferences")
        accounts.set_password("rita", PASSWORD)
        rita = desk.signed_in("rita")
        desk.signed_in("rita")
        walk.get(rita, "/desk/account", "several sessions")
        walk.post(rita, "/desk/account/sessions", {}, "ended sessions")
        for current_password, new, again in (
            (PASSWORD, "x", "y"),
            ("wrong", "nine hills below the sky", "nine hills below the sky"),
            (PASSWORD, "short", "short"),
            (PASSWORD, "x" * 2000, "x" * 2000),
            (PASSWORD, "ababababababab", "ababababababab"),
            (PASSWORD, "password1234", "password1234"),
            (PASSWORD, "nine hills\x07below the sky", "nine hills\x07below the sky"),
        ):
            form = {"current": current_password, "password": new, "again": again}
            walk.post(rita, "/desk/account/password", form, f"wrong password {new[:20]}", 422)
        form = {"current": PASSWORD, "password": "nine hills below the sky", "again": "nine hills below the sky"}
        walk.post(rita, "/desk/account/password", form, "password")
        walk.post(jane, "/desk/account/password", form, "no password", 422)
    assert walk.left == {}


def test_prefixes_holds_and_branding(desk: Desk):
    walk = Walk()
    bindings = desk.bindings
    key = "ark:12345/x5"
    with pseudo_language():
        ada, jane, rita = map(desk.signed_in, ("ada", "jane", "rita"))
        for browser in (ada, jane):
            walk.get(browser, "/desk/prefixes", "no prefixes")
        walk.get(ada, "/desk/holds", "no holds")
        walk.get(ada, "/desk/prefixes/first", "first shoulder")
        for name, naan, letters, status in (("example", "12345", "q7", 200), ("wrong", "x5", "Museum", 422)):
            walk.post(
                ada, "/desk/prefixes/first", {"naan": naan, "letters": letters}, f"first shoulder, {name}", status
            )
        walk.get(ada, "/desk/prefixes/edit", "new record")
        walk.get(ada, "/desk/prefixes/edit?prefix=ark:12345/x5", "new record of a prefix")
        walk.get(ada, f"/desk/prefixes/record?prefix={key}", "unknown prefix", 404)

        record = {"prefix": key, "who": "Museum", "what": "Maps", "rule": "https://example.org/${value}"}
        record |= {"redirect": "307", "availability": "lifetime", "variance": "soon", "contact": "a@museum.example"}
        record |= {"pattern": "29^6+check", "characters": "0-9a-z", "hosts": "museum.example"}
        walk.post(ada, "/desk/prefixes/edit", record, "record")
        for field, value in (
            ("prefix", ""),
            ("prefix", "ark:12345/x5?"),
            ("prefix", "urn:"),
            ("who", "\x07"),
            ("pattern", "many"),
            ("pattern", "29^6+nbn"),
            ("characters", "9-0"),
            ("characters", "a-"),
            ("hosts", "no/host"),
            ("resolver", "nowhere"),
            ("minter", "nowhere"),
            ("rule", "javascript:${value}"),
            ("rule", "https://example.org/${nothing}"),
        ):
            walk.post(ada, "/desk/prefixes/edit", record | {field: value}, f"wrong {field} {value}", 422)
        walk.post(ada, "/desk/prefixes/edit", record | {"who": "Other"}, "conflict", 409)
        walk.post(ada, "/desk/prefixes/edit", {"prefix": "ark:12345/y2", "etag": '"1"'}, "conflict without one", 409)
        etag = f"/desk/prefixes/edit?prefix={key}"
        walk.get(ada, etag, "edit")
        bindings.prefixes.set("ark:12345/x5a", what="Plans")
        bindings.prefixes.set("ark:12345/x7", what="Lists", state="retired")
        bindings.prefixes.set("ark:12345/x8", state="delegated", resolver="https://lower.example", who="Archive")
        bindings.rules.set("ark:12345/z9", "https://example.org/${value}")
        bindings.prefixes.set("ark:12345/x9", what="Seals")
        bindings.prefixes.remove("ark:12345/x9")
        for browser in (ada, jane):
            walk.get(browser, "/desk/prefixes", "prefixes")
            for each in (key, "ark:12345/x5a", "ark:12345/x7", "ark:12345/x8", "ark:12345/x9", "ark:12345/z9"):
                walk.get(browser, f"/desk/prefixes/record?prefix={each}")

        succession = {"prefix": key, "to": "Archive", "accounts": "rita"}
        walk.get(ada, f"/desk/prefixes/succeed?prefix={key}")
        walk.post(ada, "/desk/prefixes/succeed", succession, "succession", 200)
        walk.post(ada, "/desk/prefixes/succeed", succession | {"to": ""}, "no institution", 422)
        walk.post(ada, "/desk/prefixes/succeed", succession | {"accounts": "nobody"}, "unknown account", 422)
        walk.post(ada, "/desk/prefixes/succeed", succession | {"accounts": "", "apply": "1"}, "succeeded")

        walk.get(ada, f"/desk/holds/set?prefix={key}")
        tomorrow = (bindings.now() + timedelta(days=1)).date().isoformat()
        hold = {"prefix": key, "until": tomorrow, "reason": "a complaint"}
        walk.post(ada, "/desk/holds/set", hold, "hold")
        walk.get(ada, f"/desk/holds/set?prefix={key}", "change a hold")
        bindings.bind(f"{key}np1", "https://museum.example/1")
        walk.get(ada, f"/desk/holds/set?name={key}np1", "hold a name")
        walk.post(ada, "/desk/holds/set", hold | {"prefix": "", "name": f"{key}np1"}, "hold of a name")
        walk.post(ada, "/desk/holds/set", hold, "hold again")
        for until, reason in (("soon", "x"), ("2020-01-01", "x"), ("9000-01-01", "x"), (tomorrow, "")):
            walk.post(ada, "/desk/holds/set", hold | {"until": until, "reason": reason}, f"hold {until}", 422)
        walk.get(ada, f"/desk/prefixes/record?prefix={key}", "on hold")
        for browser in (ada, rita):
            walk.get(browser, "/desk/holds", "holds")
            walk.get(browser, "/desk/holds?all=1", "all holds")
        walk.post(ada, "/desk/holds/release", {"prefix": key, "list": "1"}, "released")

        departure = {"prefix": key, "resolver": "https://lower.example"}
        walk.get(ada, f"/desk/prefixes/depart?prefix={key}")
        walk.post(ada, "/desk/prefixes/depart", departure, "departure", 200)
        walk.post(ada, "/desk/prefixes/depart", departure | {"resolver": "nowhere"}, "wrong resolver", 422)
        walk.post(ada, "/desk/prefixes/depart", departure | {"apply": "1", "preview": "x"}, "other targets", 409)
        walk.post(ada, "/desk/prefixes/depart", departure | {"apply": "1"}, "departed")
        walk.post(ada, "/desk/prefixes/remove", {"prefix": "ark:12345/x5a", "etag": '"x"'}, "stale removal", 409)

        walk.get(ada, "/desk/branding")
        branding = {"institution": "Museum", "contact": "a@museum.example", "colour": "#0b4f6c", "statement": "Hello"}
        walk.post(ada, "/desk/branding", branding | {"revision": "0"}, "branding")
        walk.post(ada, "/desk/branding", branding | {"revision": "1", "institution": "Other"}, "branding again")
        walk.post(ada, "/desk/branding", branding | {"revision": "0"}, "stale branding", 409)
        walk.post(ada, "/desk/branding", branding | {"revision": "2", "colour": "red", "logo": "x"}, "colour", 422)
        walk.post(ada, "/desk/branding/restore", {"version": "1", "revision": "2"}, "restored")
        walk.post(ada, "/desk/branding/sample", branding, "sample", 200)
        walk.get(jane, "/desk/branding", "forbidden branding", 403)
        for path in ("/desk/audit", "/desk/audit?account=nobody", "/desk/audit?token=x&since=x", "/desk/requests"):
            walk.get(ada, path)
        walk.get(ada, "/desk/audit?after=x", "wrong page of the audit", 400)
    assert walk.left == {}


def test_reference_pages():
    client = create_app().test_client()
    left: dict[str, list[str]] = {}
    with pseudo_language():
        for path, status in (
            ("/problems", 200),
            ("/registries", 200),
            ("/registries/naan", 200),
            ("/registries/naan?q=bibliotheque", 200),
            ("/registries/naan?q=zzzzzz", 200),
            ("/registries/naan?page=999", 200),
            ("/registries/naan?page=x", 400),
            ("/registries/naan/12148", 200),
            ("/registries/naan/99999", 200),
            ("/registries/naan/99152", 200),
            ("/registries/naan/00000", 404),
            ("/registries/urn", 200),
            ("/registries/urn/isbn", 200),
            ("/registries/urn/example", 200),
            ("/registries/urn/nothing", 404),
            ("/schemes", 200),
            ("/schemes/doi", 200),
            ("/schemes/nothing", 404),
            ("/api", 200),
        ):
            response = client.get(path, headers=GERMAN)
            assert response.status_code == status, path
            if found := _left_of(response.text):
                left[path] = found
    assert left == {}


def test_the_desk_is_in_the_language_of_the_account(desk: Desk):
    jane = desk.signed_in("jane")
    page = jane.get("/desk/account").text
    for tag, name in current.languages().items():
        assert f'<option value="{tag}">{name}</option>' in page
    jane.post("/desk/account/preferences", {"language": "fr"})
    assert '<html lang="fr" dir="ltr">' in jane.get("/desk/account").text
