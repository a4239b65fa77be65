"""Sign-in, permissions and error pages of the desk."""

from __future__ import annotations

import pytest

from ararat.middleware import open_bindings
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts


def test_pages_of_the_desk_do_not_exist_without_accounts(tmp_path):
    with open_bindings(tmp_path / "b.sqlite", create=True) as bindings:
        client = create_app(bindings).test_client()
        assert [client.get(path).status_code for path in ("/desk/names", "/desk/nowhere")] == [404] * 2


def test_desk_does_not_exist_without_a_database(tmp_path):
    (tmp_path / "b.csv").write_text("identifier,target\nark:12345/x,/x\n")
    with open_bindings(tmp_path / "b.csv") as bindings:
        assert create_app(bindings).test_client().get("/desk").status_code == 404
    assert create_app().test_client().get("/desk").status_code == 404


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "destination"),
    [
        ("/desk", "/desk"),
        ("/desk/names?q=a%20b&state=live", "/desk/names?q%3Da%2520b%26state%3Dlive"),
        ("/desk/names/ark:12345/a%2Fb", "/desk/names/ark:12345/a%252Fb"),
    ],
)
def test_browser_without_session_is_sent_to_sign_in(desk, path, destination):
    response = desk.app.test_client().get(path)
    assert response.status_code == 303
    assert response.location == f"/sign-in?next={destination}"


def test_browser_returns_below_the_path_where_the_application_is_mounted(desk):
    response = desk.app.test_client().get("/desk/names", base_url="http://localhost/tools")
    assert response.location == "/tools/sign-in?next=/tools/desk/names"


def test_form_and_fragment_without_session_lead_to_the_beginning_of_the_desk(desk):
    client = desk.app.test_client()
    assert client.post("/desk/nowhere", data={"a": "b"}).location == "/sign-in?next=/desk"
    fragment = client.get("/desk/names?q=x", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["HX-Redirect"]) == (200, "/sign-in?next=/desk")


def test_session_that_has_ended_leads_to_sign_in(desk, jane):
    assert jane.get("/desk").status_code == 200
    desk.accounts.disable("jane")
    response = jane.get("/desk")
    assert (response.status_code, response.location) == (303, "/sign-in?next=/desk")


def test_wrong_token_is_refused_without_a_redirect(desk):
    response = desk.app.test_client().get("/desk", headers={"Authorization": "Bearer nonsense"})
    assert response.status_code == 401
    assert "WWW-Authenticate" in response.headers


def test_pages_are_never_cached(desk, jane):
    client = desk.app.test_client()
    for response in (jane.get("/desk"), jane.get("/desk/nowhere"), client.get("/desk")):
        assert response.headers["Cache-Control"] == "no-store"


def test_unknown_page_is_a_page_of_the_desk(jane, read_page):
    response = jane.get("/desk/nowhere")
    page = read_page(response.text)
    assert response.status_code == 404
    assert page.one("h1").text.strip().endswith("This page does not exist")
    assert page.one("nav", aria_label="Desk").all("a")


def test_form_of_another_site_is_refused(desk, jane):
    response = jane.client.post("/desk/nowhere", data={"a": "b"})
    assert response.status_code == 403
    other = jane.post("/desk/nowhere", headers={"Sec-Fetch-Site": "cross-site"})
    assert other.status_code == 403


def test_navigation_has_the_pages_of_the_role(desk, read_page):
    seen = {}
    for name in ("ada", "jane", "rita"):
        page = read_page(desk.signed_in(name).get("/desk").text)
        seen[name] = [link.text for link in page.one("nav", aria_label="Desk").all("a")]
    places = ["Overview", "Names", "Links", "Changes", "Requests"]
    assert seen["rita"] == [*places, "Prefixes", "Holds", "Figures"]
    assert seen["jane"] == [*places, "New names", "Import a table", "Move targets", "Prefixes", "Holds", "Figures"]
    assert seen["ada"] == [*seen["jane"], "Public pages", "Accounts", "Audit"]


def test_each_page_links_a_section_of_its_documentation_that_exists(desk, ada, read_page):
    desk.bindings.bind("ark:12345/x51", "/x")
    client = desk.app.test_client()
    paths = [
        link.attributes["href"] for link in read_page(ada.get("/desk").text).one("nav", aria_label="Desk").all("a")
    ]
    for path in (*paths, "/desk/name?name=ark:12345/x51", "/desk/tokens", "/desk/accounts/ada", "/desk/nowhere"):
        address = read_page(ada.get(path).text).one("p", "help").one("a").attributes["href"]
        page, _, section = address.partition("#")
        documentation = client.get(page)
        assert documentation.status_code == 200
        assert not section or f'id="{section}"' in documentation.text
    assert "/docs" in [link.attributes["href"] for link in read_page(ada.get("/desk").text).all("a")]


def test_the_number_of_dead_targets_is_beside_links_before_the_overview_was_opened(desk, ada, read_page):
    desk.bindings.bind("ark:12345/x51", "https://old.example/1")
    now = desk.bindings.now()
    state = {"state": "dead", "status": 404, "url": None, "code": "dead", "sentence": "The target answered 404."}
    link = TracedTarget(
        identifier="ark:12345/x51", key="ark:12345/x51", target="https://old.example/1", since=now, traced=now, **state
    )
    Links(desk.bindings).record([link])
    links = read_page(ada.get("/desk/accounts").text).one("nav", aria_label="Desk").one("a", href="/desk/links")
    assert links.text.split() == ["Links", "11", "dead", "target"]


def test_navigation_marks_the_current_page(jane, read_page):
    page = read_page(jane.get("/desk").text)
    assert page.one("a", aria_current="page").text == "Overview"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "label"),
    [
        pytest.param("/desk/name/metadata?name=ark:12345/x51", "Names", id="a form of a name"),
        pytest.param("/desk/name?name=ark:12345/x51", "Names", id="a name"),
        pytest.param("/desk/audit", "Audit", id="the audit"),
        pytest.param("/desk/accounts/jane", "Accounts", id="an account"),
    ],
)
def test_navigation_marks_the_list_that_a_page_belongs_to(desk, ada, read_page, path, label):
    desk.bindings.bind("ark:12345/x51", "/x")
    page = read_page(ada.get(path).text)
    links = page.one("nav", aria_label="Desk").all("a", aria_current="true")
    links += read_page(ada.get(path).text).one("nav", aria_label="Desk").all("a", aria_current="page")
    assert [link.text for link in links] == [label]


def test_menu_shows_account_role_and_grants(jane, read_page):
    menu = read_page(jane.get("/desk").text).one("details", "account")
    assert "jane" in menu.one("summary").text
    assert "curator" in menu.text
    assert "ark:12345/x5" in menu.text
    assert menu.one("form").attributes["action"] == "/sign-out"


@pytest.mark.parametrize(
    "target",
    [
        "/desk/audit?account=%00",
        "/desk/audit?operation=sign-in%00",
        "/desk/changes?actor=%00&actor=jane",
        "/desk/links?after=%00",
    ],
)
def test_nul_in_a_filter_matches_nothing_in_each_database(database, open_store, target):
    bindings = open_store(database)
    accounts = Accounts(bindings)
    accounts.add("ada", "administrator")
    _, secret = accounts.tokens.create("ada", "repository")
    client = create_app(bindings).test_client()
    response = client.get(target, headers={"Authorization": f"Bearer {secret}"})
    assert response.status_code == 200


def test_nul_in_a_form_matches_nothing_in_each_database(database, open_store):
    bindings = open_store(database)
    bindings.bind("ark:12345/x5", "https://example.org/1")
    accounts = Accounts(bindings)
    accounts.add("ada", "administrator")
    _, secret = accounts.tokens.create("ada", "repository")
    client = create_app(bindings).test_client()
    form = {"name": "ark:12345/x5", "key": "\0"}
    response = client.post("/desk/links/relocate", data=form, headers={"Authorization": f"Bearer {secret}"})
    assert response.status_code == 303
