"""Settings: valid values, and errors for invalid values before the first request."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ararat.identifiers import parse
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.settings import Settings, SettingsArguments


def test_arguments_of_the_middleware_have_the_names_and_types_of_the_settings():
    types = {field.name: field.type for field in dataclasses.fields(Settings) if field.init}
    assert {name: kind.__forward_arg__ for name, kind in SettingsArguments.__annotations__.items()} == types


def test_middleware_describes_every_setting():
    described = re.findall(r"^ *:param (\w+):", ResolverMiddleware.__doc__ or "", re.MULTILINE)
    assert set(described) == {"app", "bindings", "on_resolve", *SettingsArguments.__annotations__}


def test_middleware_rejects_an_unknown_setting(held):
    with pytest.raises(TypeError, match=r"there is no setting prefixes; did you mean prefix\?"):
        ResolverMiddleware(None, held(), prefixes="https://example.org")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"there is no setting xyz\Z"):
        ResolverMiddleware(None, held(), xyz=1)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("path", ["bindings.sqlite", Path("bindings.sqlite")])
def test_middleware_rejects_a_path_that_is_not_opened(path):
    with pytest.raises(TypeError, match=r"'bindings.sqlite' is a path or URL: pass the result of open_bindings"):
        ResolverMiddleware(lambda environ, start_response: [], path)


# ARK-043, ARK-046, ARK-087
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        pytest.param({"prefix": "ftp://x"}, "prefix: ftp://x does not begin with http:// or https://", id="prefix"),
        pytest.param(
            {"prefix": "https://x.example/?q"},
            "prefix: a resolver prefix cannot have a query",
            id="prefix with a query",
        ),
        pytest.param(
            {"also": "https://x.example"},
            "also: 'https://x.example' is a text, but a list is expected",
            id="also, one text",
        ),
        pytest.param({"also": ["x"]}, "also: x does not begin", id="also"),
        pytest.param({"naans": ["1234l"]}, "naans: '1234l' is not a NAAN: a NAAN cannot contain 'l'", id="no NAAN"),
        pytest.param({"naans": ["12345/x"]}, "naans: '12345/x' is not a NAAN", id="more than a NAAN"),
        pytest.param({"naans": ["9-9999"]}, "naans: NAAN 99999 is reserved for invalid ARKs", id="NAAN 99999"),
        pytest.param({"naans": "12345"}, "naans: '12345' is a text", id="NAANs, one text"),
        pytest.param({"forward": True}, "forward: the NAANs of this resolver are missing", id="forward without naans"),
        pytest.param({"forward": True, "naans": ["12345"]}, "forward: the prefix is missing", id="forward to itself"),
        pytest.param({"schemes": ["doi"]}, "schemes: 'doi' is not one of ark, urn", id="unknown scheme"),
        pytest.param({"schemes": []}, "schemes: the list is empty", id="no scheme"),
        pytest.param({"max_length": 254}, "max_length: a limit of 254 is below 255", id="length"),
        pytest.param({"cache": -1}, "cache: -1 is out of range", id="cache"),
        pytest.param({"cors": "https://a.example"}, "cors: 'https://a.example' is a text", id="cors as a text"),
        pytest.param({"cors": []}, "cors: the list is empty", id="cors without origins"),
        pytest.param({"cors": ["https://a.example/x"]}, "cors: 'https://a.example/x' has a", id="cors with a path"),
        pytest.param({"referrer_policy": "none\r\nX: y"}, "referrer_policy: ", id="no referrer policy"),
        pytest.param({"languages": "en"}, "languages: 'en' is a text", id="languages as a text"),
        pytest.param({"languages": []}, "languages: the list is empty", id="no language"),
        pytest.param({"languages": ["tlh"]}, "languages: 'tlh' is not one of en, de", id="language"),
        pytest.param({"institution": "a\nb"}, "institution: the text has the control", id="institution"),
        pytest.param({"contact": "x" * 401}, "contact: the text has 401 characters", id="contact"),
        pytest.param({"statement": "x" * 1001}, "statement: the text has 1,001 characters", id="statement"),
        pytest.param({"colour": "red;}"}, "colour: red;} is not a colour; set a colour such as", id="colour"),
        pytest.param({"logo": "//evil.example/x.png"}, "logo: the logo is not usable", id="logo of another site"),
        pytest.param({"logo": "https://evil.example/x"}, "logo: https://evil.example/x is not a file", id="logo URL"),
        pytest.param({"logo": "javascript:alert(1)"}, "logo: the logo is not usable", id="logo as a program"),
        pytest.param({"logo": "data:image/svg+xml;base64,PHN2Zz4="}, "logo: data:image/svg", id="logo as SVG data"),
        pytest.param(
            {"hsts": "max-age=1\r\nX: y"}, "hsts: 'max-age=1\\r\\nX: y' is not valid", id="hsts with another field"
        ),
        pytest.param({"hsts": "includeSubDomains"}, "hsts: 'includeSubDomains' is not", id="hsts without an age"),
        pytest.param(
            {"inspector": "javascript:alert(1)"},
            "inspector: javascript:alert(1) does not begin with http",
            id="inspector",
        ),
        pytest.param(
            {"inspector": "//evil.example"},
            "inspector: //evil.example has no scheme",
            id="inspector, half an address",
        ),
        pytest.param({"inspector": "/?q="}, "inspector: '/?q=' has a query", id="inspector with a query"),
        pytest.param(
            {"inflections": {"?info": "x"}}, "inflections: '?info' is reserved for the description", id="?info"
        ),
        pytest.param(
            {"inflections": {"?%69nfo": "x"}},
            "inflections: '?%69nfo' is reserved for",
            id="?info, encoded",
        ),
        pytest.param({"inflections": {"?": "x"}}, "inflections: '?' is reserved for the description", id="?"),
        pytest.param({"inflections": {"??": "x"}}, "inflections: '??' is reserved for the description", id="??"),
        pytest.param(
            {"inflections": {"cite": "x"}},
            "inflections: 'cite' does not begin with a question mark",
            id="no inflection",
        ),
        pytest.param({"inflections": {"?a b": "x"}}, "inflections: '?a b' contains characters", id="no query"),
        pytest.param({"inflections": {"?cite": " "}}, "inflections: '?cite' has no description", id="no description"),
        pytest.param({"inflections": {"?c": "a\nb"}}, "inflections: '?c' has no description", id="two lines"),
        pytest.param(
            {"inflections": {"?gclid": "x"}}, "inflections: '?gclid' contains a parameter", id="ignored inflection"
        ),
        pytest.param({"inflections": {"?a": "x", "?%61": "y"}}, "inflections: '?%61' occurs twice", id="twice"),
        pytest.param(
            {"ignored_parameters": "utm_*"}, "ignored_parameters: 'utm_*' is a text", id="parameters, one text"
        ),
    ],
)
def test_wrong_setting_raises_an_error_with_its_name(setting, said):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is what is tested
        Settings(**setting)
    assert str(refused.value).startswith(said)


def test_inflections_are_stored_in_normal_form_with_those_of_the_draft():
    settings = Settings(inflections={"?%63ite%2f": "A citation"})
    assert settings.inflections == {"?cite%2F": "A citation"}
    assert list(settings.all_inflections) == ["?", "??", "?info", "?cite%2F"]


def test_prefixes_and_naans_are_stored_in_normal_form():
    settings = Settings(prefix="HTTPS://R.example/", also=["http://r.example/a/"], naans=["1-2345"])
    assert settings.own_prefixes == ("https://r.example", "http://r.example/a")
    assert settings.naans == {"12345"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("/", "", id="the site itself"),
        pytest.param("/inspect", "/inspect", id="path"),
        pytest.param("/inspect/", "/inspect", id="path with a slash"),
        pytest.param("https://inspect.example/", "https://inspect.example", id="address"),
    ],
)
def test_the_inspector_has_no_final_slash(given, kept):
    assert Settings(inspector=given).inspector == kept


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        pytest.param("utm_source=x&fbclid=y", None, id="all of them"),
        pytest.param("page=2&utm_medium=x", "page=2", id="one of two"),
        pytest.param("fbclid=y&info", "info", id="an inflection that was shared"),
        pytest.param("&fbclid=y", None, id="a bare question mark that was shared"),
        pytest.param("fbclid", None, id="no value"),
        pytest.param("%66bclid=1", None, id="encoded name"),
        pytest.param("FBCLID=1", "FBCLID=1", id="other case"),
        pytest.param("xfbclid=1&utm=2", "xfbclid=1&utm=2", id="other names"),
        pytest.param("", "", id="bare question mark"),
        pytest.param("?", "?", id="two question marks"),
        pytest.param("a&&b", "a&&b", id="nothing dropped, nothing changed"),
    ],
)
def test_tracking_parameters_are_ignored(query, rest):
    assert Settings().without_ignored(query) == rest


def test_ignored_parameters_is_a_setting():
    settings = Settings(ignored_parameters=["sid"])
    assert settings.without_ignored("sid=1&fbclid=2") == "fbclid=2"
    assert Settings(ignored_parameters=()).without_ignored("fbclid=2") == "fbclid=2"


def test_naans_excludes_arks_of_other_naans():
    settings = Settings(naans=["12345", "b5072"])
    assert settings.naan_refusal(parse("ark:12-345/x")) is None  # type: ignore[arg-type]
    assert settings.naan_refusal(parse("urn:foo:a")) is None  # type: ignore[arg-type]
    refusal = settings.naan_refusal(parse("ark:67531/x"))  # type: ignore[arg-type]
    assert refusal == "this resolver answers for NAAN 12345, b5072, not for NAAN 67531"
