"""The examples of docs/api-examples.md and docs/api.md, sent with curl to a real server, and the table of codes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ararat.bindings.names.error_codes import ERROR_CODES
from ararat.cli.main import main
from ararat.identifiers import PROBLEMS
from ararat.webapp import errors
from ararat.webapp.api import openapi

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
EXAMPLES = (ROOT / "docs" / "api-examples.md").read_text("utf-8")
SECTIONS = re.findall(r"^### `(\w+) (\S+)`\n(.*?)(?=^##|\Z)", EXAMPLES, re.MULTILINE | re.DOTALL)
CODE = re.compile(r'HTTPRefusal\(\s*(\d+),\s*"([a-z0-9-]+)"|_problem\(\s*(\d+),\s*"([a-z0-9-]+)"')
# Members whose values differ each time.
VOLATILE = ("created", "changed")


def block(section: str, language: str) -> str | None:
    found = re.search(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return found and found[1]


def stable(value: Any) -> Any:
    """Return JSON without times."""
    if isinstance(value, dict):
        return {name: stable(each) for name, each in value.items() if name not in VOLATILE}
    return [stable(each) for each in value] if isinstance(value, list) else value


def test_every_endpoint_has_an_example():
    placeholders = {"NAME": "{name}", "NUMBER": "{number}", "PREFIX": "{prefix}"}
    shown = [
        (method.lower(), re.sub("[A-Z]+", lambda match: placeholders[match[0]], path)) for method, path, _ in SECTIONS
    ]
    assert sorted(shown) == sorted((method, path) for path, methods in openapi.PATHS.items() for method in methods)
    assert [path for _, path, section in SECTIONS if "curl " not in (block(section, "sh") or "")] == []
    listed = re.findall(r"^\| \[`(\w+) (\S+)`\]", PAGE, re.MULTILINE)
    assert [(method, f"/api/v1{path}") for method, path in listed] == [(method, path) for method, path, _ in SECTIONS]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_example_succeeds_with_the_documented_response(tmp_path, serve_ararat):
    database = f"sqlite:///{tmp_path}/bindings.sqlite"
    run = CliRunner()
    for command in (["init"], ["account", "add", "jane", "--role", "administrator"]):
        assert run.invoke(main, [*command, "--database", database]).exit_code == 0
    token = run.invoke(main, ["account", "token", "jane", "--database", database]).stdout.strip()
    server = serve_ararat("--database", database)
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n", "utf-8")
    environ = {"API": f"{server.origin}/api/v1", "TOKEN": token, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    requests = block(PAGE.partition("\n## Requests\n")[2], "sh")
    for method, path, section in [*SECTIONS, ("POST", "names of the page", f"```sh\n{requests}```")]:
        example = block(section, "sh")
        assert example is not None
        deadline = time.monotonic() + 20
        while True:
            done = subprocess.run(
                ["/bin/sh", "-c", example],
                env=environ,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            assert done.returncode == 0, (method, path, done.stdout, done.stderr, server.log())
            shown, got = block(section, "json"), json.loads(done.stdout or "null")
            is_job = method == "GET" and path.endswith("/NUMBER") and "/operations/" not in path
            if (shown is None and not (is_job and got["state"] != "done")) or (
                shown is not None and stable(got) == stable(json.loads(shown))
            ):
                break
            # A job takes a moment.
            assert is_job, got
            assert time.monotonic() < deadline, got
            time.sleep(0.05)


def test_the_page_lists_the_codes_of_the_api():
    """Codes of names and values are listed in docs/problems.md."""
    sources = [path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py")]
    raised = {found[1] or found[3] for source in sources for found in CODE.findall(source)}
    assert len(raised) > 40
    assert raised - {*PROBLEMS, *ERROR_CODES, *errors.pages_of_codes()} == set()


def test_the_type_of_each_error_is_an_anchor(shared):
    """A problem document links the explanation of its code."""
    client = shared(None).app.test_client()
    for code, page in errors.pages_of_codes().items():
        assert f'<td id="{code}"><code>{code}</code></td>' in client.get(f"/docs/{page}").text, code
    for path, code in (("/api/v1/x", "credential-missing"), ("/api/inspect?x=1", "parameter-missing")):
        answer = client.get(path)
        assert answer.json["code"] == code
        page = "account-codes" if path == "/api/v1/x" else "request-codes"
        assert answer.json["type"] == f"http://localhost/docs/{page}#{code}"
