"""Rules for shoulders and NAANs: valid prefixes, precedence, and several processes."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from werkzeug.test import Client

from ararat.bindings.names.errors import Collision
from ararat.bindings.names.prefixes.prefixes import check_prefix
from ararat.bindings.names.prefixes.rule_templates import check_template
from ararat.bindings.names.prefixes.rules import Rule
from ararat.bindings.rule_cache import SECONDS_HELD, RuleCache
from ararat.bindings.storage.writing.transaction import Transaction
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.urn import parser as urn
from ararat.middleware import BindingError, BindingsUnavailable, ResolverMiddleware
from tests.forking import exit_code

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("ark:12345", "ark:12345/"),
        ("ark:/12-345/", "ark:12345/"),
        ("ark:12345/x5", "ark:12345/x5"),
        ("ark:/12345/%78-5", "ark:12345/x5"),
        ("ark:12345/a/b5", "ark:12345/a/b5"),
    ],
)
def test_a_prefix_is_a_naan_or_a_shoulder_in_normal_form(given, stored):
    assert check_prefix(given) == stored
    assert check_prefix(stored) == stored


@pytest.mark.parametrize(
    ("template", "given", "target"),
    [
        pytest.param("/o/${suffix:given}", "ark:/12345/v5699c52e-d00a-4b75", "/o/5699c52e-d00a-4b75", id="UUID"),
        pytest.param("/o/${suffix}", "ark:/12345/v5699c52e-d00a-4b75", "/o/5699c52ed00a4b75", id="normal form"),
        pytest.param("/o/${value:given}", "ARK:/1-2345/%76a-b.z.a", "/o/%76a-b.z.a", id="value"),
        pytest.param("/o/${content:given}", "ark:12345/va-b", "/o/12345/va-b", id="content"),
        pytest.param("/${suffix}?was=${prefix:given}", "ark:12345/va-b", "/ab?was=12345", id="both"),
        pytest.param("/o/${suffix:given}", "ark:12345/-v-a", "/o/-a", id="hyphens around the shoulder"),
        pytest.param("/v?id=${suffix}&fmt=html", "ark:12345/v0156%2B0157", "/v?id=0156%2B0157&fmt=html", id="plus"),
        pytest.param("/v?id=${suffix:given}", "ark:12345/v1+2-3", "/v?id=1%2B2-3", id="plus as given"),
        pytest.param("/v/${suffix}", "ark:12345/v1+2", "/v/1+2", id="plus in a path"),
        pytest.param("/v#${suffix}", "ark:12345/v1+2", "/v#1+2", id="plus in a fragment"),
        pytest.param("/v?id=${suffix}&fmt=html", "ark:12345/v", None, id="nothing after the shoulder, in a query"),
        pytest.param("/v/${suffix}", "ark:12345/v", "/v/", id="nothing after the shoulder, in a path"),
        pytest.param("/v/${suffix}?a=b", "ark:12345/v", "/v/?a=b", id="nothing in a path before a query"),
        pytest.param("/v#${suffix}", "ark:12345/v", None, id="nothing in a fragment"),
        pytest.param("/v/${suffix}.html", "ark:12345/v", None, id="nothing in a part of a segment"),
        pytest.param("/v/${suffix:given}/full", "ark:12345/v", None, id="nothing inside a path"),
        pytest.param("/${prefix}/v?id=${suffix}", "ark:12345/v", None, id="nothing in a query after another variable"),
        pytest.param("/v?id=${value}", "ark:12345/v", "/v?id=v", id="the shoulder as a value"),
    ],
)
def test_a_variable_has_the_spelling_and_the_escaping_of_its_place(template, given, target):
    for origin in ("https://example.org", ""):
        rule = Rule("ark:12345/v", check_template(origin + template), 302, NOW, None)
        name = ark.parse(given)
        binding = rule.binding(name.basic, name.text)
        assert (binding and binding.target) == (None if target is None else origin + target)


@pytest.mark.one_setup
@pytest.mark.parametrize("given", ["ark:12345/v1-2", "ark:/12345/v1-2", "ARK:12345/v1%2D2/"])
def test_a_request_reaches_the_page_of_its_spelling(bindings, given):
    bindings.rules.set("ark:12345/v", "https://example.org/o/${suffix:given}")
    answer = Client(ResolverMiddleware(None, bindings)).get(f"/{given}")  # type: ignore[arg-type]
    assert answer.location == f"https://example.org/o/{given.rpartition('v')[2].removesuffix('/')}"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "ark:",
        "12345/x.a",
        "urn:isbn",
        "shoulder/x",
        "/12345/x",
        "ark:l/",
        "ark:12345/x.a",
        "ark:12345/x?info",
        "ark:12345/a//",
    ],
)
def test_an_invalid_prefix_cannot_have_a_rule(prefix):
    with pytest.raises(BindingError) as refused:
        check_prefix(prefix)
    assert refused.value.code == "rule-prefix"


def test_naan_99999_cannot_have_a_rule():
    with pytest.raises(BindingError) as refused:
        check_prefix("ark:9-9999/x5")
    assert refused.value.code == "naan-reserved-invalid"


@pytest.mark.parametrize(
    ("template", "code"),
    [
        pytest.param("https://example.org/", "rule-template", id="no variable"),
        pytest.param("https://example.org${value}", "rule-template", id="name in the host"),
        pytest.param("https://${value}.example.org/", "rule-template", id="name as the host"),
        pytest.param("https://u:p@example.org/${value}", "rule-template", id="credentials"),
        pytest.param("javascript:alert(${value})", "rule-template", id="scheme"),
        pytest.param("https://n2t.net/ark:${content}", "rule-template", id="the official resolver"),
        pytest.param("https://example.org/${lost}", "rule-template", id="unknown variable"),
        pytest.param("https://example.org/${value}\r\nX: y", "rule-template", id="line break"),
        pytest.param("//example.org/${value}", "target-relative", id="half an address"),
        pytest.param("/../${value}", "target-dot-segment", id="dot-segment"),
        pytest.param("/ark:${content}", "reserved-target", id="the resolver itself"),
        pytest.param("", "rule-template", id="nothing"),
    ],
)
def test_an_unsafe_template_is_refused(template, code):
    with pytest.raises(BindingError) as refused:
        check_template(template)
    assert refused.value.code == code


def test_an_unknown_variable_is_reported():
    with pytest.raises(BindingError, match="a variable that is not defined"):
        check_template("https://example.org/${lost}/${value}")


@pytest.mark.parametrize(
    ("prefix", "template", "target"),
    [
        ("ark:12345/", "https://example.org/ark:/${content}", "https://example.org/ark:/12345/x5a/b"),
        ("ark:12345/", "https://example.org/?id=${pid}", "https://example.org/?id=ark:12345/x5a/b"),
        ("ark:12345/x5", "https://example.org/${suffix}", "https://example.org/a/b"),
        ("ark:12345/", "https://example.org/${scheme}/${prefix}/${value}", "https://example.org/ark/12345/x5a/b"),
        ("ark:12345/x5", "/things/${value}?v=1", "/things/x5a/b?v=1"),
    ],
)
def test_a_rule_inserts_the_normal_form_into_its_template(prefix, template, target):
    rule = Rule(prefix, check_template(template), 307, NOW, None)
    binding = rule.binding("ark:12345/x5a/b")
    assert binding is not None
    assert (binding.identifier, binding.target, binding.redirect) == ("ark:12345/x5a/b", target, 307)


class Kept:
    """A source of rules that counts its reads."""

    def __init__(self, *rules):
        self.version, self.kept, self.asked = "1", list(rules), []

    def rules_version(self):
        self.asked.append("version")
        return self.version

    def rules(self):
        self.asked.append("rules")
        return self.kept

    def patterns(self):
        return []

    def holds(self):
        return []

    def prefixes(self):
        return []

    def recorded_branding(self) -> None:
        return None


def test_the_longest_prefix_applies():
    source = Kept(*(Rule(prefix, f"https://{len(prefix) - 10}x.org/${{value}}", 302, NOW, None) for prefix in PREFIXES))
    cache = RuleCache(lambda: source)

    def target(name):
        ruled = cache.binding_for(ark.parse(name))
        return ruled and ruled.binding.target

    assert target("ark:/12345/x-57") == "https://3x.org/x57"
    assert target("ark:12345/x5/a") == "https://2x.org/x5/a"
    assert target("ark:12345/y") == "https://0x.org/y"
    assert target("ark:67531/x5") is None
    assert cache.binding_for(urn.parse("urn:foo:a")) is None


PREFIXES = ("ark:12345/", "ark:12345/x57", "ark:12345/x5")


def test_rules_are_read_at_most_once_per_second():
    time = [0.0]
    source = Kept()
    cache = RuleCache(lambda: source, lambda: time[0])
    name = ark.parse("ark:12345/x")
    assert cache.binding_for(name) is None
    source.version, source.kept = "2", [Rule("ark:12345/", "https://a.org/${value}", 302, NOW, None)]
    assert cache.binding_for(name) is None
    assert source.asked == ["version", "rules"]
    time[0] += SECONDS_HELD
    assert cache.binding_for(name) is not None
    time[0] += SECONDS_HELD
    assert cache.binding_for(name) is not None
    assert source.asked == ["version", "rules"] * 2 + ["version"]


class Stuck:
    """A source of rules that blocks until it is released, and counts its reads."""

    def __init__(self) -> None:
        self.asked = 0
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def rules_version(self) -> str:
        self.asked += 1
        self.begun.set()
        assert self.go_on.wait(20)
        if self.error is not None:
            raise self.error
        return str(self.asked)

    def rules(self):
        return [Rule("ark:12345/", "https://a.org/${value}", 302, NOW, None)]

    def patterns(self):
        return []

    def holds(self):
        return []

    def prefixes(self):
        return []

    def recorded_branding(self) -> None:
        return None


def test_one_thread_reads_the_rules_while_others_use_the_old_ones():
    time = [0.0]
    source = Stuck()
    cache = RuleCache(lambda: source, lambda: time[0])
    source.go_on.set()
    assert cache.binding_for(NAME) is not None
    time[0] += SECONDS_HELD
    source.begun.clear()
    source.go_on.clear()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(cache.binding_for, NAME)
        assert source.begun.wait(20)
        for _ in range(20):
            assert cache.binding_for(NAME) is not None
        assert source.asked == 2
        source.go_on.set()
        assert slow.result(20) is not None


def test_a_failure_to_read_the_rules_applies_to_all_threads(caplog):
    time = [0.0]
    source = Stuck()
    source.error = BindingsUnavailable("locked")
    cache = RuleCache(lambda: source, lambda: time[0])

    def ask(_):
        with pytest.raises(BindingsUnavailable, match="locked"):
            cache.binding_for(NAME)

    with ThreadPoolExecutor(20) as pool:
        waiting = pool.map(ask, range(20))
        assert source.begun.wait(20)
        source.go_on.set()
        list(waiting)
    assert source.asked == 1
    time[0] += SECONDS_HELD
    source.error = None
    assert cache.binding_for(NAME) is not None
    # The known rules are used until new ones can be read.
    source.error = BindingsUnavailable("locked again")
    for _ in range(2):
        time[0] += SECONDS_HELD
        assert cache.binding_for(NAME) is not None
    assert source.asked == 4
    assert caplog.text.count("locked again") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_forked_during_a_read_has_rules():
    source = Stuck()
    cache = RuleCache(lambda: source)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(cache.binding_for, NAME)
        assert source.begun.wait(20)

        def read() -> None:
            source.go_on.set()
            assert cache.binding_for(NAME) is not None

        assert exit_code(read) == 0
        source.go_on.set()
        assert slow.result(20) is not None


NAME = ark.parse("ark:12345/x")

# In a database --------------------------------------------------------------------------------------------------------


def test_a_rule_can_be_set_changed_and_removed_with_history(bindings):
    assert bindings.rules.set("ark:/12345/x-5", "https://example.org/${value}", actor="ada") == "set"
    assert bindings.rules.set("ark:12345/x5", "https://example.org/${value}") == "unchanged"
    assert bindings.rules.set("ark:12345/x5", "/things/${value}", redirect=307) == "changed"
    assert bindings.rules.set("ark:12345/", "/all/${value}") == "set"
    assert [(rule.prefix, rule.template, rule.redirect) for rule in bindings.rules.list()] == [
        ("ark:12345/", "/all/${value}", 302),
        ("ark:12345/x5", "/things/${value}", 307),
    ]
    assert bindings.rules.remove("ark:12345/x5", actor="bob") == "removed"
    assert [(event.action, event.template, event.actor) for event in bindings.rules.history("ark:12345/x5")] == [
        ("set", "https://example.org/${value}", "ada"),
        ("set", "/things/${value}", None),
        ("removed", None, "bob"),
    ]
    with pytest.raises(BindingError) as refused:
        bindings.rules.remove("ark:12345/x5")
    assert refused.value.code == "rule-unknown"
    assert [rule.prefix for rule in bindings.rules.list()] == ["ark:12345/"]


@pytest.mark.parametrize("times", [1, 100])
def test_a_collision_with_another_writer_is_retried(bindings, monkeypatch, times):
    bindings.rules.set("ark:12345/", "/all/${value}")
    get_rule, left = Transaction.get_rule, [times]

    def collide(transaction, prefix):
        left[0] -= 1
        if left[0] >= 0:
            raise Collision("could not serialize access")
        return get_rule(transaction, prefix)

    monkeypatch.setattr(Transaction, "get_rule", collide)
    for change, done in (
        (lambda: bindings.rules.set("ark:12345/", "/new/${value}"), "changed"),
        (lambda: bindings.rules.remove("ark:12345/"), "removed"),
    ):
        left[0] = times
        if times == 1:
            assert change() == done
        else:
            with pytest.raises(BindingsUnavailable, match="5 times"):
                change()


def test_the_history_of_a_rule_is_ordered_even_if_the_clock_is_set_back(database, open_store):
    times = iter([NOW, NOW - timedelta(hours=1), NOW - timedelta(hours=1)])
    bindings = open_store(database, clock=lambda: next(times))
    bindings.rules.set("ark:12345/", "/all/${value}")
    bindings.rules.set("ark:12345/", "/new/${value}")
    bindings.rules.remove("ark:12345/")
    moments = [event.when for event in bindings.rules.history("ark:12345/")]
    assert moments == sorted(set(moments))


def test_the_history_of_rules_is_never_changed(bindings):
    bindings.rules.set("ark:12345/", "/all/${value}")
    for statement in ("DELETE FROM rule_events", "UPDATE rule_events SET actor = 'eve'"):
        with pytest.raises(BindingsUnavailable, match="history is never"), bindings.store.transaction() as transaction:
            transaction.connection.exec_driver_sql(statement)
    assert [event.actor for event in bindings.rules.history("ark:12345/")] == [None]


def test_a_permanent_redirect_is_refused(bindings):
    with pytest.raises(BindingError) as refused:
        bindings.rules.set("ark:12345/", "/all/${value}", redirect=301)
    assert refused.value.code == "permanent-redirect-forbidden"


def test_unbound_names_are_redirected_and_described_by_rules(bindings, database, open_store):
    bindings.bind("ark:12345/x5bound", "https://example.org/bound")
    bindings.rules.set("ark:12345/x5", "https://example.org/t/${suffix}")
    client = Client(ResolverMiddleware(lambda environ, start_response: [], bindings))
    assert client.get("/ark:/12345/x-5a/b").location == "https://example.org/t/a/b"
    assert client.get("/ark:12345/x5bound").location == "https://example.org/bound"
    assert client.get("/ark:12345/x5%2E%2E/b").status_code == 404
    assert client.get("/ark:12345/y").status_code == 404
    described = json.loads(client.get("/ark:/12345/x-5a?info", headers={"Accept": "application/json"}).text)
    assert (described["rule"], described["target"]) == ("ark:12345/x5", "https://example.org/t/a")
    assert "rule: ark:12345/x5\n" in client.get("/ark:12345/x5a??", headers={"Accept": "text/plain"}).text
    assert "A rule for identifiers that begin with" in client.get("/ark:12345/x5a?info").text
    assert '"rule"' not in client.get("/ark:12345/x5bound?info", headers={"Accept": "application/json"}).text
    bindings.rules.set("ark:67531/", "/all/${content}")
    client = Client(ResolverMiddleware(lambda environ, start_response: [], open_store(database)))
    assert "A rule for identifiers that begin with" in client.get("/ark:67531/q?info").text
