"""Exports in each format: their redirects, the names that they cannot represent, and their marker."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings import holding
from ararat.bindings.names.selection import LAST
from ararat.middleware import Bindings
from ararat.middleware.edge.exporting import NotRepresentable, export_redirects
from ararat.middleware.edge.front_servers import EDGE_NAMES, EdgeName, edge_format
from ararat.middleware.edge.marker import Marker, read_marker
from ararat.middleware.resolution.settings import Settings

PREFIX = "https://names.example"


def exported(bindings: Bindings, name: EdgeName, *, omit: bool = False, **settings: Any) -> tuple[str, Marker]:
    file = BytesIO()
    marker, _ = export_redirects(bindings, file, name, Settings(**{"prefix": PREFIX, **settings}), omit=omit)
    return file.getvalue().decode("ascii"), marker


def refused(bindings: Bindings, name: EdgeName) -> list[tuple[str, str]]:
    with pytest.raises(NotRepresentable) as error:
        exported(bindings, name)
    assert error.value.omitted.number == len(error.value.omitted.first)
    return error.value.omitted.first


@pytest.mark.parametrize("name", EDGE_NAMES)
def test_a_name_that_leads_nowhere_now_is_not_exported(bindings: Bindings, name: EdgeName) -> None:
    soon = bindings.now() + timedelta(days=1)
    for key in ("h1", "k1/p", "w1", "open"):
        bindings.bind(f"ark:12345/{key}", f"https://{'open' if key == 'open' else 'secret'}.example/{key}")
    bindings.bind("ark:12345/e1", "https://secret.example/e1", embargo=soon)
    bindings.reserve("ark:12345/r1", "https://secret.example/r1")
    bindings.withdraw("ark:12345/w1")
    bindings.prefixes.set("ark:12345/k1", what="Maps")
    for held in ("ark:12345/h1", "ark:12345/k1"):
        holding.hold(bindings, held, soon, "A dispute.")
    text, _ = exported(bindings, name, omit=True)
    assert "secret" not in text
    assert "https://open.example/open" in text.replace("\\", "")


def test_the_marker_has_the_state_of_the_database(bindings: Bindings, tmp_path: Path) -> None:
    bindings.bind("ark:12345/x", "https://example.org/1")
    bindings.bind("ark:12345/y", "https://example.org/2")
    bindings.relocate("ark:12345/x", "https://example.org/3")
    bindings.bind("ark:12345/s", "/s", kind="served")
    bindings.withdraw("ark:12345/y", reason="Lost")
    bindings.reserve("ark:12345/r", "https://example.org/4")
    for name in EDGE_NAMES:
        text, marker = exported(bindings, name)
        (tmp_path / "export").write_text(text)
        assert read_marker(tmp_path / "export") == marker
        assert marker.state == bindings.store.ranges().state("", LAST)
        assert (marker.state.names, marker.state.revisions, marker.redirects) == (3, 5, 1)
        assert "example.org/3" in text
        assert "example.org/2" not in text
        assert "example.org/4" not in text


def test_an_export_of_a_database_without_names_is_complete(bindings: Bindings) -> None:
    for name in EDGE_NAMES:
        text, marker = exported(bindings, name)
        assert (marker.redirects, marker.state) == (0, (0, 0, None))
        assert text.count("{") == text.count("}")


def test_json_has_the_answer_of_each_path(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a$b", 'https://example.org/"%22'.replace('"', ""), kind="related")
    bindings.bind("urn:example:b", "https://example.org/2")
    found = json.loads(exported(bindings, "json")[0])
    assert list(found["redirects"]) == ["/ark:12345/a$b", "/ark:/12345/a$b", "/urn:example:b"]
    answer = found["redirects"]["/ark:/12345/a$b"]
    assert (answer["status"], answer["location"]) == (303, "https://example.org/%22")
    assert answer["links"][0] == f'<{PREFIX}/ark:12345/a$b?info>; rel="describedby"'
    assert found["fields"]["Cache-Control"].startswith("max-age=300")


def test_cloudflare_has_one_item_for_each_path_and_no_303(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", redirect=307)
    bindings.bind("ark:12345/b", "https://example.org/2", kind="related")
    assert refused(bindings, "cloudflare") == [
        ("ark:12345/b", "Cloudflare has no redirects with the status 303"),
    ]
    items = json.loads(exported(bindings, "cloudflare", omit=True)[0])
    assert [item["redirect"]["source_url"] for item in items] == [
        "names.example/ark:12345/a",
        "names.example/ark:/12345/a",
    ]
    assert {(item["redirect"]["target_url"], item["redirect"]["status_code"]) for item in items} == {
        (f"{PREFIX}/1", 307)
    }
    assert len(items[0]["comment"]) <= 500
    with pytest.raises(ValueError, match="has no port"):
        edge_format("cloudflare", "https://names.example:8443", [])


def test_nginx_has_one_entry_for_names_that_differ_in_case(bindings: Bindings) -> None:
    for name in ("ark:12345/ab", "ark:12345/Ab", "ark:12345/aB", "ark:12345/c"):
        bindings.bind(name, f"https://example.org/{name[-2:]}$x")
    text, marker = exported(bindings, "nginx")
    entries = re.findall(r'^\t"(/[^"]*)" "(.*)";$', text, re.MULTILINE)
    assert [path for path, _ in entries] == ["/ark:12345/ab", "/ark:12345/c"]
    dollar = "${ararat_dollar}"
    assert entries[0][1] == "\t" + "".join(
        f"/ark:12345/{name} 302 https://example.org/{name}{dollar}x \t" for name in ("Ab", "aB", "ab")
    )
    assert (marker.redirects, marker.omitted) == (4, 0)


def test_nginx_refuses_a_long_parameter_with_all_names_in_it(bindings: Bindings) -> None:
    for name in ("ark:12345/ab", "ark:12345/AB", "ark:12345/c"):
        bindings.bind(name, f"https://example.org/{'y' * 1990}")
    assert [key for key, _ in refused(bindings, "nginx")] == ["ark:12345/AB", "ark:12345/ab"]
    text, marker = exported(bindings, "nginx", omit=True)
    assert (marker.redirects, marker.omitted, "12345/ab" in text.lower()) == (1, 2, False)


def test_apache_refuses_long_lines_and_empty_queries(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", f"https://example.org/{'y' * 990}")
    bindings.bind("ark:12345/b", "https://example.org/?")
    bindings.bind("ark:12345/c", "https://example.org/?#d")
    bindings.bind("ark:12345/d", f"https://example.org/{'y' * 900}")
    assert [key for key, _ in refused(bindings, "apache")] == ["ark:12345/a", "ark:12345/b", "ark:12345/c"]
    text, _ = exported(bindings, "apache", omit=True)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line.split(" ")[0] for line in lines] == ["/ark:12345/d", "/ark:/12345/d"]


def test_apache_encodes_the_links_without_spaces(bindings: Bindings) -> None:
    licence = "https://creativecommons.org/licenses/by/4.0/"
    bindings.bind("ark:12345/a", "https://example.org/1", metadata={"dc.rights": licence})
    line = exported(bindings, "apache")[0].splitlines()[-1]
    encoded = "%2C%20%3Chttps%3A%2F%2Fcreativecommons.org%2Flicenses%2Fby%2F4.0%2F%3E%3B%20rel%3D%22license%22"
    assert line == f"/ark:/12345/a 302|https://example.org/1|{encoded}"


def test_a_long_address_is_refused(bindings: Bindings) -> None:
    bindings.bind(f"ark:12345/{'x' * 200}{'%E2%82%AC' * 40}", "https://example.org/1")
    formats: tuple[EdgeName, ...] = ("nginx", "apache", "caddy")
    for name in formats:
        [(_, reason)] = refused(bindings, name)
        assert "500 characters" in reason


def test_a_prefix_that_nginx_would_read_as_a_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="a dollar sign"):
        edge_format("nginx", f"{PREFIX}/$host", [])
