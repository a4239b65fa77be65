"""The names whose redirect a front server can give, and the settings that permit it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ararat.middleware import Bindings
from ararat.middleware.edge.redirects import EdgeRedirect, EdgeRedirects
from ararat.middleware.resolution.settings import Settings

PREFIX = "https://names.example"
TARGET = "https://example.org/1"


def redirect(bindings: Bindings, name: str, **settings: Any) -> EdgeRedirect | None:
    binding = bindings.lookup(name)
    assert binding is not None
    return EdgeRedirects(Settings(**{"prefix": PREFIX, **settings})).of(binding)


def test_a_live_name_has_both_spellings_and_the_fields_of_its_answer(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x-1", "/local", redirect=307, metadata={"dc.type": "Dataset"})
    found = redirect(bindings, "ark:12345/x1")
    assert found is not None
    assert found.paths == ("/ark:12345/x1", "/ark:/12345/x1")
    assert (found.status, found.location) == (307, f"{PREFIX}/local")
    assert found.links[0] == f'<{PREFIX}/ark:12345/x1?info>; rel="describedby"'
    assert found.further_links == ', <https://schema.org/Dataset>; rel="type"'


def test_a_urn_has_one_spelling_and_a_prefix_with_a_path_begins_the_paths(bindings: Bindings) -> None:
    bindings.bind("urn:isbn:0-451-45052-3", TARGET)
    found = redirect(bindings, "urn:isbn:9780451450524", prefix=f"{PREFIX}/r")
    assert found is not None
    assert found.paths == ("/r/urn:isbn:9780451450524",)
    assert found.address == f"{PREFIX}/r/urn:isbn:9780451450524"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"target": TARGET, "alternates": {"text/html": f"{TARGET}.html"}}, id="alternates"),
        pytest.param({"target": "/page", "kind": "served"}, id="served"),
        pytest.param({"kind": "described"}, id="described"),
    ],
)
def test_ararat_answers_for_names_without_a_plain_redirect(bindings: Bindings, given: dict[str, Any]) -> None:
    bindings.bind("ark:12345/x", **given)
    assert redirect(bindings, "ark:12345/x") is None


def test_ararat_answers_for_withdrawn_and_reserved_names(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x", TARGET)
    bindings.withdraw("ark:12345/x", reason="Lost")
    bindings.reserve("ark:12345/y", TARGET)
    assert redirect(bindings, "ark:12345/x") is None
    assert redirect(bindings, "ark:12345/y") is None


def test_ararat_answers_for_targets_and_schemes_that_the_settings_exclude(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x", f"{PREFIX}/ark:/12345/x")
    bindings.bind("ark:12345/y", "https://also.example/ark:/12345/y")
    assert redirect(bindings, "ark:12345/x") is None
    assert redirect(bindings, "ark:12345/y") is not None
    assert redirect(bindings, "ark:12345/y", also=["https://also.example"]) is None
    assert redirect(bindings, "ark:12345/y", schemes=["urn"]) is None


def test_a_long_address_has_another_link_field(bindings: Bindings) -> None:
    name = f"ark:12345/{'x' * 200}{'%E2%82%AC' * 40}"
    bindings.bind(name, TARGET)
    found = redirect(bindings, name)
    assert found is not None
    assert found.further_links is None


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ['https://e.example/";}', "https://e.example/{env.HOME}", "https://e.example/\n/x 1"]
)
def test_a_target_of_another_program_is_not_exported(bindings: Bindings, target: str) -> None:
    bindings.bind("ark:12345/x", TARGET)
    binding = bindings.lookup("ark:12345/x")
    assert binding is not None
    assert EdgeRedirects(Settings(prefix=PREFIX)).of(replace(binding, target=target)) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "prefix: the prefix is missing"),
        ({"prefix": PREFIX, "cors": ["https://other.example"]}, "cors: with a list of origins"),
    ],
)
def test_settings_without_plain_redirects_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EdgeRedirects(Settings(**settings))


def test_the_common_fields_follow_the_settings() -> None:
    settings = Settings(prefix=PREFIX, cors=False, cache=0, hsts="max-age=1", referrer_policy=None)
    assert EdgeRedirects(settings).fields == [
        ("Cache-Control", "max-age=0"),
        ("Vary", "No-Redirect"),
        ("X-Content-Type-Options", "nosniff"),
        ("Strict-Transport-Security", "max-age=1"),
    ]
