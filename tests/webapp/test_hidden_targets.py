"""No answer without credentials shows the target of a name that leads nowhere now: held, reserved or withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings import holding
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.resolution.description_formats import BY_INFLECTION
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

PREFIX = "http://localhost"
HELD = ("ark:12345/h1", "ark:12345/k1/p", "urn:example:held")
NAMES = (*HELD, "ark:12345/r1", "ark:12345/e1", "ark:12345/w1")
TOKEN: list[str] = []
FORMS = (
    ("/", "form"),
    *(("/list?as=json", "form"), ("/list?as=csv", "form"), ("/traces", "form"), ("/traces/result?form=csv", "form")),
    *(("/api/inspect", "text"), ("/api/traces", "text")),
)
INFLECTIONS = ("", "?", "??", *BY_INFLECTION)
DOORS = (
    *(f"/{{name}}{inflection}" for inflection in dict.fromkeys(INFLECTIONS)),
    *("/{name}/deeper", "/{name}.en"),
    *(f"/uri-res/{service}?{{name}}" for service in ("N2L", "N2Ls", "N2C")),
    *("/ezid/id/{name}", "/ezid/id/{name}9?prefix_match=yes", "/ezid/search?q={name}"),
    *("/api/inspect?q={name}", "/?q={name}", "/api/compare?a={name}&b={name}", "/api/v1/names/{name}"),
    *("/api/v1/names?q={name}", "/api/v1/names", "/atom", "/sitemap.xml", "/oai?verb=ListIdentifiers"),
    *("/oai?verb=ListRecords&metadataPrefix=oai_dc", "/.well-known/ark"),
    *("/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={name}", "/api/trace?q={name}", "/trace?q={name}"),
    *("/desk/name?name={name}", "/desk/names?q={name}", "/api/v1/holds", "/api/v1/exports", "/api/v1/changes"),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder: Path = tmp_path_factory.mktemp("hidden")
    bindings = open_bindings(f"sqlite:///{folder / 'names.sqlite'}", create=True)
    for name in NAMES:
        target = f"https://secret.example/{name[-2:]}"
        alternates = {"text/plain": "https://secret.example/plain"}
        if name.endswith("r1"):
            bindings.reserve(name, target, metadata={"what": "A thing"})
        elif name.endswith("e1"):
            embargo = datetime.now(UTC) + timedelta(days=30)
            bindings.bind(name, target, embargo=embargo)
        else:
            bindings.bind(name, target, passthrough=False, alternates=alternates, metadata={"what": "A thing"})
    bindings.withdraw("ark:12345/w1", reason="A court order.")
    # All modules are imported long before the first test runs.
    end = datetime.now(UTC) + timedelta(seconds=100)
    for held in ("ark:12345/h1", "urn:example:held"):
        holding.hold(bindings, held, end, "A dispute.")
    bindings.prefixes.set("ark:12345/k1", what="Maps")
    holding.hold(bindings, "ark:12345/k1", end, "A dispute.", kind="prefix")
    accounts = Accounts(bindings)
    accounts.add("ada", "administrator")
    TOKEN.append(accounts.tokens.create("ada", "test")[1])
    app = create_app(bindings, prefix=PREFIX, ezid="/ezid", trace_elsewhere=False)
    app.wsgi_app = ResolverMiddleware(  # type: ignore[method-assign]
        app.wsgi_app, bindings, prefix=PREFIX, services="/uri-res", oai="/oai", atom="/atom", sitemap="/sitemap.xml"
    )
    yield Client(app)
    bindings.close()


@pytest.mark.one_setup
@pytest.mark.parametrize("accepted", ["*/*", "text/html", "application/json", "application/linkset+json"])
@pytest.mark.parametrize("door", DOORS)
def test_no_public_answer_shows_the_target_of_a_name_that_leads_nowhere(
    client: Client, door: str, accepted: str
) -> None:
    for path in {door.format(name=name) for name in NAMES}:
        answer = client.get(path, headers={"Accept": accepted})
        assert answer.status_code < 500
        assert "secret" not in f"{answer.headers}{answer.get_data(as_text=True)}", path


@pytest.mark.one_setup
@pytest.mark.parametrize(("door", "kind"), FORMS)
def test_no_form_shows_the_target_of_a_name_that_leads_nowhere(client: Client, door: str, kind: str) -> None:
    text = "".join(f"{name}\n{name}/deeper\n{name}9\n" for name in NAMES)
    given = {"data": {"q": text, **dict(each.split("=") for each in door.split("?")[1:])}} if kind == "form" else {}
    answer = client.post(door, **(given or {"data": text}))
    assert answer.status_code < 500
    assert "secret" not in f"{answer.headers}{answer.get_data(as_text=True)}"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", HELD)
def test_a_hold_is_seen_in_ezid_and_in_the_inspector(client: Client, name: str) -> None:
    assert "\nararat.hold: until 20" in client.get(f"/ezid/id/{name}").get_data(as_text=True)
    (found,) = client.get(f"/api/inspect?q={name}").get_json()["found"]
    assert found["hold"]["reason"] == "A dispute."
    assert "on hold until" in found["verdict"]["sentence"]
    assert (found["verdict"]["status"], found["verdict"]["tag"]) == ("warn", "recorded here, on hold")


@pytest.mark.one_setup
@pytest.mark.parametrize("name", HELD)
def test_an_account_sees_the_target_of_a_name_on_hold(client: Client, name: str) -> None:
    answer = client.get(f"/ezid/id/{name}", headers={"Authorization": f"Bearer {TOKEN[0]}"}).get_data(as_text=True)
    assert "_target: https://secret.example/" in answer
    assert "\nararat.hold: until 20" in answer


@pytest.mark.one_setup
@pytest.mark.parametrize("door", ["/{name}", "/{name}?info", "/uri-res/N2L?{name}", "/uri-res/N2Ls?{name}"])
@pytest.mark.parametrize("name", HELD)
def test_no_answer_lives_longer_than_the_hold(client: Client, door: str, name: str) -> None:
    for accepted in ("*/*", "application/linkset+json"):
        answer = client.get(door.format(name=name), headers={"Accept": accepted})
        assert answer.cache_control.max_age is not None
        assert answer.cache_control.max_age <= 100
