"""Settings of the inspector: each is declared once, and wrong values raise an error that names the setting."""

from __future__ import annotations

import dataclasses
import re

import pytest

from ararat.webapp import create_app
from ararat.webapp.settings import RESOURCE_LABEL, InspectorArguments, InspectorSettings, Resolver


def test_arguments_of_create_app_have_the_names_and_types_of_the_settings():
    types = {field.name: field.type for field in dataclasses.fields(InspectorSettings) if field.init}
    assert {name: kind.__forward_arg__ for name, kind in InspectorArguments.__annotations__.items()} == types


def test_create_app_describes_every_setting():
    described = re.findall(r"^ *:param (\w+): (?!none)", create_app.__doc__ or "", re.MULTILINE)
    assert described == ["bindings", *InspectorArguments.__annotations__]


def test_create_app_rejects_an_unknown_setting():
    with pytest.raises(TypeError, match="there is no setting prefixes"):
        create_app(prefixes="https://example.org")  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        pytest.param({"prefix": "ftp://x"}, "does not begin with http:// or https://", id="prefix"),
        pytest.param({"networks": ["nonsense"]}, "nonsense", id="network"),
        pytest.param({"denied_networks": ["10.0.0.0/99"]}, "10.0.0.0/99", id="denied network"),
        pytest.param({"resolvers": ["n2t.net"]}, "n2t.net", id="resolver"),
        pytest.param({"policies": ["unknown"]}, "unknown", id="policy"),
        pytest.param({"session_idle": 4}, "session_idle: 4 minutes is too short; set at least 5", id="session"),
        pytest.param({"resource_label": " "}, "resource_label: use 1 to 40 printable", id="empty label"),
        pytest.param({"resource_label": "x" * 41}, "resource_label: use 1 to 40 printable", id="long label"),
        pytest.param({"remote_user": "X-User"}, "letters and digits", id="user"),
        pytest.param({"remote_user_secret": "short"}, "remote_user_secret", id="secret"),
        pytest.param({"colour": "blue-ish"}, "institution, logo, contact, colour or statement", id="colour"),
        pytest.param({"openid": object()}, "openid: the URL of this inspector is missing", id="provider"),
        pytest.param({"statistics": "mysql://x"}, "statistics: ", id="statistics"),
        pytest.param({"ezid": "/ezid"}, "the EZID API needs a prefix, and bindings", id="EZID API"),
    ],
)
def test_a_wrong_setting_raises_an_error(setting, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        create_app(**setting)


def test_values_are_stored_in_normal_form():
    given = {"prefix": "HTTPS://Example.org/", "resolvers": ["https://n2t.net/", Resolver("Ours", "http://x.example")]}
    settings = InspectorSettings(**given, policies=["17beta"], resource_label=str(RESOURCE_LABEL), session_idle=90)
    assert settings.prefix == "https://example.org"
    assert settings.offered == (Resolver("n2t.net", "https://n2t.net"), Resolver("Ours", "http://x.example"))
    assert [each.name for each in settings.profiles] == ["17beta"]
    assert settings.resource_label is RESOURCE_LABEL
    assert settings.idle.total_seconds() == 90 * 60


@pytest.mark.parametrize("name", ["remote_user_secret", "first_secret", "openid", "statistics"])
def test_secrets_are_not_in_a_representation(name):
    assert name not in {field.name for field in dataclasses.fields(InspectorSettings) if field.repr}
