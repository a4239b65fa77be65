"""Records of NAANs and shoulders over HTTP."""

from __future__ import annotations

import pytest

from tests.webapp.api.conftest import assert_problem

PATH = "/prefixes/ark:12345/x5"
RECORD = {"what": "Maps", "pattern": "29^8+check"}


def test_a_record_is_set_shown_and_listed(administrator, reader):
    created = administrator.ok("PUT", PATH, RECORD, status=201)
    assert (created["prefix"], created["what"], created["who"], created["actor"]) == (
        "ark:12345/x5", "Maps", None, "administrator",
    )  # fmt: skip
    assert reader.ok("GET", PATH) == created == reader.ok("GET", "/prefixes/ark%3A12345%2Fx5")
    assert reader.ok("GET", "/prefixes") == {"prefixes": [created]}
    assert_problem(reader("GET", "/prefixes/ark:12345/"), 404, "prefix-unknown")


def test_put_deletes_the_texts_that_it_does_not_have_and_keeps_the_rule(administrator):
    rule = {"template": "https://example.org/${value}", "redirect": 307}
    administrator.ok("PUT", PATH, {**RECORD, "rule": rule}, status=201)
    changed = administrator.ok("PUT", PATH, {"who": "Library"})
    assert (changed["who"], changed["what"], changed["pattern"], changed["rule"]) == ("Library", None, None, rule)
    assert administrator.ok("PUT", PATH, {"who": "Library", "rule": None})["rule"] is None


def test_names_are_minted_by_the_pattern_of_the_record(administrator, curator):
    administrator.ok("PUT", PATH, {"pattern": "10^12"}, status=201)
    (saved,) = curator.ok("POST", "/names", {"names": [{"shoulder": "ark:12345/x5"}]}, status=201)["names"]
    name = saved["name"]["identifier"].removeprefix("ark:12345/x5")
    assert (len(name), name.isdecimal()) == (12, True)


def test_a_record_of_another_version_is_not_replaced(administrator, rows):
    tag = administrator("PUT", PATH, RECORD).headers["ETag"]
    assert administrator("GET", PATH, If_None_Match=tag).status_code == 304
    current = administrator("PUT", PATH, {"who": "Library"}, If_Match=tag).headers["ETag"]
    before = rows()
    for fields in ({"If_Match": tag}, {"If_None_Match": "*"}, {"If_None_Match": current}):
        assert_problem(administrator("PUT", PATH, RECORD, **fields), 412, "revision-stale")
    assert_problem(administrator("PUT", "/prefixes/ark:12345/", RECORD, If_Match="*"), 412, "revision-stale")
    assert rows() == before
    assert administrator("PUT", "/prefixes/ark:12345/", {"who": "A"}, If_None_Match="*").status_code == 201


def test_a_prefix_is_delegated_succeeded_and_retired(administrator, curator, reader):
    minter = "https://lower.example/mint"
    body = {"what": "Maps", "state": "delegated", "resolver": "https://lower.example", "minter": minter}
    assert administrator.ok("PUT", PATH, body, status=201)["state"] == "delegated"
    # A text that is not sent is deleted, but a client that knows no delegation keeps it.
    changed = administrator.ok("PUT", PATH, {"who": "Library"})
    assert (changed["what"], changed["state"], changed["minter"], changed["lineage"]) == (None, "delegated", minter, [])
    for client in (curator, administrator):
        problem = client("POST", "/names", {"names": [{"shoulder": "ark:12345/x5"}]})
        assert_problem(problem, 409, "prefix-delegated")
        assert problem.get_json()["minter"] == minter
    to = {"prefix": "ark:12345/x5", "to": "Archive", "accounts": ["curator"]}
    assert administrator.ok("POST", "/successions?dry_run=1", to)["written"] is False
    done = administrator.ok("POST", "/successions", to)
    assert [each["who"] for each in done["record"]["lineage"]] == ["Library"]
    curator.ok("PUT", "/names/ark:12345/x5a", {"target": "https://old.example/a"}, status=201)
    body = {"prefix": "ark:12345/x5", "resolver": "https://new.example"}
    assert administrator.ok("POST", "/departures?dry_run=1", body)["counts"] == {"relocated": 1}
    assert administrator.ok("POST", "/departures", body)["written"] is True
    assert reader.ok("GET", "/names/ark:12345/x5a")["target"] == "https://new.example/ark:12345/x5a"
    for state in ("active", "delegated"):
        assert_problem(administrator("PUT", PATH, {"state": state, "about": minter}), 409, "prefix-retired")
    assert_problem(curator("POST", "/departures", body), 403, "role-missing")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param({}, "body-member", id="nothing"),
        pytest.param({"colour": "red"}, "body-member", id="unknown member"),
        pytest.param({"pattern": "x"}, "prefix-pattern", id="pattern"),
        pytest.param({"what": "a\0b"}, "prefix-text", id="NUL"),
        pytest.param({"what": "a", "rule": {"template": "https://example.org/"}}, None, id="rule without a variable"),
        pytest.param({"what": "a", "rule": {"template": "javascript:${value}"}}, None, id="rule with another scheme"),
        pytest.param({"what": "a", "rule": {}}, "body-member", id="rule without a template"),
    ],
)
def test_a_record_that_is_not_valid_changes_nothing(administrator, rows, body, code):
    before = rows()
    refused = administrator("PUT", PATH, body)
    assert_problem(refused, 422, code or refused.json["code"])
    assert rows() == before


def test_only_an_administrator_sets_a_record(curator, reader, client_of, rows):
    before = rows()
    for client in (curator, reader, client_of("administrator", ["ark:12345/x5"])):
        assert_problem(client("PUT", PATH, RECORD), 403, "role-missing")
    assert rows() == before


def test_a_term_that_is_unknown_is_saved_with_a_warning(administrator, reader):
    saved = administrator.ok("PUT", PATH, {"availability": "banana", "variance": "fixing, yearly"}, status=201)
    assert [each["code"] for each in saved["warnings"]] == ["persistence-term"]
    assert "warnings" not in reader.ok("GET", PATH)
    names = {"names": [{"name": "ark:12345/x5a", "target": "/a", "metadata": {"availability": "banana"}}]}
    (created,) = administrator.ok("POST", "/names", names, status=201)["names"]
    assert [each["code"] for each in created["name"]["warnings"]] == ["persistence-term"]
