"""The description of the API agrees with the code and with all responses, also to requests that are not valid."""

from __future__ import annotations

import re
import tempfile
from http import HTTPStatus
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ararat.bindings.open import open_bindings
from ararat.bindings.storage.tables.account_tables import sign_ins
from ararat.webapp import create_app
from ararat.webapp.api import openapi
from tests.webapp.api.conftest import BASE, accounts_of

# The document itself describes the others.
LABELS = [
    f"{method.upper()} {path}"
    for path, methods in openapi.PATHS.items()
    for method in methods
    if path != f"{BASE}/openapi.json"
]


@pytest.fixture(scope="module")
def site():
    """Return a site with an administrator, and its header fields. Schemathesis calls it many times."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_bindings(Path(folder) / "b.sqlite", create=True) as bindings,
    ):
        app = create_app(bindings, trace_elsewhere=False)
        accounts_of(app).add("root", "administrator")
        _, secret = accounts_of(app).tokens.create("root", "test")
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17")
        bindings.prefixes.set("ark:12345/x5", what="Maps")
        yield app, {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def operations(site):
    """Return the schema of Schemathesis. It is loaded here, because it takes seconds."""
    import schemathesis
    from schemathesis.core.result import Ok

    app, fields = site
    description = schemathesis.openapi.from_wsgi(f"{BASE}/openapi.json", app, headers=fields)
    # A body that is not valid can also be too long, and then it is refused before it is read.
    rejection = description.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, str(HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value)]
    return {found.ok().label: found.ok() for found in description.get_all_operations() if isinstance(found, Ok)}


def test_every_url_and_method_is_described(site):
    app, _ = site
    known = {
        re.sub(r"<(?:\w+:)?(\w+)>", "{}", rule.rule) for rule in app.url_map.iter_rules() if rule.rule.startswith(BASE)
    }
    described = {re.sub(r"{\w+}", "{}", path) for path in openapi.PATHS}
    operations = {f"{BASE}/names/{{}}/{name}" for name in ("history", "withdraw", "restore", "relocate")}
    assert described == known | operations


def test_every_described_error_is_an_error():
    for path, methods in openapi.PATHS.items():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                described = "application/problem+json" in response.get("content", {})
                assert described == (HTTPStatus(int(status)) >= 400), path


def test_every_operation_has_a_request(operations):
    assert set(operations) == set(LABELS)


TABLES = ("text/csv", "text/tab-separated-values", "application/jsonl")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("examples", [2, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("label", LABELS)
def test_answers_match_the_description(operations, site, label, mode, examples):
    """Schemathesis sends requests that match the description, and requests with one mistake, to each operation."""
    from schemathesis.core.parameters import ParameterLocation
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    operation = operations[label]
    # A schema cannot express that a text is an identifier, a target or an entity tag.
    beyond = [positive_data_acceptance]

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
    def agrees(case):
        # Schemathesis knows that any body is a text in text/plain, but not in the media types of tables.
        negative = {place for place, part in case.meta.components.items() if part.mode.is_negative}
        # After a success, Schemathesis repeats the request with a wrong password, and expects 401, not 429.
        accounts_of(site[0]).run_in_transaction(lambda connection: connection.execute(sign_ins.delete()))
        is_text = negative == {ParameterLocation.BODY} and case.media_type in TABLES
        excluded = [*beyond, negative_data_rejection] if is_text else beyond
        case.call_and_validate(headers=site[1], excluded_checks=excluded)

    agrees()


def test_programs_that_write_clients_can_read_the_schemas(app, curator):
    """A generator leaves out an operation whose schema it cannot read, with all that refer to it."""
    documents = [curator.ok("GET", "/openapi.json"), app.test_client().get("/api/openapi.json").json]
    for document in documents:
        waiting = [document["components"]["schemas"], document["paths"]]
        while waiting:
            each = waiting.pop()
            if isinstance(each, dict):
                kinds = {type(value) for value in each.get("enum", ()) if value is not None}
                assert len(kinds) <= 1, each
                assert "const" not in each, each
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each
    assert documents[1]["security"] == []
    tags = {each["name"] for each in documents[0]["tags"]}
    for path, methods in documents[0]["paths"].items():
        for described in methods.values():
            assert set(described["tags"]) <= tags, path
            is_repeated = any(each["name"] == "Idempotency-Key" for each in described.get("parameters", ()))
            assert not is_repeated or "422" in described["responses"], path


def test_bytes_are_read_as_the_table_that_they_are(curator, app):
    tables = (
        b"identifier,target\nark:12345/x5a,/1\n",
        b'\xef\xbb\xbf{"identifier": "ark:12345/x5b", "target": "/2"}\n',
    )
    found = [curator.ok("POST", "/imports", each, 202, Content_Type="application/octet-stream") for each in tables]
    assert [each["format"] for each in found] == ["csv", "jsonl"]
