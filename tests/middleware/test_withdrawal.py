"""A withdrawal applies to all names below, in every store."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.identifiers.ark import parser as ark
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.lookup import withdrawing_keys
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings

BELOW = [
    pytest.param("ark:12345/v1.pdf", "ark:12345/v1", id="a variant"),
    pytest.param("ark:12345/v1/f3", "ark:12345/v1", id="a component"),
    pytest.param("ark:12345/v1/f1/thumb", "ark:12345/v1", id="a deeper component"),
    pytest.param("ark:/12345/v-1/f3", "ark:12345/v1", id="another spelling"),
    pytest.param("ark:12345/v1/f3?info", "ark:12345/v1", id="a description"),
    pytest.param("ark:12345/v1/", None, id="the name itself with a slash"),
    pytest.param("ark:12345/v1.pdf/f3", "ark:12345/v1", id="a component of a variant"),
    pytest.param("ark:12345/v1" + "/a" * 60, "ark:12345/v1", id="more components than are searched for passthrough"),
    pytest.param("ark:12345/v1/" + "x" * 400, "ark:12345/v1", id="a name too long to be bound"),
    pytest.param("ark:12345/vol.txt.en", "ark:12345/vol.txt", id="a variant of a withdrawn variant"),
    pytest.param("ark:12345/vol.txt.en/p1", "ark:12345/vol.txt", id="a component below that"),
    pytest.param("ark:12345/v1/live/x", "ark:12345/v1", id="below a live container that allows passthrough"),
    pytest.param("ark:12345/v1/site/x", "ark:12345/v1", id="below a live subtree"),
    pytest.param("ark:12345/v1/site/x,y", None, id="no ARK, below a live subtree"),
    pytest.param("ark:12345/tree/gone/x", "ark:12345/tree/gone", id="withdrawn below a subtree"),
    pytest.param("ark:12345/tree/gone/x,y", None, id="no ARK, withdrawn below a subtree"),
    pytest.param("ark:12345/book/gone/1", "ark:12345/book/gone", id="withdrawn below passthrough"),
    pytest.param("ark:12148/w/1", "ark:12148/w", id="a NAAN that is forwarded"),
]
NOT_BELOW = [
    pytest.param("ark:12345/v10", "https://a.example/v10", id="a longer name"),
    pytest.param("ark:12345/v2/f1", "https://a.example/v2/f1", id="another name"),
    pytest.param("ark:12345/vol.pdf", "https://a.example/vol.pdf", id="another variant"),
    pytest.param("ark:12345/v1/live", "https://b.example/live", id="bound itself"),
    pytest.param("ark:12345/v1/f9", "https://b.example/f9", id="bound itself, by the file"),
    pytest.param("ark:12345/book/2", "https://b.example/book/2", id="passthrough beside it"),
]
NAMES: list[dict[str, Any]] = [
    {"identifier": "ark:12345/v1", "target": "https://b.example/v1", "passthrough": True},
    {"identifier": "ark:12345/v1/f9", "target": "https://b.example/f9"},
    {"identifier": "ark:12345/v1/live", "target": "https://b.example/live", "passthrough": True},
    {"identifier": "ark:12345/v1/site", "target": "/site", "kind": "served", "scope": "subtree"},
    {"identifier": "ark:12345/vol.txt", "target": "https://b.example/vol.txt"},
    {"identifier": "ark:12345/tree", "target": "/tree", "kind": "served", "scope": "subtree"},
    {"identifier": "ark:12345/tree/gone", "target": "/gone", "kind": "served", "scope": "subtree"},
    {"identifier": "ark:12345/book", "target": "https://b.example/book", "passthrough": True},
    {"identifier": "ark:12345/book/gone", "target": "https://b.example/gone", "passthrough": True},
    {"identifier": "ark:12148/w", "target": "https://b.example/w"},
]
WITHDRAWN = ["ark:12345/v1", "ark:12345/vol.txt", "ark:12345/tree/gone", "ark:12345/book/gone", "ark:12148/w"]


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


@pytest.fixture
def client(bindings: Bindings) -> Client:
    """A resolver with withdrawn names, a rule above all of them, and forwarding, once for each database."""
    for name in NAMES:
        bindings.bind(**name)
    for identifier in WITHDRAWN:
        bindings.withdraw(identifier)
    bindings.rules.set("ark:12345/v", "https://a.example/${value}")
    app = ResolverMiddleware(
        site, bindings, prefix="https://r.example", naans=["12345"], forward=True, services="/uri-res"
    )
    return Client(app)


def test_names_below_a_withdrawn_name_answer_410(client: Client) -> None:
    for identifier, container in (param.values for param in BELOW):
        assert isinstance(identifier, str)
        answer = client.get(f"/{identifier}", headers={"Accept": "application/json"})
        assert answer.status_code == (400 if "," in identifier else 410), identifier
        assert "Location" not in answer.headers, identifier
        if container is not None:
            assert answer.json is not None
            assert answer.json["code"] == "container-withdrawn", identifier
            assert answer.json["container"] == f"https://r.example/{container}?info", identifier
            listed = client.get(f"/uri-res/N2L?{identifier.partition('?')[0]}")
            assert (listed.status_code, "Location" in listed.headers) == (410, False), identifier
            assert client.get(f"/uri-res/N2Ls?{identifier.partition('?')[0]}").status_code == 410, identifier


def test_other_names_still_resolve(client: Client) -> None:
    for identifier, target in (param.values for param in NOT_BELOW):
        answer = client.get(f"/{identifier}")
        assert (answer.status_code, answer.headers.get("Location")) == (302, target), identifier


def test_the_page_links_to_the_description_of_the_withdrawn_name(client: Client) -> None:
    page = client.get("/ark:12345/v1/f3")
    assert (page.status_code, page.headers["Cache-Control"].endswith("max-age=60")) == (410, True)
    assert "A name that contains this identifier was withdrawn." in page.text
    assert 'href="https://r.example/ark:12345/v1?info"' in page.text


@pytest.mark.one_setup
@pytest.mark.parametrize(("identifier", "container"), [row for row in BELOW if row.values[0] != "ark:12148/w/1"])
def test_a_file_store_withdraws_all_names_below(
    tmp_path: Path, open_store: Callable[..., Bindings], identifier: str, container: str | None
) -> None:
    table = tmp_path / "names.csv"
    rows = ["identifier,target,kind,passthrough,scope,status"]
    for name in NAMES:
        cells = [name["identifier"], name["target"], name.get("kind", "located")]
        cells += [str(name.get("passthrough", False)).lower(), name.get("scope", "name")]
        rows.append(",".join([*cells, "withdrawn" if name["identifier"] in WITHDRAWN else "live"]))
    table.write_text("\n".join([*rows, ""]))
    answer = Client(ResolverMiddleware(site, open_store(table))).get(f"/{identifier}")
    assert answer.status_code == (400 if "," in identifier else 410)


def test_containers_are_found_with_one_query(held: Any, binding: Any) -> None:
    store = held(binding("ark:12345/v1", "/v1", status="withdrawn"))
    assert resolve("ark:12345/v1" + "/a" * 60, store.fetch, no_rules, Settings()).status == 410
    assert [len(keys) for keys in store.asked] == [1, 60]


@pytest.mark.parametrize("unit", ["/a", ".a", "/a.b.c.d", "/a.b.c.d.e.f", "/-a.b", "/%D0%B1.%D0%B2"])
def test_the_number_of_looked_up_keys_is_limited(unit: str) -> None:
    def took(times: int) -> float:
        long = ark.parse("ark:12345/x" + unit * times)
        assert len(long.basic) >= 0
        seconds = []
        for _ in range(3):
            # The time of the processor, because other processes run at the same time.
            began = time.thread_time()
            assert len(withdrawing_keys(long)) < 1000
            seconds.append(time.thread_time() - began)
        return min(seconds)

    assert took(40_000) < 4 * took(20_000) + 0.05


def test_combinations_of_up_to_four_variants_are_covered():
    four, five = (withdrawing_keys(ark.parse(f"ark:12345/x{'.d.c.b.a'}{more}")) for more in ("", ".e"))
    assert len(four) == 16
    assert "ark:12345/x.a.c" in four
    assert five == [
        "ark:12345/x.a.b.c.d.e",
        *(f"ark:12345/x.{variant}" for variant in "abcde"),
        "ark:12345/x",
    ]
