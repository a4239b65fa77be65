"""`POST /names` with `"unless": "resource"`: each request for a thing gets its one name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from tests.webapp.api.conftest import Client, accounts_of, assert_problem

SHOULDER = "ark:12345/x5"


@pytest.fixture
def bindings(database, clock, open_store):
    """No bindings, once for each kind of database."""
    return open_store(database, clock=clock)


def body(*resources: str, **fields: Any) -> dict[str, Any]:
    return {"names": [{"shoulder": SHOULDER, "resource": each, **fields} for each in resources], "unless": "resource"}


def test_the_second_request_gets_the_recorded_name(curator: Client, clock: Any, rows: Any) -> None:
    first = curator("POST", "/names", body("map 17", target="https://example.org/17"))
    before = rows()
    clock.move(days=2)
    again = curator("POST", "/names", body("map 17", target="https://example.org/x", metadata={"erc.what": "New"}))
    assert (first.status_code, again.status_code) == (201, 200)
    assert [each.json["names"][0]["outcome"] for each in (first, again) if each.json] == ["bound", "exists"]
    for field in ("Location", "ETag"):
        assert first.headers[field] == again.headers[field]
    assert again.json
    assert first.json
    assert again.json["names"][0]["name"] == first.json["names"][0]["name"]
    assert rows() == before
    name = first.json["names"][0]["name"]["identifier"]
    assert curator("PATCH", f"/names/{name}", {"listed": "no"}, If_Match=again.headers["ETag"]).status_code == 200


def test_a_request_of_two_names_has_no_entity_tag(curator: Client) -> None:
    answer = curator("POST", "/names", body("a", "b", "a"))
    assert answer.json
    assert [each["outcome"] for each in answer.json["names"]] == ["bound", "bound", "exists"]
    assert (answer.status_code, "ETag" in answer.headers, "Location" in answer.headers) == (201, False, False)
    assert curator("POST", "/names", body("b", "a")).status_code == 200


def test_a_key_of_idempotency_repeats_the_answer_exists(curator: Client) -> None:
    curator.ok("POST", "/names", body("map 17"), status=201)
    answers = [curator("POST", "/names", body("map 17"), Idempotency_Key="k") for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
    assert answers[1].headers["Idempotency-Replayed"] == "true"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("names", "status", "code", "pointer"),
    [
        pytest.param([{"shoulder": SHOULDER}], 422, "key-missing", "/names/0/resource", id="no resource"),
        pytest.param(
            [{"shoulder": SHOULDER, "resource": "a"}, {"name": f"{SHOULDER}b", "resource": "b"}],
            422,
            "unless-name",
            "/names/1/shoulder",
            id="a chosen name",
        ),
        pytest.param(
            [{"shoulder": SHOULDER, "resource": "twice"}], 409, "key-ambiguous", "/names/0/resource", id="two names"
        ),
        pytest.param([{"shoulder": "ark:12345/y", "resource": "a"}], 403, "not-granted", "/names/0", id="no grant"),
    ],
)
def test_a_request_without_one_answer_is_refused(
    curator: Client, bindings: Bindings, names: list[Any], status: int, code: str, pointer: str | None
) -> None:
    for number in range(2):
        bindings.bind(f"{SHOULDER}t{number}", f"/{number}", resource="twice")
    problem = assert_problem(curator("POST", "/names", {"names": names, "unless": "resource"}), status, code)
    assert problem.get("pointer") == pointer
    assert "x5t" not in str(problem)
    assert bindings.count().number == 2


def test_a_reserved_name_is_not_shown_to_a_token_that_cannot_read(app: Any, bindings: Bindings) -> None:
    bindings.reserve(f"{SHOULDER}a", resource="secret")
    bindings.bind(f"{SHOULDER}b", "/b", resource="public")
    client = Client(app, accounts_of(app).tokens.create("curator", "test", rights=["mint", "bind"])[1])
    problem = assert_problem(client("POST", "/names", body("secret")), 409, "key-ambiguous")
    assert "x5a" not in str(problem)
    assert client("POST", "/names", body("public")).status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("Inv. 12", "INV. 12"),
        ("INV. 13", "inv.13"),
        ("MS 7", "ms  7"),
        ("Map 31", "MAP31"),
        ("A-4", "A\u20104"),
        ("B\u20135", "b-5"),
        ("STRASSE 6", "Straße 6"),
        ("Straße 7", "STRASSE 7"),
        ("STRAẞE 8", "strasse 8"),
        ("Strasse 10", "Straße 10"),
        ("Schloss Straße 9", "SCHLOSS STRASSE 9"),
        ("Vol. VIII", "Vol. Ⅷ"),
    ],
)
def test_a_key_that_is_equal_only_after_folding_is_ambiguous(
    curator: Client, bindings: Bindings, recorded: str, asked: str
) -> None:
    before = bindings.count().number
    made = curator.ok("POST", "/names", body(recorded), status=201)["names"][0]["name"]["identifier"]
    problem = assert_problem(curator("POST", "/names", body(asked)), 409, "key-ambiguous")
    assert problem["pointer"] == "/names/0/resource"
    assert made not in str(problem)
    assert not {"existing", "names"} & problem.keys()
    assert bindings.count().number == before + 1
    assert curator("POST", "/names", body(recorded)).status_code == 200
    # Without the condition, it is another number.
    assert curator("POST", "/names", {"names": body(asked)["names"]}).status_code == 201


def test_two_keys_of_a_request_that_are_equal_after_folding_are_ambiguous(curator: Client, bindings: Bindings) -> None:
    problem = assert_problem(curator("POST", "/names", body("Box 1", "other", "BOX 1")), 409, "key-ambiguous")
    assert (problem["pointer"], bindings.count().number) == ("/names/2/resource", 0)


def test_a_withdrawn_name_with_a_similar_key_is_no_match(curator: Client, bindings: Bindings) -> None:
    bindings.bind(f"{SHOULDER}w", "/w", resource="Inv. 9")
    bindings.withdraw(f"{SHOULDER}w", reason="broken")
    curator.ok("POST", "/names", body("INV. 9"), status=201)


@pytest.mark.timeout(120)
def test_parallel_requests_for_similar_keys_mint_one_name(curator: Client, bindings: Bindings) -> None:
    def send(key: str) -> int:
        answer = curator("POST", "/names", body(key))
        while answer.status_code == 503:
            answer = curator("POST", "/names", body(key))
        return answer.status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(send, ["Map 8", "MAP 8"] * 4)) == [200, 200, 200, 201, *[409] * 4]
    assert bindings.count().number == 1


@pytest.mark.timeout(120)
def test_parallel_requests_get_one_name(curator: Client, bindings: Bindings) -> None:
    def send(number: int) -> str:
        answer = curator("POST", "/names", body("map 17", target=f"https://example.org/{number}"))
        while answer.status_code == 503:  # too many changes wait
            answer = curator("POST", "/names", body("map 17"))
        assert answer.json
        return answer.json["names"][0]["name"]["identifier"]

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(send, range(20)))) == 1
    assert bindings.count().number == 1
