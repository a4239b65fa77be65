"""The description of the API agrees with the code and with all responses."""

from __future__ import annotations

import re
from http import HTTPStatus

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ararat.identifiers import examine
from ararat.webapp import create_app, openapi
from ararat.webapp.report.comparison import compare
from ararat.webapp.report.inspection import verdicts

# No request goes to another host.
APP = create_app(trace_elsewhere=False, policies=["17beta"])
# The document itself describes the others.
LABELS = [
    f"{method.upper()} {path}"
    for path, methods in openapi.PATHS.items()
    for method in methods
    if path != "/api/openapi.json"
]

# A schema cannot express that a text is an identifier or a sitemap.
BEYOND = {
    f"{method} /api/{name}"
    for method, name in [
        ("GET", "trace"),
        ("POST", "traces"),
        ("GET", "policy"),
        ("POST", "policy"),
    ]
}


def test_every_api_url_and_method_is_described():
    known = {
        (re.sub(r"<(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in APP.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert known == {(path, method) for path, methods in openapi.PATHS.items() for method in methods}


def test_without_a_policy_its_path_is_not_described():
    described = create_app(trace_elsewhere=False).test_client().get("/api/openapi.json").json
    assert described
    assert openapi.PATHS.keys() - described["paths"].keys() == {"/api/policy"}


def test_the_schema_of_a_report_has_its_fields():
    assert openapi.SCHEMAS["Report"]["required"] == list(examine("ark:12345/x").as_dict())
    compared = compare("ark:12345/x", "")
    document = compared.as_dict(verdicts((compared.a, compared.b), None))
    assert openapi.SCHEMAS["Comparison"]["required"] == list(document)
    assert openapi.SCHEMAS["Verdict"]["required"] == list(document["a"]["verdict"])


@pytest.fixture(scope="module")
def operations():
    """Return the schema of Schemathesis. It is loaded here, because it takes seconds."""
    import schemathesis
    from schemathesis.core.result import Ok

    description = schemathesis.openapi.from_wsgi("/api/openapi.json", APP)
    return {found.ok().label: found.ok() for found in description.get_all_operations() if isinstance(found, Ok)}


def test_every_operation_has_a_request(operations):
    assert set(operations) == set(LABELS)


@pytest.mark.one_setup
@pytest.mark.parametrize("label", LABELS)
def test_answers_match_the_description(operations, label):
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    operation, excluded = operations[label], [positive_data_acceptance] if label in BEYOND else []

    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(case=operation.as_strategy())
    def agrees(case):
        case.call_and_validate(excluded_checks=excluded)

    agrees()


def test_the_description_contains_the_mount_point():
    mounted = APP.test_client().get("/api/openapi.json", base_url="http://localhost/ids").json
    assert (mounted or {})["servers"] == [{"url": "/ids"}]


def test_every_described_error_is_an_error():
    for path, methods in openapi.PATHS.items():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                described = "application/problem+json" in response.get("content", {})
                assert described == (HTTPStatus(int(status)) >= 400), path
