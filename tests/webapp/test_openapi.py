"""The description of the API: it is the code's, and what answers agrees with it, whatever is asked."""

from __future__ import annotations

import re
from http import HTTPStatus

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from ararat.identifiers import examine
from ararat.webapp import create_app, openapi
from ararat.webapp.comparison import compare

# Whatever is asked, no other host is.
APP = create_app(trace_elsewhere=False)
DESCRIPTION = schemathesis.openapi.from_wsgi("/api/openapi.json", APP)
OPERATIONS = {found.ok().label: found.ok() for found in DESCRIPTION.get_all_operations() if isinstance(found, Ok)}

# That a text is an identifier or a sitemap, or that there are two, is more than a schema can say.
BEYOND = {
    f"{method} /api/{name}": [positive_data_acceptance]
    for method, name in [
        ("GET", "trace"),
        ("POST", "traces"),
        ("GET", "compare"),
        ("GET", "policy"),
        ("POST", "policy"),
    ]
}


def test_every_address_below_api_is_described_with_its_methods_and_nothing_else_is():
    known = {
        (re.sub(r"<(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in APP.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert known == {(path, method) for path, methods in openapi.PATHS.items() for method in methods}


def test_the_schema_of_a_report_has_its_fields():
    assert openapi.SCHEMAS["Report"]["required"] == list(examine("ark:12345/x").as_dict())
    assert openapi.SCHEMAS["Comparison"]["required"] == list(compare("ark:12345/x", "").as_dict())


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_what_answers_agrees_with_the_description(operation):
    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(case=operation.as_strategy())
    def agrees(case):
        case.call_and_validate(excluded_checks=BEYOND.get(operation.label, []))

    agrees()


def test_the_description_names_the_address_at_which_the_application_is_mounted():
    mounted = APP.test_client().get("/api/openapi.json", base_url="http://localhost/ids").json
    assert (mounted or {})["servers"] == [{"url": "/ids"}]


def test_every_error_that_is_described_is_an_error():
    for path, methods in openapi.PATHS.items():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                described = "application/problem+json" in response.get("content", {})
                assert described == (HTTPStatus(int(status)) >= 400), path
