"""Names: list, create, show, replace, change, delete, withdraw, restore and relocate them."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from ararat.bindings import changes
from ararat.bindings.collection import Bindings
from ararat.bindings.storage import listing as storage_listing
from ararat.webapp.api.views import names as view
from tests.webapp.api.conftest import BASE, assert_problem

NAME = "/names/ark:12345/x51"
URL = "https://example.org/1"
OTHER = "https://example.org/2"


@pytest.fixture
def name(curator):
    """A bound name as JSON."""
    return curator.ok("PUT", NAME, {"target": URL, "resource": "map 1", "metadata": {"who": "Noah"}}, status=201)


def etag(client, path=NAME):
    return client("GET", path).headers["ETag"]


# Create ---------------------------------------------------------------------------------------------------------------


def test_names_are_minted_and_bound_in_one_request(curator, bindings):
    wanted = [
        {"shoulder": "ark:12345/x5", "target": URL},
        {"name": "ark:/12345/x5-q", "state": "reserved", "metadata": {"who": "Noah"}},
        {"shoulder": "ark:/12345/x-5", "state": "reserved"},
    ]
    saved = curator.ok("POST", "/names", {"names": wanted}, status=201)["names"]
    assert [each["outcome"] for each in saved] == ["bound", "reserved", "reserved"]
    minted, given, other = (each["name"] for each in saved)
    assert re.fullmatch("ark:12345/x5[0-9bcdfghjkmnpqrstvwxz]{8}", minted["identifier"])
    assert (given["identifier"], given["spelling"]) == ("ark:12345/x5q", "ark:/12345/x5-q")
    assert given["metadata"] == {"erc.who": "Noah"}
    assert minted["identifier"] != other["identifier"]
    assert bindings.lookup(minted["identifier"]).target == URL
    assert bindings.history("ark:12345/x5q")[0].actor == "curator"


def test_the_answer_to_a_personal_name_has_a_warning(curator):
    (saved,) = curator.ok(
        "POST", "/names", {"names": [{"name": "ark:12345/x5/a@example.org", "target": URL}]}, status=201
    )["names"]
    (warning,) = saved["name"]["warnings"]
    assert warning["code"] == "personal-data"
    assert warning["message"].startswith("the name contains an e-mail address; a name enters the public log")
    changed = curator.ok("PUT", NAME, {"target": "/x", "metadata": {"who": "tel:+4930123456"}}, status=201)
    assert [each["message"][:48] for each in changed["warnings"]] == [
        "the element erc.who contains a telephone number;"
    ]
    assert "warnings" not in curator.ok("GET", NAME)


def test_the_answer_to_a_probable_mistake_has_warnings(curator, name):
    wanted = [{"name": "ark:12345/x5two", "target": URL, "resource": "map 1"}, {"shoulder": "ark:12345/x5"}]
    saved = curator.ok("POST", "/names", {"names": wanted}, status=201)["names"]
    assert [each["code"] for each in saved[0]["name"]["warnings"]] == ["resource-shared", "target-shared"]
    assert "warnings" not in saved[1]["name"]
    moved = curator.ok("PATCH", NAME, {"target": "http://localhost/?a&amp;b", "resource": "map 1"})
    assert [each["code"] for each in moved["warnings"]] == ["target-entity", "target-local"]
    gone = curator.ok("POST", f"{NAME}/withdraw", {"successor": "ark:12345/x5nope"})
    assert [each["code"] for each in gone["warnings"]] == ["successor-unknown"]


VALUES = {
    "resource-shared": {"resource": "map 1"},
    "number-shared": {"numbers": {"further": ["map 1"]}},
    "target-shared": {"target": URL},
    "title-shared": {"metadata": {"what": "A MAP"}},
}


@pytest.mark.one_setup
@pytest.mark.parametrize("code", VALUES)
def test_a_value_of_another_name_is_a_warning_before_it_is_public(curator, code):
    path = "/names/ark:12345/x5shared"
    curator.ok(
        "PUT",
        f"/names/ark:12345/x5o{code[:2]}",
        {"target": URL, "resource": "map 1", "metadata": {"what": "A map"}},
        status=201,
    )
    values = {"target": OTHER, **VALUES[code]}
    curator.ok("PUT", path + code[:2], {**values, "state": "reserved"}, status=201)
    for change in ("PATCH", ""), ("POST", "/withdraw"), ("POST", "/restore"):
        method, action = change
        saved = curator.ok(method, f"{path}{code[:2]}{action}", {"state": "live"} if method == "PATCH" else {})
        expected = [] if action == "/withdraw" else [code]
        assert [each["code"] for each in saved.get("warnings", [])] == expected
    again = curator.ok("PATCH", path + code[:2], {"metadata": {"who": "Noah"}})
    assert "warnings" not in again
    curator.ok("POST", f"{path}{code[:2]}/withdraw", {})
    curator.ok("POST", f"/names/ark:12345/x5o{code[:2]}/withdraw", {})


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("second", "code", "pointer"),
    [
        ({"shoulder": "ark:12345/x5", "target": "bad"}, "target-relative", "/names/1/target"),
        ({"name": "ark:12345/x5b", "target": "bad"}, "target-relative", "/names/1/target"),
        ({"name": "ark:12345/x5b", "redirect": 307, "scope": "subtree"}, "scope-not-served", "/names/1/scope"),
        ({"name": "ark:12345"}, "no-name", "/names/1/name"),
        ({"name": "ark:12345/x5a\u200bb"}, "hidden-char", "/names/1/name"),
        ({"name": "ark:12345/x51", "target": OTHER}, "name-taken", "/names/1"),
    ],
)
def test_an_error_points_at_the_wrong_value_of_a_list(curator, name, second, code, pointer):
    answer = curator("POST", "/names", {"names": [{"shoulder": "ark:12345/x5"}, second]})
    assert (answer.json["code"], answer.json["pointer"]) == (code, pointer)
    assert answer.json["type"].endswith(f"/problems#{code}")
    assert answer.json["identifier"] is None or "shoulder" not in second


def test_an_error_points_at_the_wrong_value_of_one_name(curator, name):
    assert curator("PATCH", NAME, {"target": "bad"}).json["pointer"] == "/target"
    assert curator("POST", f"{NAME}/withdraw", {"successor": "INV 1901/0001"}).json["pointer"] == "/successor"


def test_the_response_to_one_name_has_its_url(curator):
    answer = curator("POST", "/names", {"names": [{"shoulder": "ark:12345/x5", "target": URL}]})
    assert curator.ok("GET", answer.headers["Location"].removeprefix(BASE)) == answer.json["names"][0]["name"]


def test_a_name_with_the_same_values_is_unchanged(curator, name):
    fields = {"name": "ark:12345/x51", "target": URL, "resource": "map 1", "metadata": {"erc.who": "Noah"}}
    (saved,) = curator.ok("POST", "/names", {"names": [fields]}, status=201)["names"]
    assert (saved["outcome"], saved["name"]) == ("unchanged", name)


def test_a_conflict_has_both_rows_and_nothing_is_written(curator, name, rows):
    before = rows()
    wanted = [{"shoulder": "ark:12345/x5"}, {"name": "ark:12345/x5z"}, {"name": "ark:12345/x51", "target": OTHER}]
    problem = assert_problem(curator("POST", "/names", {"names": wanted}), 409, "name-taken")
    assert problem["identifier"] == "ark:12345/x51"
    assert problem["existing"] == name
    assert problem["proposed"]["target"] == OTHER
    assert rows() == before


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        pytest.param({"name": "nothing"}, 422, None, id="not an identifier"),
        pytest.param({"name": "ark:99999/x"}, 422, "naan-reserved-invalid", id="reserved NAAN"),
        pytest.param({"name": "ark:12345/x5?info"}, 422, "inflected-ark", id="inflection"),
        pytest.param({"name": "ark:12345/x51", "target": "javascript:alert(1)"}, 422, None, id="target"),
        pytest.param({"name": "ark:12345/x51", "metadata": {"title": "x"}}, 422, "metadata-key", id="element"),
        pytest.param({"name": "ark:12345/x51", "kind": "located"}, 422, None, id="no target"),
        pytest.param({"name": "ark:12345/x51", "target": URL, "resource": "a\0b"}, 422, "resource-text", id="NUL"),
        pytest.param({"name": "ark:12345/y1"}, 403, "not-granted", id="not granted"),
        pytest.param({"shoulder": "ark:12345/x57"}, 404, "shoulder-unknown", id="shoulder"),
        pytest.param({"shoulder": "12345"}, 403, "not-granted", id="NAAN"),
        pytest.param({"shoulder": "\u202e"}, 422, "rule-prefix", id="not a shoulder"),
    ],
)
def test_one_refused_name_refuses_all(curator, rows, wanted, status, code):
    before = rows()
    answer = curator("POST", "/names", {"names": [{"name": "ark:12345/x50"}, wanted]})
    assert_problem(answer, status, code or answer.json["code"])
    assert rows() == before


def test_a_name_twice_is_refused(curator, rows):
    before = rows()
    names = [{"name": "ark:12345/x51"}, {"name": "ark:/12345/x-51"}]
    assert_problem(curator("POST", "/names", {"names": names}), 422, "name-twice")
    assert rows() == before


def test_a_thousand_names_are_minted_at_once_and_not_one_more(curator, bindings):
    wanted = [{"shoulder": "ark:12345/x5", "target": f"{URL}/{number}"} for number in range(1000)]
    saved = curator.ok("POST", "/names", {"names": wanted}, status=201)["names"]
    assert len({each["name"]["identifier"] for each in saved}) == 1000
    assert [each["name"]["target"] for each in saved] == [each["target"] for each in wanted]
    assert_problem(curator("POST", "/names", {"names": [*wanted, wanted[0]]}), 422, "body-member")
    assert bindings.count().number == 1000


# Show -----------------------------------------------------------------------------------------------------------------


def test_a_name_is_shown_by_each_spelling(curator, name):
    for spelling in ("ark:12345/x51", "ark:/12345/x-51", "ARK:/12345/x51", "ark%3A12345%2Fx51"):
        assert curator.ok("GET", f"/names/{spelling}") == name
    assert_problem(curator("GET", "/names/ark:12345/x52"), 404, "not-bound")


def test_the_entity_tag_changes_with_each_change(curator, name):
    first = etag(curator)
    assert curator("GET", NAME, If_None_Match=first).status_code == 304
    assert curator("GET", NAME, If_None_Match=f'"a", W/{first}').status_code == 304
    changed = curator("PATCH", NAME, {"metadata": {"what": "Ark"}})
    assert changed.headers["ETag"] == etag(curator) != first
    assert curator("GET", NAME, If_None_Match=first).status_code == 200


def test_the_history_has_each_change(curator, name):
    curator.ok("PATCH", NAME, {"metadata": {"who": None}})
    curator.ok("POST", f"{NAME}/withdraw", {"reason": "twice"})
    events = curator.ok("GET", f"{NAME}/history")["events"]
    assert [(each["action"], each["actor"], each["revision"]) for each in events] == [
        ("bound", "curator", 1), ("updated", "curator", 2), ("withdrawn", "curator", 3),
    ]  # fmt: skip
    assert (events[0]["before"], events[0]["after"]) == (None, name)
    assert_problem(curator("GET", "/names/ark:12345/x52/history"), 404, "not-bound")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "methods"),
    [
        pytest.param(NAME, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT", id="name"),
        pytest.param(f"{NAME}/history", "GET, HEAD, OPTIONS", id="history"),
        pytest.param(f"{NAME}/withdraw", "OPTIONS, POST", id="withdraw"),
    ],
)
def test_another_method_is_refused_with_the_permitted_ones(curator, name, path, methods):
    for method in {"GET", "PUT", "PATCH", "DELETE", "POST", "OPTIONS", "TRACE"} - set(methods.split(", ")):
        for address in (path, path.replace("ark:12345/x51", "0")):
            refused = curator(method, address, {"target": URL})
            assert_problem(refused, 405, "method-not-allowed")
            if method != "TRACE":
                assert sorted(refused.headers["Allow"].split(", ")) == methods.split(", ")
    answer = curator("OPTIONS", path)
    assert (answer.status_code, answer.data, sorted(answer.headers["Allow"].split(", "))) == (
        200,
        b"",
        methods.split(", "),
    )
    assert curator("HEAD", NAME).data == b""


# Replace, change and delete -------------------------------------------------------------------------------------------


def test_put_replaces_all_values(curator, name):
    fields = {"target": OTHER, "resource": "map 1", "metadata": {"dc.title": "Ark"}, "redirect": 307}
    replaced = curator.ok("PUT", NAME, fields)
    assert replaced["metadata"] == {"dc.title": "Ark"}
    assert (replaced["target"], replaced["redirect"], replaced["resource"]) == (OTHER, 307, "map 1")
    assert curator.ok("PUT", NAME, {"target": OTHER, "resource": "map 1"})["redirect"] == 302


def test_put_of_another_thing_is_a_conflict(curator, name, rows):
    before = rows()
    for fields in ({"target": OTHER}, {"target": URL, "resource": "map 2"}):
        problem = assert_problem(curator("PUT", NAME, fields), 409, curator("PUT", NAME, fields).json["code"])
        assert problem["existing"] == name
    assert rows() == before


def test_a_reserved_name_is_made_live_and_cannot_be_deleted_then(curator):
    assert curator.ok("PUT", NAME, {"state": "reserved"}, status=201)["state"] == "reserved"
    assert curator.ok("PATCH", NAME, {"state": "live", "target": URL})["state"] == "live"
    assert_problem(curator("DELETE", NAME), 409, "delete-public")
    assert_problem(curator("PUT", NAME, {"state": "reserved"}), 409, "reserve-public")


def test_a_reserved_name_is_deleted(curator):
    curator.ok("PUT", NAME, {"state": "reserved"}, status=201)
    answer = curator("DELETE", NAME)
    assert (answer.status_code, answer.data) == (204, b"")
    assert_problem(curator("GET", NAME), 404, "not-bound")
    assert [each["action"] for each in curator.ok("GET", f"{NAME}/history")["events"]] == ["reserved", "deleted"]


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        pytest.param({"metadata": {"erc.who": None}}, {"metadata": {}}, id="null deletes an element"),
        pytest.param({"metadata": {"who": ""}}, {"metadata": {}}, id="so does an empty text"),
        pytest.param(
            {"metadata": {"what": "Ark"}}, {"metadata": {"erc.who": "Noah", "erc.what": "Ark"}}, id="an element"
        ),
        pytest.param({"target": OTHER, "resource": "map 1"}, {"target": OTHER}, id="target, with the resource"),
        pytest.param(
            {"target": None, "resource": "map 1"}, {"target": None, "kind": "described"}, id="null removes the target"
        ),
        pytest.param({"redirect": 307}, {"redirect": 307}, id="redirect"),
        pytest.param(
            {"numbers": {"current": "7", "further": ["8"], "former": None}},
            {"numbers": {"current": "7", "further": ["8"], "former": []}}, id="numbers",
        ),
        pytest.param({"passthrough": True, "resource": "map 1"}, {"passthrough": True}, id="passthrough"),
        pytest.param(
            {"alternates": {"text/html;en": OTHER}, "resource": "map 1"},
            {"alternates": {"text/html;en": OTHER}}, id="alternate",
        ),
    ],
)  # fmt: skip
def test_patch_changes_only_the_members_that_it_has(curator, name, patch, changed):
    after = curator.ok("PATCH", NAME, patch)
    ignored = {"changed", "revision"}
    assert {key: value for key, value in after.items() if key not in ignored} == {
        key: value for key, value in (name | changed).items() if key not in ignored
    }


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ({"numbers": None}, {"current": "map 1", "further": [], "former": []}),
        ({"numbers": {"further": None}}, {"current": "7", "further": [], "former": ["6"]}),
        ({"numbers": {"former": None, "current": None}}, {"current": "map 1", "further": ["8"], "former": []}),
    ],
)
def test_null_in_a_patch_deletes_numbers(curator, name, patch, after):
    curator.ok("PATCH", NAME, {"numbers": {"current": "7", "further": ["8"], "former": ["6"]}})
    assert curator.ok("PATCH", NAME, patch)["numbers"] == after


def test_patch_of_an_unknown_name_is_404(curator, rows):
    before = rows()
    assert_problem(curator("PATCH", NAME, {"redirect": 307}), 404, "not-bound")
    assert rows() == before


# Conditions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("PUT", NAME, {"target": URL, "resource": "map 1"}, id="put"),
        pytest.param("PATCH", NAME, {"redirect": 307}, id="patch"),
        pytest.param("POST", f"{NAME}/relocate", {"target": OTHER}, id="relocate"),
        pytest.param("POST", f"{NAME}/withdraw", None, id="withdraw"),
        pytest.param("POST", f"{NAME}/restore", None, id="restore"),
        pytest.param("DELETE", NAME, None, id="delete"),
    ],
)
def test_a_change_of_another_version_is_refused(curator, name, rows, method, path, body):
    old = etag(curator)
    current = curator.ok("PATCH", NAME, {"metadata": {"what": "Ark"}})
    before = rows()
    for fields in (
        {"If_Match": old},
        {"If_Match": f"W/{etag(curator)}"},
        {"If_Match": "nonsense"},
        {"If_Match": ""},
        {"If_None_Match": "*"},
        {"If_None_Match": etag(curator)},
    ):
        problem = assert_problem(curator(method, path, body, **fields), 412, "revision-stale")
        assert problem["existing"] == current
    assert rows() == before
    done = curator(method, path, body, If_Match=f'"a", {etag(curator)}')
    assert done.status_code == (409 if method == "DELETE" else 200)


def test_a_name_that_must_not_exist_is_created_once(curator):
    assert curator("PUT", NAME, {"target": URL}, If_None_Match="*").status_code == 201
    assert_problem(curator("PUT", NAME, {"target": URL}, If_None_Match="*"), 412, "revision-stale")
    other = "/names/ark:12345/x52"
    problem = assert_problem(curator("PUT", other, {"target": URL}, If_Match="*"), 412, "revision-stale")
    assert problem["existing"] is None
    assert curator("GET", other).status_code == 404


def test_a_change_between_the_check_and_the_transaction_is_noticed(curator, name, bindings, monkeypatch):
    save = changes.save

    def later(*arguments, **options):
        bindings.bind("ark:12345/x51", URL, resource="map 1", metadata={"what": "Ark"})
        return save(*arguments, **options)

    monkeypatch.setattr(changes, "save", later)
    fields = {"target": OTHER, "resource": "map 1"}
    assert_problem(curator("PUT", NAME, fields, If_Match=etag(curator)), 412, "revision-stale")
    assert bindings.lookup("ark:12345/x51").target == URL


# Withdraw, restore, relocate ------------------------------------------------------------------------------------------


def test_a_name_is_withdrawn_and_restored(curator, name):
    withdrawn = curator.ok("POST", f"{NAME}/withdraw", {"reason": "twice", "successor": "ark:12345/x52"})
    assert (withdrawn["state"], withdrawn["reason"], withdrawn["successor"]) == ("withdrawn", "twice", "ark:12345/x52")
    assert curator.ok("POST", f"{NAME}/withdraw")["revision"] == withdrawn["revision"]
    assert_problem(curator("POST", f"{NAME}/restore", {"resource": "map 2"}), 409, "other-resource")
    assert curator.ok("POST", f"{NAME}/restore", {"resource": "map 1"})["state"] == "live"


def test_a_name_is_relocated_without_its_resource(curator, name):
    assert curator.ok("POST", f"{NAME}/relocate", {"target": OTHER})["target"] == OTHER
    assert_problem(curator("POST", f"{NAME}/relocate", {}), 422, "body-member")
    assert_problem(curator("POST", f"{NAME}/relocate", {"target": "ftp://a.example/"}), 422, "target-scheme")


# List -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(shared):
    """A reader of several names, which no test changes."""
    names = [{"name": f"ark:12345/x5{number}", "target": f"https://a.example/{number}"} for number in range(5)]
    texts = {"what": "Old map of M\u00fcnchen", "who": "Noah"}
    place = {"target": "https://b.example/", "resource": "INV 1901/0001"}
    names += [{"name": "ark:12345/y1", **place, "metadata": texts}]
    names += [{"name": "urn:example:a", "state": "reserved"}]
    shared("administrator").ok("POST", "/names", {"names": names}, status=201)
    return shared("reader")


def identifiers(client, query):
    return [name["identifier"] for name in client.ok("GET", f"/names?{query}")["names"]]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("prefix=ark:12345/x5", 5),
        ("prefix=ark:/12345/x-51", 1),
        ("state=reserved", 1),
        ("state=withdrawn", 0),
        ("target=A.example", 5),
        ("target=https://b.example/", 1),
        ("q=old%20m%C3%BCn", 1),
        ("changed_since=2026-11-22", 7),
        ("changed_since=2126-11-22T00:00:00%2B01:00", 0),
        ("prefix=ark:12345/&state=live&target=b.example", 1),
        ("q=uenche", 1),
        ("q=example/3", 1),
        ("resource=INV%201901/0001", 1),
        ("resource=INV%201901", 0),
        ("resource_prefix=INV%201901", 1),
        ("q=inv-1901-0001", 1),
        ("metadata=who%3DNoah", 1),
        ("metadata=erc.who%3Dnoah", 0),
    ],
)
def test_names_are_selected(many, query, found):
    assert len(identifiers(many, query)) == found


@pytest.mark.parametrize(("sort", "first"), [("title", "ark:12345/y1"), ("-name", "urn:example:a")])
def test_names_are_sorted_and_counted(many, sort, first, monkeypatch):
    page = many.ok("GET", f"/names?sort={sort}&limit=1")
    assert [each["identifier"] for each in page["names"]] == [first]
    assert (page["total"], page["total_is_exact"]) == (7, True)
    monkeypatch.setattr(view, "MAX_TOTAL", 3)
    page = many.ok("GET", "/names?q=example")
    assert (page["total"], page["total_is_exact"]) == (3, False)


def test_a_search_of_too_many_names_has_a_page_and_a_cursor(many, monkeypatch):
    """It never fails: the names that were found, and the place from which the next page goes on."""
    for name, value in (("_FEW_MATCHES", 0), ("_FEW_NAMES", 0), ("_MOST_WALKED", 1), ("SEARCH_SECONDS", -1)):
        monkeypatch.setattr(storage_listing, name, value)
    query = "/names?hold=no&sort=name"
    page, found, pages = many.ok("GET", query), [], 1
    assert page["searched"] is not None
    assert (page["total"], page["total_is_exact"]) == (2, False)
    while True:
        found += [each["identifier"] for each in page["names"]]
        if page["next"] is None:
            break
        page, pages = many.ok("GET", f"{query}&after={page['next']}"), pages + 1
    assert page["searched"] is None
    assert (found, pages) == (identifiers(many, "sort=name"), 4)


def test_names_of_one_page_are_not_counted_again(many, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(Bindings, "count_names", refuse)
    page = many.ok("GET", "/names?metadata=who%3DNoah&sort=title")
    assert (page["total"], page["total_is_exact"]) == (1, True)


def test_pages_are_linked_and_complete(many):
    path, seen = "/names?prefix=ark:12345/x5&limit=2", []
    while path:
        answer = many("GET", path)
        seen += [name["identifier"] for name in answer.json["names"]]
        link = re.fullmatch(r'<(/api/v1)(.*)>; rel="next"', answer.headers.get("Link", ""))
        assert bool(link) == (answer.json["next"] is not None)
        path = link and link[2]
    assert seen == [f"ark:12345/x5{number}" for number in range(5)]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "parameter"),
        ("limit=1001", "parameter"),
        ("limit=%2B1", "parameter"),
        ("limit=1_0", "parameter"),
        ("limit=%D9%A3", "parameter"),
        ("limit=1e1", "parameter"),
        ("limit=", "parameter"),
        (f"limit={'9' * 5000}", "parameter"),
        ("limit=1&limit=1", "parameter-twice"),
        ("colour=red", "parameter-unknown"),
        ("q%E2%80%AE=1", "parameter-unknown"),
        ("changed_since=yesterday", "parameter"),
        ("changed_since=0001-01-01T00:00:00%2B14:00", "parameter"),
        ("changed_since=", "parameter"),
        ("state=dead", "list-state"),
        ("state=", "list-state"),
        ("prefix=maps", "list-prefix"),
        ("prefix=", "list-prefix"),
        ("q=", "list-text"),
        ("q=%00", "list-text"),
        ("resource=", "list-resource"),
        ("metadata=who", "list-metadata"),
        ("sort=target", "list-sort"),
        ("q=%FF", "not-utf-8"),
        ("%FF=1", "not-utf-8"),
        ("after=zz", "list-after"),
        ("after=", "list-after"),
        ("after=WyJhIl0&target=a.example", "list-after"),
        ("target=%00", "list-target"),
        ("target=", "parameter"),
    ],
)
def test_parameters_that_cannot_be_read_are_refused(many, query, code):
    assert_problem(many("GET", f"/names?{query}"), 400, code)


@pytest.mark.parametrize(
    "text", ["ark:12345/x51", "12345/x5-1", "https://n2t.net/ark:/12345/x51", "http://localhost/ark:12345/x51?info"]
)
def test_a_search_for_an_identifier_lists_its_name_first(curator, name, text):
    curator.ok("PUT", "/names/ark:12345/x50", {"target": OTHER, "metadata": {"what": f"Copy of {text}"}}, status=201)
    page = curator.ok("GET", f"/names?{urlencode({'q': text})}")
    assert [each["identifier"] for each in page["names"]] == ["ark:12345/x51", "ark:12345/x50"]
    assert page["total"] == 2


def test_near_names_are_marked(curator, bindings):
    bindings.bind("ark:12345/x5near", "https://m.example/1", resource="OB 2026/0017", metadata={"what": "The harbour"})
    page = curator("GET", "/names?q=OB%202026-17").json
    assert ([each["resource"] for each in page["names"]], page["near"], page["total"]) == (["OB 2026/0017"], True, 0)
    assert "another spelling" in page["note"]
    cut = curator("GET", "/names?q=OB%202026-17&limit=1").json
    assert (cut["near"], len(cut["names"])) == (True, 1)
    page = curator("GET", "/names?q=harbour").json
    assert (page["near"], page["note"], page["total"]) == (False, None, 1)
