"""Errors that a program reads without their sentences, and values of other languages that mean "not given"."""

from __future__ import annotations

from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from tests.webapp.api.conftest import BASE, Client, assert_problem

SHOULDER = "ark:12345/x5"
URL = "https://example.org/1"


def pointers(problem: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["code"], each["pointer"]) for each in problem["errors"]]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [{"shoulder": SHOULDER, "state": "gone", "redirect": 301}, {"shoulder": 5}],
            [("body-member", f"/names/{place}") for place in ("0/redirect", "0/state", "1/shoulder")],
            id="members",
        ),
        pytest.param(
            [{"shoulder": SHOULDER, "target": "ftp://x"}, {"shoulder": SHOULDER, "resource": "a\nb", "target": "x"}],
            [
                ("target-scheme", "/names/0/target"),
                ("resource-text", "/names/1/resource"),
                ("target-relative", "/names/1/target"),
            ],
            id="values",
        ),
        pytest.param([{"shoulder": SHOULDER, "x": 1}], [("body-member", "/names/0")], id="an unknown member"),
        pytest.param([5] * 30, [("body-member", f"/names/{number}") for number in range(20)], id="twenty at most"),
    ],
)
def test_a_body_with_several_errors_is_told_all_of_them(
    curator: Client, rows: list[Any], expected: list[tuple[str, str]]
) -> None:
    answer = curator("POST", "/names", {"names": rows})
    assert answer.json
    found = pointers(answer.json)
    assert sorted(found) == sorted(expected) or {each[1] for each in found} == {each[1] for each in expected}
    assert answer.json["pointer"] == found[0][1]
    assert answer.json["type"] != "about:blank"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        pytest.param("PUT", f"/names/{SHOULDER}a", {"target": "ftp://x"}, "/target", id="PUT"),
        pytest.param("PATCH", f"/names/{SHOULDER}k", {"metadata": {"a b": "c"}}, "/metadata", id="PATCH"),
        pytest.param("POST", f"/names/{SHOULDER}k/relocate", {"target": "ftp://x"}, "/target", id="relocate"),
        pytest.param("POST", f"/names/{SHOULDER}k/withdraw", {"reason": "a\u0000"}, "/reason", id="withdraw"),
        pytest.param("POST", "/holds", {"name": f"{SHOULDER}k", "until": "x", "reason": "a"}, "/until", id="hold"),
        pytest.param(
            "POST",
            "/exports",
            {"format": "csv", "selection": {"changed_since": "x"}},
            "/selection/changed_since",
            id="time",
        ),
        pytest.param("POST", "/changes", {"operation": {"action": "publish"}}, "", id="the whole body"),
    ],
)
def test_each_error_of_a_body_has_a_pointer_and_an_explanation(
    administrator: Client, bindings: Bindings, method: str, path: str, body: Any, pointer: str
) -> None:
    bindings.bind(f"{SHOULDER}k", "https://example.org/k")
    answer = administrator(method, path, body)
    assert answer.json
    assert answer.status_code in (400, 422), answer.text
    assert answer.json["pointer"] == pointer
    assert answer.json["type"].endswith(f"#{answer.json['code']}")


def test_null_and_an_empty_list_are_not_given_in_a_new_name(curator: Client) -> None:
    row = {"shoulder": SHOULDER, "name": None, "target": URL, "resource": None, "metadata": [], "alternates": None}
    made = curator.ok("POST", "/names", {"names": [row], "unless": None}, status=201)["names"][0]["name"]
    assert (made["target"], made["resource"], made["metadata"]) == (URL, None, {})
    row = {"shoulder": SHOULDER, "metadata": {"erc.what": "A", "erc.who": None}}
    made = curator.ok("POST", "/names", {"names": [row]}, status=201)["names"][0]["name"]
    assert made["metadata"] == {"erc.what": "A"}
    name = made["identifier"]
    assert curator.ok("POST", f"/names/{name}/withdraw", {"reason": None})["reason"] is None
    assert curator.ok("PUT", f"/names/{SHOULDER}p", {"target": URL, "metadata": []}, status=201)["target"] == URL


def test_an_empty_list_of_names_is_no_request_for_all_names(administrator: Client) -> None:
    body = {"operation": {"action": "publish"}, "selection": {}, "names": []}
    assert_problem(administrator("POST", "/changes", body), 422, "body-member")


@pytest.mark.parametrize("media_type", ["application/json", "application/merge-patch+json"])
def test_a_merge_patch_deletes_what_is_null(curator: Client, media_type: str) -> None:
    first = {"target": URL, "redirect": 307, "listed": "no", "metadata": {"erc.what": "A", "erc.who": "B"}}
    curator.ok("PUT", f"/names/{SHOULDER}m", first, status=201)

    def patch(body: Any) -> Any:
        return curator.ok("PATCH", f"/names/{SHOULDER}m", body, Content_Type=media_type)

    assert patch({"metadata": {"erc.who": None}})["metadata"] == {"erc.what": "A"}
    changed = patch({"metadata": None, "redirect": None, "listed": None})
    assert (changed["metadata"], changed["redirect"], changed["listed"]) == ({}, 302, True)


def test_a_job_says_when_to_ask_again(curator: Client) -> None:
    started = curator("POST", "/exports", {"format": "csv"})
    assert (started.status_code, started.headers["Retry-After"]) == (202, "1")
    assert started.json
    shown = curator("GET", f"/exports/{started.json['number']}")
    assert shown.json
    assert (shown.headers.get("Retry-After") is None) == (shown.json["state"] in ("done", "failed"))


def test_a_plus_sign_that_was_not_encoded_is_explained(curator: Client) -> None:
    answer = curator("GET", "/names?changed_since=2026-11-22T09:30:00+00:00")
    assert "%2B" in assert_problem(answer, 400, "parameter")["detail"]
    assert "%2B" not in assert_problem(curator("GET", "/names?changed_since=x"), 400, "parameter")["detail"]
    curator.ok("GET", "/names?changed_since=2026-11-22T09:30:00%2B00:00")


def test_a_script_of_another_site_can_send_json_to_the_inspector(app: Any) -> None:
    client = app.test_client()
    answer = client.options("/api/inspect", headers={"Origin": "https://other.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Allow-Headers"] == "*"
    assert {"GET", "POST"} <= set(answer.headers["Access-Control-Allow-Methods"].split(", "))
    assert "Access-Control-Allow-Origin" not in client.options(f"{BASE}/names").headers


def test_another_site_can_show_the_qr_code(app: Any) -> None:
    answer = app.test_client().get("/qr.svg?q=ark:12345/x5")
    assert (answer.status_code, answer.headers["Cross-Origin-Resource-Policy"]) == (200, "cross-origin")
