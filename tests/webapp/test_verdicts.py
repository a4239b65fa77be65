"""Each verdict is the same at each door: page, list, title, JSON, command and desk."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from ararat.bindings import holding
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.snapshots import write_snapshot
from ararat.cli.main import main
from ararat.middleware import Bindings, ResolverMiddleware, open_bindings
from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

NAAN = "ark:12345/"
NOW = datetime.now(UTC)


class Case(NamedTuple):
    """A name, and the verdict on it: its code, its sign and what its headline and its sentence contain."""

    name: str
    code: str
    sign: str
    headline: str
    sentence: str
    is_recorded: bool = True


CASES = {
    "recorded": Case(f"{NAAN}k1a", "recorded", "✓", "Plan of the mill", "leads to maps.example"),
    "works": Case(f"{NAAN}k1b", "recorded", "✓", "Thing b", "The link worked on 20"),
    "dead": Case(f"{NAAN}k1c", "link-dead", "✕", "Thing c", "maps.example answers 404. The identifier is right."),
    "no answer": Case(f"{NAAN}k1d", "link-dead", "✕", "Thing d", "maps.example does not answer"),
    "moved": Case(f"{NAAN}k1e", "link-moved", "△", "Thing e", "it now ends at new.example"),
    "on hold": Case(f"{NAAN}k1f", "on-hold", "△", "Thing f", "A court has to decide."),
    "withdrawn": Case(f"{NAAN}k1g", "withdrawn", "△", "Withdrawn: Thing g", "Recorded twice."),
    "reserved": Case(f"{NAAN}k1h", "not-known", "✕", "Not known here", "belong to Museum", is_recorded=False),
    "embargo": Case(f"{NAAN}k1i", "not-known", "✕", "Not known here", "belong to Museum", is_recorded=False),
    "unknown": Case(f"{NAAN}k1zz", "not-known", "✕", "Not known here", "answers 404", is_recorded=False),
    "similar": Case(f"{NAAN}k1A", "not-known", "✕", "Did you mean Plan of the mill?", "404", is_recorded=False),
    "part": Case(f"{NAAN}k1a/f1", "part", "✓", "Part of Plan of the mill", "It is part of ark", is_recorded=False),
    "part of a withdrawn name": Case(f"{NAAN}k1g/f1", "withdrawn", "△", "withdrawn", "never given", is_recorded=False),
    "part of a held name": Case(f"{NAAN}k1f/f1", "on-hold", "△", "Part of Thing f", "Its redirect", is_recorded=False),
    "part of a dead name": Case(f"{NAAN}k1c/f1", "part", "△", "Part of Thing c", "since 20", is_recorded=False),
    "withdrawn, its successor is reserved": Case(f"{NAAN}k1j", "withdrawn", "△", "Withdrawn: Thing j", "Twice."),
    "withdrawn twice": Case(f"{NAAN}k1k", "withdrawn", "△", "Withdrawn: Thing k", "Twice."),
    "withdrawn and on hold": Case(f"{NAAN}k1l", "withdrawn", "△", "Withdrawn: Thing l", "Lost."),
    "dead, of a delegated prefix": Case(f"{NAAN}d2b", "link-dead", "✕", "Thing d2b", "does not answer"),
    "held, of a retired prefix": Case(f"{NAAN}r3b", "on-hold", "△", "Thing r3b", "Under review."),
    "similar, of a retired prefix": Case(
        f"{NAAN}r3B", "retired", "✕", "mean Thing r3b?", "assigned", is_recorded=False
    ),
    "delegated": Case(f"{NAAN}d2x", "delegated", "○", "kept by City archive", "archive.example", is_recorded=False),
    "retired": Case(f"{NAAN}r3x", "retired", "✕", "Not known here", "no longer assigned", is_recorded=False),
    "of another institution": Case("ark:12148/btv1b8449691v", "holder-known", "✓", "of the", "", is_recorded=False),
    "of another library": Case("urn:nbn:de:101:1-201102033592", "valid", "✓", "A valid nat", "", is_recorded=False),
    "of this library": Case("urn:nbn:de:bvb:12-x", "not-known", "△", "Not known here", "404", is_recorded=False),
    "for tests": Case("ark:99999/x", "valid", "△", "An ARK for tests", "99999", is_recorded=False),
}


def fill(bindings: Bindings) -> None:
    bindings.prefixes.set(f"{NAAN}k1", who="Museum", contact="ids@museum.example")
    for letter in "abcdefg":
        title = "Plan of the mill" if letter == "a" else f"Thing {letter}"
        bindings.bind(f"{NAAN}k1{letter}", f"https://maps.example/{letter}", passthrough=True, metadata={"what": title})
    bindings.bind("urn:nbn:de:bvb:12-bsb00000001-1", "https://maps.example/nbn")
    bindings.reserve(f"{NAAN}k1h", "https://secret.example/", metadata={"what": "Secret"})
    later = NOW + timedelta(days=30)
    bindings.bind(f"{NAAN}k1i", "https://secret.example/", embargo=later, metadata={"what": "Secret"})
    holding.hold(bindings, f"{NAAN}k1f", later, "A court has to decide.")
    bindings.withdraw(f"{NAAN}k1g", reason="Recorded twice", successor=f"{NAAN}k1b")
    for letter in "jkl":
        bindings.bind(f"{NAAN}k1{letter}", "https://maps.example/j", metadata={"what": f"Thing {letter}"})
    bindings.withdraw(f"{NAAN}k1j", reason="Twice", successor=f"{NAAN}k1i")
    bindings.withdraw(f"{NAAN}k1k", reason="Twice", successor=f"{NAAN}k1g")
    holding.hold(bindings, f"{NAAN}k1l", later, "A court has to decide.")
    bindings.withdraw(f"{NAAN}k1l", reason="Lost")
    bindings.bind(f"{NAAN}k1m", "https://maps.example/m", kind="related")
    bindings.bind(f"{NAAN}k1n", kind="described", metadata={"what": "Thing n"})
    for name in ("d2b", "r3b"):
        bindings.bind(f"{NAAN}{name}", f"https://maps.example/{name}", metadata={"what": f"Thing {name}"})
    holding.hold(bindings, f"{NAAN}r3b", later, "Under review.")
    bindings.prefixes.set(f"{NAAN}d2", who="City archive", state="delegated", resolver="https://archive.example/$pid")
    bindings.prefixes.set(f"{NAAN}r3", state="retired")
    states: list[tuple[str, State, int | None]] = [
        *(("k1b", "works", 200), ("k1c", "dead", 404), ("k1d", "dead", None), ("k1e", "moved", 200)),
        *(("k1f", "dead", 404), ("d2b", "dead", None), ("r3b", "dead", 404)),
    ]
    Links(bindings).record(
        TracedTarget(
            identifier=f"{NAAN}{name}",
            key=f"{NAAN}{name}",
            target=f"https://maps.example/{name.removeprefix('k1')}",
            state=state,
            status=status,
            url="https://new.example/e",
            code="direct",
            sentence="As traced.",
            since=NOW,
            traced=NOW,
        )
        for name, state, status in states
    )


@pytest.fixture(scope="module")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    folder: Path = tmp_path_factory.mktemp("verdicts")
    with open_bindings(folder / "names.sqlite", create=True) as bindings:
        fill(bindings)
        yield bindings


@pytest.fixture(scope="module", params=["postgresql", "snapshot", "table"])
def other_store(
    request: pytest.FixtureRequest, bindings: Bindings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bindings]:
    """The same names in another store. Snapshots and tables have no results of traces."""
    folder: Path = tmp_path_factory.mktemp("stores")
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        with open_bindings(url := cluster.new_schema(), create=True) as other:
            fill(other)
            yield other
        cluster.recycle(url)
        return
    if request.param == "snapshot":
        write_snapshot(bindings, file := folder / "names.snapshot")
    else:
        with (file := folder / "names.csv").open("wb") as table:
            export_table(bindings, table)
    with open_bindings(file) as other:
        yield other


@pytest.fixture(scope="module")
def client(bindings: Bindings) -> FlaskClient:
    accounts = Accounts(bindings)
    jane = accounts.add("jane", "administrator")
    client = create_app(bindings, prefix="https://ids.museum.example", trace_elsewhere=False).test_client()
    client.set_cookie("ararat", accounts.sessions.start(jane))
    return client


class Page(NamedTuple):
    """The verdict on the page of an identifier."""

    tag: str
    headline: str
    sentence: str
    title: str


def _page(case: Case, client: FlaskClient, read_page: Callable[[str], Any]) -> Page:
    page = read_page(client.get("/", query_string={"q": case.name}).text)
    card = page.one("article", "card")
    sentence = card.all("p", "summary")[0].text.strip() if case.sentence else ""
    return Page(card.one("span", "tag").text, card.one("h1").text.strip(), sentence, page.one("title").text)


def _found(client: FlaskClient, text: str) -> list[dict[str, Any]]:
    return client.get("/api/inspect", query_string={"q": text}).get_json()["found"]


@pytest.fixture(scope="module")
def expected(client: FlaskClient) -> Callable[[str], list[dict[str, Any]]]:
    """expected(text) returns what the inspector with SQLite finds, which each other store is compared with."""
    return functools.cache(functools.partial(_found, client))


def _in_json(case: Case, client: FlaskClient) -> dict[str, str]:
    (found,) = _found(client, case.name)
    return found["verdict"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_page_title_and_json_have_the_verdict(case: Case, client: FlaskClient, read_page: Callable[[str], Any]) -> None:
    found = _in_json(case, client)
    assert found["code"] == case.code
    assert case.headline in found["headline"]
    assert case.sentence in found["sentence"]
    page = _page(case, client, read_page)
    assert page.tag.split()[0] == case.sign
    assert page.tag.endswith(found["tag"])
    assert page.headline == found["headline"]
    assert page.sentence == (found["sentence"] if case.sentence else "")
    is_good = case.sign in "✓○" or case.code in ("withdrawn", "not-known", "retired", "valid", "part")
    assert page.title.startswith(found["headline"] if is_good else f"{found['tag']}: {found['headline']}")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_row_of_a_list_has_the_verdict(case: Case, client: FlaskClient, read_page: Callable[[str], Any]) -> None:
    page = read_page(client.get("/", query_string={"q": f"{case.name}\nurn:isbn:0451450523"}).text)
    row = page.one("div", "list").one("tbody").all("tr")[0]
    assert case.sign in row.text
    # The similar name of one identifier is looked up, and those of the first of a list.
    assert _in_json(case, client)["headline"] in row.text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "is_traced_here"),
    [
        pytest.param("k1a", True, id="recorded"),
        pytest.param("k1a/f1", True, id="part"),
        pytest.param("k1f/f1", True, id="part of a held name"),
        pytest.param("k1g/f1", True, id="part of a withdrawn name"),
        pytest.param("k1", True, id="prefix"),
        pytest.param("k1zz", False, id="unknown"),
        pytest.param("k1h", False, id="reserved"),
    ],
)
def test_the_trace_of_a_name_for_which_this_site_answers_starts_here(
    name: str, bindings: Bindings, read_page: Callable[[str], Any], *, is_traced_here: bool
) -> None:
    prefix = "https://ids.museum.example"
    resolver = ResolverMiddleware(None, bindings, prefix=prefix)  # type: ignore[arg-type]
    client = create_app(bindings, prefix=prefix, local={prefix: resolver}, trace_elsewhere=False).test_client()
    page = client.get("/", query_string={"q": f"{NAAN}{name}"}).text
    leads = read_page(page).one("section", "leads").text
    assert ("so this site resolves it" in leads, "sends no requests to" in leads) == (
        is_traced_here,
        not is_traced_here,
    )
    status = client.get(
        "/trace", query_string={"q": f"{NAAN}{name}"}, headers={"Accept": "application/json"}
    ).status_code
    assert (status == 403) != is_traced_here


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_command_has_the_verdict(case: Case, client: FlaskClient, bindings: Bindings) -> None:
    database = str(bindings.location)
    result = CliRunner().invoke(main, ["inspect", "--json", "--database", database, case.name])
    assert json.loads(result.output)["verdict"] == _in_json(case, client)
    shown = CliRunner().invoke(main, ["inspect", "--database", database, case.name], env={"COLUMNS": "300"}).output
    assert _in_json(case, client)["headline"] in " ".join(shown.split())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_comparison_has_the_verdict_on_each_side(
    case: Case, client: FlaskClient, bindings: Bindings, read_page: Callable[[str], Any]
) -> None:
    other = "urn:isbn:0451450523"
    query, expected = {"a": other, "b": case.name}, _in_json(case, client)
    found = client.get("/api/compare", query_string=query).get_json()
    assert (found["a"]["verdict"]["headline"], found["b"]["verdict"]) == ("A valid ISBN", expected)
    sides = read_page(client.get("/compare", query_string=query).text).one("ol", "members").all("li")
    assert [expected["headline"] in side.text for side in sides] == [False, True]
    database = str(bindings.location)
    result = CliRunner().invoke(main, ["equal", "--json", "--database", database, other, case.name])
    assert json.loads(result.output) == found
    shown = CliRunner().invoke(main, ["equal", "--database", database, other, case.name], env={"COLUMNS": "300"}).output
    assert expected["headline"] in " ".join(shown.split())


@pytest.mark.parametrize("case", [each for each in CASES.values() if each.is_recorded], ids=lambda each: each.name)
def test_the_desk_has_the_tag(case: Case, client: FlaskClient, read_page: Callable[[str], Any]) -> None:
    lead = read_page(client.get("/desk/name", query_string={"name": case.name}).text).one("p", "lead")
    tags = [badge.text for badge in lead.all("span", "badge")]
    if case.code in ("link-dead", "link-moved", "on-hold"):
        assert any(_in_json(case, client)["tag"] in tag for tag in tags)
        assert any(case.sign in tag for tag in tags)
    else:
        assert not any(word in " ".join(tags) for word in ("dead", "moved", "hold"))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param("k1a", "Open the item", id="recorded"),
        pytest.param("k1c", "See the description", id="dead"),
        pytest.param("k1f", "See the description", id="on hold"),
        pytest.param("k1f/f1", "See the description", id="part of a held name"),
        pytest.param("k1g", "Open the new identifier: Thing b", id="withdrawn"),
        pytest.param("k1g/f1", "Open the new identifier: Thing b", id="part of a withdrawn name"),
        pytest.param("k1j", None, id="the successor is not public"),
        pytest.param("k1k", f"Open the new identifier: {NAAN}k1g", id="the successor is withdrawn"),
        pytest.param("k1m", "Open the page about the item", id="related"),
        pytest.param("k1n", "See the description", id="described"),
        pytest.param("k1", "See the description", id="prefix"),
        pytest.param("r3B", "Use ark:12345/r3b", id="similar, of a retired prefix"),
        pytest.param("k1A", "Use ark:12345/k1a", id="similar"),
        pytest.param("d2x", "Open at archive.example", id="delegated"),
    ],
)
def test_the_filled_button_is_the_next_step(
    name: str, label: str | None, client: FlaskClient, read_page: Callable[[str], Any]
) -> None:
    card = read_page(client.get("/", query_string={"q": f"{NAAN}{name}"}).text).one("article", "card")
    filled = [each for each in card.all(None, "button") if "quiet" not in each.classes and "small" not in each.classes]
    assert [each.text.strip() for each in filled] == ([label] if label else [])


def test_a_reserved_name_has_the_verdict_of_an_unknown_one(client: FlaskClient) -> None:
    unknown = _in_json(CASES["unknown"], client)
    for case in ("reserved", "embargo"):
        found = _in_json(CASES[case], client)
        assert found == unknown


@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "in a list"])
def test_each_store_has_the_verdicts(
    expected: Callable[[str], list[dict[str, Any]]], other_store: Bindings, *, is_alone: bool
) -> None:
    other = create_app(other_store, prefix="https://ids.museum.example", trace_elsewhere=False).test_client()
    has_traces = other_store.kind == "database"
    names = [case.name for case in CASES.values()]
    # Each name is once the first of a list, and once a later one.
    lists = {title: f"{case.name}\n{CASES['similar'].name}" for title, case in CASES.items()} | {
        "all": "\n".join(names)
    }
    for title, text in (dict(zip(CASES, names, strict=True)) if is_alone else lists).items():
        for one, another in zip(expected(text), _found(other, text), strict=True):
            if not has_traces and one["verdict"]["code"] in ("recorded", "link-dead", "link-moved", "part"):
                verdict = another["verdict"]
                code = "part" if one["verdict"]["code"] == "part" else "recorded"
                assert (verdict["code"], "The link" in verdict["sentence"]) == (code, False), title
                assert another["bound"] == one["bound"], title
            else:
                assert another == one, title


@pytest.mark.parametrize("case", [CASES["recorded"], CASES["unknown"]], ids=["recorded", "unknown"])
def test_each_door_says_that_the_store_cannot_be_read(
    case: Case, bindings: Bindings, read_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise BindingsUnavailable("the database does not answer")

    client = create_app(bindings, prefix="https://ids.museum.example", trace_elsewhere=False).test_client()
    monkeypatch.setattr(type(bindings.store), "fetch_traced", away)
    found = _in_json(case, client)
    assert (found["code"], found["tag"]) == ("unread", "valid, not looked up")
    page = _page(case, client, read_page)
    assert page.tag.startswith("△")
    assert page.tag.endswith(found["tag"])
    assert (page.headline, page.sentence) == (found["headline"], found["sentence"])
    assert "cannot be read" in found["sentence"]
    assert page.title.startswith(f"{found['tag']}: {found['headline']}")
    listed = read_page(client.get("/", query_string={"q": f"{case.name}\nurn:isbn:0451450523"}).text)
    assert "△" in listed.one("div", "list").one("tbody").all("tr")[0].text
    compared = read_page(client.get("/compare", query_string={"a": case.name, "b": "urn:isbn:0451450523"}).text)
    assert found["tag"] in compared.one("ol", "members").text
