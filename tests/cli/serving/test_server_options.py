"""Options of ``ararat serve``: an option that is declared once works on the command line, in variables and in pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.cli.serving import application, server_options
from ararat.cli.serving.application import Placement, compose
from ararat.cli.serving.serve import serve_command
from ararat.middleware import Bindings, open_bindings
from ararat.middleware.resolution.declared_settings import describe_settings, setting
from ararat.webapp import create_app
from ararat.webapp import settings as inspector
from ararat.webapp.config import site

GREETING = ("greeting", str, setting("Hello", "The greeting of the home page.", metavar="TEXT", option="--greet"))
WAIT = server_options.ServerOption(name="--wait", metavar="N", type=click.INT, default=3, text="The seconds to wait.")

Parse = Callable[..., Mapping[str, Any]]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An option of the inspector and one of the server, each declared at one place."""
    more = dataclasses.make_dataclass(
        "InspectorSettings", [GREETING], bases=(inspector.InspectorSettings,), frozen=True, slots=True, kw_only=True
    )
    monkeypatch.setattr(inspector, "InspectorSettings", more)
    monkeypatch.setattr(server_options, "SERVER_OPTIONS", (*server_options.SERVER_OPTIONS, WAIT))


@pytest.fixture
def parse(declared: None) -> Parse:
    """parse(*arguments, **variables) returns the values of the options of a command with all declared options."""

    def parsed(*arguments: str, **variables: str) -> Mapping[str, Any]:
        values: dict[str, Any] = {}
        policies = next(each for each in serve_command.params if each.name == "profiles")
        command = click.command("serve")(
            server_options.server_options(server_options.resolver_options(lambda **given: values.update(given)))
        )
        command.params.append(policies)
        result = CliRunner().invoke(command, arguments, env=variables)
        assert result.exit_code == 0, result.output
        return values

    return parsed


@pytest.fixture
def bindings(tmp_path: Any) -> Iterator[Bindings]:
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as opened:
        yield opened


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "variables", "greeting"),
    [
        ((), {}, "Hello"),
        (("--greet", "Good day"), {}, "Good day"),
        ((), {"ARARAT_GREET": "Good night"}, "Good night"),
    ],
    ids=["default", "option", "variable"],
)
def test_a_new_option_of_the_inspector_reaches_its_views(parse, bindings, arguments, variables, greeting):
    options = parse(*arguments, **variables)
    chosen = application.inspector_settings(options)
    app = create_app(bindings, **chosen)
    app.add_url_rule("/greeting", view_func=lambda: site().settings.greeting)  # type: ignore[attr-defined]
    assert app.test_client().get("/greeting").text == greeting
    place = Placement(prefix="https://ids.example", address="http://127.0.0.1:8000")
    assert Client(compose(bindings, place, chosen)).get("/").status_code == 200


def test_a_new_option_of_the_server_is_an_option_and_a_variable(parse):
    assert parse()["wait"] == 3
    assert parse("--wait", "5")["wait"] == 5
    assert parse(ARARAT_WAIT="7")["wait"] == 7


def test_each_option_of_the_inspector_has_the_text_of_its_setting():
    by_name = {option.name: option for option in serve_command.params}
    for each in describe_settings(inspector.InspectorSettings):
        if each.has_option:
            option = by_name[each.name]
            assert isinstance(option, click.Option)
            assert (option.help or "").startswith(each.text), each.name
            assert option.opts == [each.option]


def test_each_setting_has_its_value_from_the_options(bindings):
    options = serve_command.make_context(
        "serve",
        [
            *("--no-trace-elsewhere", "--allow-network", "10.0.0.0/8", "--deny-network", "192.0.2.0/24"),
            *("--resolver", "https://n2t.net", "--session-idle", "90", "--resource-label", "Shelfmark"),
            *("--ezid-passthrough", "no", "--threads", "12", "--institution", "A library", "--languages", "de"),
        ],
    ).params
    given = {"institution": "A library", "languages": ("de",)}
    chosen = application.inspector_settings(options)
    assert application.resolver_settings(options) == given
    settings = create_app(bindings, **chosen).extensions["ararat"].settings
    assert (settings.trace_elsewhere, settings.session_idle, settings.threads) == (False, 90, 12)
    assert (settings.resource_label, settings.ezid_passthrough) == ("Shelfmark", "no")
    assert [str(each) for each in settings.destinations.networks] == ["10.0.0.0/8"]
    assert [str(each) for each in settings.destinations.denied] == ["192.0.2.0/24"]
    assert [each.prefix for each in settings.offered] == ["https://n2t.net"]
    place = Placement(prefix="https://ids.example", address="http://127.0.0.1:8000")
    page = Client(compose(bindings, place, chosen, given)).get("/")
    assert "A library" in page.text
    assert page.content_language.as_set() == {"de"}
