"""`ararat export --edge`: its files, its settings and its refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.wrapping import unwrapped

PREFIX = ("--prefix", "https://names.example")


def test_the_file_is_replaced_and_the_number_of_names_is_printed(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "names.conf"
    result = bound("export", "--edge", "nginx", *PREFIX, str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"redirects of 1 of 1 name written to {file}\n"
    assert "/ark:12345/doc 302 https://example.org/1" in file.read_text()


def test_a_refused_name_leaves_the_file_unchanged(bound: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "names.json"
    file.write_text("before")
    assert bound("bind", "ark:12345/see", "https://example.org/2", "--kind", "related").exit_code == 0
    result = bound("export", "--edge", "cloudflare", *PREFIX, str(file))
    assert (result.exit_code, file.read_text()) == (2, "before")
    assert "ark:12345/see: Cloudflare has no redirects with the status 303" in unwrapped(result.stderr)
    assert "--omit" in result.stderr
    assert bound("export", "--edge", "cloudflare", "--omit", *PREFIX, str(file)).exit_code == 0
    assert len(json.loads(file.read_text())) == 2


def test_the_settings_are_those_of_serve(bound: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARARAT_PREFIX", "https://other.example")
    monkeypatch.setenv("ARARAT_CACHE", "60")
    found = json.loads(bound("export", "--edge", "json", "-").stdout)
    assert found["fields"]["Cache-Control"].startswith("max-age=60,")
    assert "https://other.example/ark:12345/doc?info" in found["redirects"]["/ark:12345/doc"]["links"][0]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--edge", "json", "-"], "ARARAT_PREFIX"),
        (["--edge", "json", "--history", *PREFIX, "-"], "omit --format, --history and --since"),
        (["--omit", "-"], "belong to --edge"),
        (["--edge", "json", "--prefix", "ftp://x", "-"], "prefix"),
        (["--edge", "cloudflare", "--prefix", "https://x.example:81", "-"], "port"),
    ],
)
def test_wrong_options_are_usage_errors(bound: Callable[..., Result], arguments: list[str], message: str) -> None:
    result = bound("export", *arguments)
    assert result.exit_code == 64
    assert message in unwrapped(result.stderr)
