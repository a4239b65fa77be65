"""All kinds of prefixes do the same in all interfaces: NAANs, shoulders, and beginnings of URNs of any namespace."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from werkzeug.test import Client, TestResponse

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.prefixes.patterns import Pattern
from ararat.cli import main
from ararat.identifiers.urn.namespaces.bibliographic import german_check_digit
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts


@dataclass(frozen=True)
class Kind:
    """A prefix as a user writes it, its stored form, a prefix to mint below, and a form with its names."""

    given: str
    key: str
    below: str
    form: str
    minted: str
    title: str

    @property
    def name(self) -> str:
        """A name that begins with the prefix and is not bound."""
        return f"{self.key}q7" if self.below == self.given else f"{self.below}q7"


KINDS = [
    pytest.param(Kind("12345", "ark:12345/", "12345", "10^6+check", "ark:12345/[0-9]{7}", "NAAN"), id="NAAN"),
    pytest.param(
        Kind("ark:/12345/x-5", "ark:12345/x5", "ark:/12345/x-5", "29^4+name", "ark:12345/x5[0-9a-z]{5}", "shoulder"),
        id="shoulder",
    ),
    pytest.param(
        Kind("URN:NBN:", "urn:nbn:", "urn:nbn:fi:lb-", "10^7", "urn:nbn:fi:lb-[0-9]{7}", "URN namespace"),
        id="URN namespace",
    ),
    pytest.param(
        Kind(
            "URN:NBN:SE:UU:",
            "urn:nbn:se:uu:",
            "urn:nbn:SE:uu:diva-",
            "10^6",
            "urn:nbn:se:uu:diva-[0-9]{6}",
            "beginning of URNs",
        ),
        id="urn:nbn:se:uu:",
    ),
    pytest.param(
        Kind(
            "urn:nbn:DE:gbv:089-",
            "urn:nbn:de:gbv:089-",
            "urn:nbn:DE:gbv:089-",
            "10^9+nbn",
            "urn:nbn:de:gbv:089-[0-9]{10}",
            "beginning of URNs",
        ),
        id="urn:nbn:de:",
    ),
    pytest.param(
        Kind(
            "URN:CTS:greekLit:",
            "urn:cts:greekLit:",
            "URN:CTS:greekLit:",
            "29^5",
            "urn:cts:greekLit:[0-9a-z]{5}",
            "beginning of URNs",
        ),
        id="urn:cts:",
    ),
]
of_each_kind = pytest.mark.parametrize("kind", KINDS)

RULE = "https://rule.example/show?id=${pid}"


@dataclass
class Site:
    """A site with an administrator: its database, its names, its applications, and the token of the administrator."""

    file: Path
    bindings: Bindings
    accounts: Accounts
    secret: str

    @cached_property
    def app(self) -> Flask:
        return create_app(self.bindings, ezid="/ezid", prefix="https://ids.example.org")

    def command(self, *arguments: str) -> str:
        """Run a command, which must succeed, and return its output."""
        result = CliRunner(env={"ARARAT_DATABASE": str(self.file), "ARARAT_ACTOR": "ada"}).invoke(
            main.main, [*arguments]
        )
        assert result.exit_code == 0, result.output
        return result.output

    def ask(self, path: str) -> TestResponse:
        """Request a path of the resolver."""

        def site(environ: Any, start_response: Any) -> list[bytes]:
            start_response("404 Not Found", [])
            return []

        return Client(ResolverMiddleware(site, self.bindings)).get(path)

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        """Send a request of the administrator to the inspector with its APIs."""
        return self.app.test_client().open(
            path, method=method, json=body, headers={"Authorization": f"Bearer {self.secret}"}, **options
        )


@pytest.fixture
def make_site(tmp_path: Path, open_store: Callable[..., Bindings]) -> Callable[..., Site]:
    """make_site(prefix) returns a site on which the account ada is an administrator and jane has a prefix."""

    def make(*granted: str) -> Site:
        file = tmp_path / "bindings.sqlite"
        bindings = open_store(file)
        accounts = Accounts(bindings)
        accounts.add("ada", "administrator")
        if granted:
            accounts.add("jane", "curator", granted)
        return Site(file, bindings, accounts, accounts.tokens.create("ada", "test")[1])

    return make


@of_each_kind
def test_commands(make_site: Callable[..., Site], kind: Kind, tmp_path: Path) -> None:
    site = make_site()
    run = site.command
    told = [run("prefix", "set", kind.given, "--what", "Maps", "--statement", "We keep names.", "--pattern", kind.form)]
    told += [run("prefix", "set", kind.given, "--who", "Library"), run("prefix", "show", kind.given)]
    assert told[:2] == [f"set {kind.given}\n", f"changed {kind.given}\n"]
    assert f"{kind.form} (" in told[2]
    assert run("prefix", "list") == f"{kind.key}  Maps\n"
    told += [run("rule", "set", kind.given, RULE), run("rule", "list"), run("rule", "history", kind.given)]
    assert f"{kind.key} -> {RULE}" in told[-2]
    names = run("mint", kind.below, "--count", "3", "--under-rule").split()
    assert all(re.fullmatch(kind.minted, name) for name in names)
    told += [run("mint", kind.below, "--sequential", "--under-rule", "--bind", "https://example.org/1")]
    assert len(run("list", "--prefix", kind.given if kind.key[:4] == "urn:" else kind.key).splitlines()) == 4
    assert run("count", "--prefix", kind.key) == "4\n"
    run("account", "add", "jane", "--role", "curator", "--prefix", kind.given)
    assert f"jane  curator {kind.key}" in run("account", "list")
    run("account", "revoke", "jane", kind.given)
    run("account", "grant", "jane", kind.given)
    # All of it goes to another store as a table.
    table, other = tmp_path / "names.csv", tmp_path / "other.sqlite"
    table.write_text(run("export"), "utf-8")
    run("init", "--database", str(other))
    run("import", str(table), "--database", str(other))
    with open_bindings(other) as copied:
        assert [record.texts for record in copied.prefixes.list()] == [
            record.texts for record in site.bindings.prefixes.list()
        ]
        assert [rule.prefix for rule in copied.rules.list()] == [kind.key]
        assert copied.store.patterns() == site.bindings.store.patterns()
    told += [
        run("prefix", "remove", kind.given),
        run("rule", "remove", kind.given),
        run("prefix", "history", kind.given),
    ]
    assert site.bindings.prefixes.list() == site.bindings.rules.list() == []
    assert kind.key.startswith("ark:") or not any("NAAN" in each or "shoulder" in each for each in told)


@of_each_kind
def test_resolver(make_site: Callable[..., Site], kind: Kind) -> None:
    site = make_site()
    site.bindings.prefixes.set(kind.given, what="Maps", statement="We keep names.", pattern=kind.form)
    site.bindings.rules.set(kind.given, RULE)
    for spelling in (kind.key, kind.given.removesuffix("12345") + ("ark:12345/" if kind.given == "12345" else "")):
        for inflection in ("", "?", "??", "?info"):
            page = site.ask(f"/{spelling}{inflection}")
            assert (page.status_code, "Maps" in page.text) == (200, True)
    assert f"<dt>Kind</dt><dd>{kind.title}</dd>" in site.ask(f"/{kind.key}").text
    shown = site.ask(f"/{kind.key}?info&format=json").json or {}
    assert (shown["prefix"], shown["persistence"], shown["rule"]) == (kind.key, "We keep names.", RULE)
    answer = site.ask(f"/{kind.name}")
    key = kind.name.replace("SE", "se").replace("DE", "de")
    assert (answer.status_code, answer.location) == (302, f"https://rule.example/show?id={key}")
    site.bindings.bind(kind.name, "https://example.org/q7")
    described = site.ask(f"/{kind.name}?info&format=json").json or {}
    assert (described["metadata"]["persistence"], described["persistence_source"]) == ("We keep names.", kind.key)


@of_each_kind
def test_apis(make_site: Callable[..., Site], kind: Kind) -> None:
    site = make_site(kind.given)
    fields = {"what": "Maps", "pattern": kind.form, "statement": "We keep names."}
    # The whole prefix is percent-encoded, as generated clients send it, or is sent as it is.
    for number, path in enumerate((kind.key, re.sub("[:/]", lambda sign: f"%{ord(sign[0]):02X}", kind.key))):
        target = f"/api/v1/prefixes/{path}"
        made = site.send("PUT", target, {**fields, "who": str(number)}, environ_overrides={"REQUEST_URI": target})
        assert made.status_code == (200 if number else 201), made.text
        assert made.json
        assert made.json["prefix"] == kind.key
        assert (site.send("GET", target, environ_overrides={"REQUEST_URI": target}).json or {})["what"] == "Maps"
    assert [each["prefix"] for each in (site.send("GET", "/api/v1/prefixes").json or {})["prefixes"]] == [kind.key]
    # A grant for exactly a prefix lets its account mint below it.
    site.accounts.grant("jane", kind.below)
    body = {"names": [{"shoulder": kind.below, "target": "https://example.org/1"}]}
    minted = site.send("POST", "/api/v1/names", body)
    assert minted.status_code == 201, minted.text
    assert re.fullmatch(kind.minted, (minted.json or {})["names"][0]["name"]["identifier"])
    path = f"/ezid/shoulder/{kind.below.replace('12345', 'ark:/12345/', 1) if kind.below == '12345' else kind.below}"
    ezid = site.send("POST", path, data="_target: https://example.org/2", content_type="text/plain")
    assert ezid.status_code == 201, ezid.text
    assert re.fullmatch(f"success: {kind.minted.replace('ark:', 'ark:/')}", ezid.text.strip())
    listed = site.send("GET", "/api/v1/names", query_string={"prefix": kind.key}).json or {}
    assert len(listed["names"]) == 2


@of_each_kind
def test_tables_mint_below_it(make_site: Callable[..., Site], kind: Kind, tmp_path: Path) -> None:
    site = make_site()
    site.bindings.prefixes.set(kind.given, pattern=kind.form)
    table = tmp_path / "new.csv"
    table.write_text("resource,target\nitem 1,https://example.org/1\nitem 2,https://example.org/2\n", "utf-8")
    site.command("import", str(table), "--mint", kind.below)
    found = site.bindings.list_names().names
    assert len(found) == 2
    assert all(re.fullmatch(kind.minted, each.identifier) for each in found)


@of_each_kind
def test_a_curator_with_the_grant_changes_names_below_it_only(make_site: Callable[..., Site], kind: Kind) -> None:
    site = make_site(kind.given)
    _, secret = site.accounts.tokens.create("jane", "test")
    jane = site.accounts.tokens.caller(secret)
    assert jane is not None
    assert jane.account.prefixes == (kind.key,)
    others = ("ark:12354/q7", "urn:nbx:se:uu:q-7", "urn:isbn:978045145024")
    assert [jane.may_change(each) for each in (kind.key, *others)] == [True, False, False, False]
    site.secret = secret
    for name, status in ((kind.name, 201), (others[1], 403)):
        answer = site.send("POST", "/api/v1/names", {"names": [{"name": name, "target": "https://example.org/1"}]})
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("prefix", "why"),
    [
        ("urn:", "is not the beginning of URNs"),
        ("urn:nbn", "is not the beginning of URNs"),
        ("urn:n bn:x", "is not the beginning of URNs"),
        ("urn:nbn:se:uu:?x", "is not the beginning of URNs"),
        ("urn:nbn:se:\u200buu:", "invisible"),
        ("urn:foo:a/../b", "segment of dots"),
    ],
)
def test_a_text_that_begins_no_urn_is_no_prefix(make_site: Callable[..., Site], prefix: str, why: str) -> None:
    site = make_site()
    for use in (
        lambda: site.bindings.prefixes.set(prefix, what="Maps"),
        lambda: site.bindings.rules.set(prefix, RULE),
    ):
        with pytest.raises(BindingError, match=why) as refused:
            use()
        assert refused.value.code == "rule-prefix"


@pytest.mark.parametrize(
    ("prefix", "form", "code"),
    [
        ("urn:nbn:se:uu:", "10^6+nbn", "prefix-pattern"),
        ("urn:nbn:de:", "10^6+check", "prefix-pattern"),
        ("urn:cts:", "10^6+name", "prefix-pattern"),
        ("ark:12345/x5", "10^6+nbn", "prefix-pattern"),
    ],
)
def test_a_check_character_belongs_to_its_names(
    make_site: Callable[..., Site], prefix: str, form: str, code: str
) -> None:
    site = make_site()
    with pytest.raises(BindingError) as refused:
        site.bindings.prefixes.set(prefix, pattern=form)
    assert refused.value.code == code
    assert "NAAN" not in refused.value.message
    result = CliRunner(env={"ARARAT_DATABASE": str(site.file)}).invoke(
        main.main, ["mint", prefix, "--check", {"nbn": "nbn", "check": "noid", "name": "name"}[form.partition("+")[2]]]
    )
    assert (result.exit_code, "mint-check" in result.output, "NAAN" in result.output) == (2, True, False)


@pytest.mark.parametrize(
    ("prefix", "why"),
    [
        ("urn:nbn:se:uu:", "there is no hyphen after the prefix; use a longer one"),
        ("urn:isbn:", "not valid in isbn"),
        ("urn:uuid:", "not valid in uuid"),
    ],
)
def test_urns_that_break_the_rules_of_their_namespace_are_not_minted(
    make_site: Callable[..., Site], prefix: str, why: str
) -> None:
    result = CliRunner(env={"ARARAT_DATABASE": str(make_site().file)}).invoke(main.main, ["mint", prefix])
    assert (result.exit_code, "shoulder-characters" in result.output) == (2, True)
    assert why in " ".join(result.output.split())


def test_minted_isbns_have_their_check_digit(make_site: Callable[..., Site]) -> None:
    site = make_site()
    names = site.command("mint", "urn:isbn:978-0-451-450", "--length", "3", "--digits", "--count", "20").split()
    assert len(set(names)) == 20
    assert all(Pattern("urn:isbn:9780451450", 3, None, True).name(int(name[-3:])) == name for name in names)


@pytest.mark.parametrize(
    "urn",
    ["urn:nbn:de:gbv:089-3321752945", "urn:nbn:de:bvb:12-bsb00103137-3", "urn:nbn:de:0183-mbi0003721"],
)
def test_the_check_digit_of_the_german_national_library(urn: str) -> None:
    """The URNs are published examples: of the library, of the Bavarian State Library, and of German Medical Science."""
    assert german_check_digit(urn[:-1]) == urn[-1]


def test_the_resolver_reports_a_wrong_check_digit_of_a_urn(make_site: Callable[..., Site]) -> None:
    site = make_site()
    site.bindings.prefixes.set("urn:nbn:de:gbv:089-", pattern="10^9+nbn")
    site.bindings.bind("urn:nbn:de:gbv:089-3321752945", "https://example.org/1")
    page = site.ask("/urn:nbn:de:gbv:089-3321752495")
    assert page.status_code == 404
    assert "check character is wrong" in page.text
    assert "urn:nbn:de:gbv:089-3321752945" in page.text


def test_records_of_urns_reveal_a_mistyped_namespace(make_site: Callable[..., Site]) -> None:
    site = make_site()
    site.bindings.prefixes.set("urn:nbn:se:uu:", what="Theses")
    body = {"names": [{"name": "urn:nbm:se:uu:diva-1"}, {"name": "urn:nbn:se:uu:diva-1"}, {"name": "urn:nbn:se:x-1"}]}
    answer = site.send("POST", "/api/v1/names", body).json or {}
    found = [[each["code"] for each in name["name"].get("warnings", [])] for name in answer["names"]]
    assert found == [["nid-unrecorded"], [], ["shoulder-unrecorded"]]
    assert "NAAN" not in json.dumps(answer)
