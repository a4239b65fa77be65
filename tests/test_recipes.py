"""Run the programs of docs/recipes.md against a site."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import textwrap
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from joserfc import jwt
from joserfc.jwk import RSAKey

from ararat.cli.main import main
from ararat.client import Ararat

from .http_servers import Quiet, running

pytestmark = pytest.mark.long

PAGE = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text("utf-8")
SITE, SHOULDER = "https://ids.example.org", "ark:12345/x5"
SUBJECT = "repo:octo-org/octo-repo:environment:prod"


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [each for each in programs if not shutil.which(each)]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def program(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return found


class Provider(Quiet, BaseHTTPRequestHandler):
    """The provider of GitHub's jobs: its metadata, its keys, and a token for a job."""

    key = RSAKey.generate_key(2048, {"kid": "1"}) if shutil.which("jq") else None

    def do_GET(self) -> None:
        assert isinstance(self.server, HTTPServer)
        issuer = f"http://127.0.0.1:{self.server.server_port}"
        path, _, query = self.path.partition("?")
        answers: dict[str, Any] = {
            "/.well-known/openid-configuration": {"issuer": issuer, "jwks_uri": f"{issuer}/jwks"},
            "/jwks": {"keys": [self.key.as_dict(private=False)]} if self.key else {},
            "/token": {"value": self._token(issuer, query)},
        }
        content = json.dumps(answers[path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _token(self, issuer: str, query: str) -> str:
        if self.headers.get("Authorization") != "bearer of-the-job" or self.key is None:
            return ""
        now, audience = int(time.time()), query.partition("audience=")[2]
        claims = {"iss": issuer, "sub": SUBJECT, "aud": audience, "iat": now, "nbf": now, "exp": now + 300}
        return jwt.encode({"alg": "RS256", "kid": "1", "typ": "JWT"}, claims, self.key)


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running(Provider) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def site(issuer: str, serve_ararat: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ararat]:
    """A client of a site with the shoulder of the recipes. ``origin`` is its address, ``token`` its token."""
    database = f"sqlite:///{tmp_path_factory.mktemp('site')}/bindings.sqlite"
    for command in (
        ["init"],
        ["prefix", "set", "12345/x5", "--what", "Items"],
        ["account", "add", "repository", "--role", "curator", "--prefix", SHOULDER],
        ["account", "add", "release", "--role", "curator", "--prefix", SHOULDER, "--program"],
        ["account", "link", "release", "--issuer", issuer, "--subject", SUBJECT],
    ):
        done = CliRunner().invoke(main, [*command, "--database", database])
        assert done.exit_code == 0, done.output
    token = CliRunner().invoke(main, ["account", "token", "repository", "--database", database]).stdout.strip()
    server = serve_ararat("--database", database, "--token-audience", SITE, "--token-issuer", issuer)
    with Ararat(f"{server.origin}/api/v1", token) as client:
        client.origin, client.token = server.origin, token  # type: ignore[attr-defined]
        yield client


def at(site: Any, text: str) -> str:
    return text.replace(f"{SITE}/", f"{site.origin}/")


@needs("php")
def test_functions_of_omeka(site: Any, tmp_path: Path) -> None:
    calls = """
$one = arkOfItem(18, 'https://omeka.example/item/18', 'Vase');
$two = arkOfItem(18, 'https://omeka.example/s/item/18', 'Vase, blue', 'Noah');
arkOfItem(19, 'https://omeka.example/item/19', 'Bowl', 'Sem');
withdrawItem($two, 'given back');
try { withdrawItem('ark:12345/x5none', 'x'); } catch (RuntimeException $error) { echo $error->getMessage(), "\\n"; }
echo $one, ' ', $two, "\\n";
"""
    (tmp_path / "omeka.php").write_text(at(site, program("php")) + calls)
    command = ["php", "-d", "display_errors=1", "omeka.php"]
    environ = os.environ | {"ARARAT_TOKEN": site.token}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    error, names = done.stdout.splitlines()
    assert error.startswith("not-bound: ")
    one, two = names.split()
    assert one == two
    (vase,) = site.find(resource="omeka:item:18")
    assert (vase.identifier, vase.state, vase.target) == (one, "withdrawn", "https://omeka.example/s/item/18")
    assert vase.metadata == {"erc.what": "Vase, blue", "erc.who": "Noah"}
    assert len(list(site.find(resource="omeka:item:19"))) == 1


@needs("jq", "curl", "bash")
def test_steps_of_a_github_job(site: Any, issuer: str, tmp_path: Path) -> None:
    script = textwrap.dedent(program("yaml").partition("run: |\n")[2])
    # The audience is the text of the settings, not the address of the site of this test.
    (tmp_path / "step.sh").write_text(script.replace(f"{SITE}/api", f"{site.origin}/api"))
    environ = os.environ | {
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job",
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{issuer}/token?api-version=2.0",
        "GITHUB_REF_NAME": "v1.2",
        "GITHUB_REPOSITORY": "octo-org/octo-repo",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    for _ in range(2):
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    first, second = (tmp_path / "output").read_text().splitlines()
    assert first == second
    (release,) = site.find(resource="octo-org/octo-repo v1.2")
    assert first == f"ark={release.identifier}"
    assert release.target == "https://github.com/octo-org/octo-repo/releases/tag/v1.2"


def test_requests_of_openrefine(site: Any) -> None:
    import httpx

    described, inspected = re.findall(r"^```text\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)
    ark = site.mint(
        SHOULDER, resource="refine 1", target="https://example.org/1", metadata={"erc.what": "Vase"}
    ).identifier

    def fetched(expression: str, value: str) -> Any:
        parts = re.sub(r'escape\(value, "url"\)|value', json.dumps(value), expression)
        address = at(site, "".join(json.loads(f"[{parts.replace(' + ', ', ')}]")))
        answer = httpx.get(address, headers={"User-Agent": "OpenRefine/3.8", "Accept": "*/*"}, timeout=30)
        assert answer.status_code == 200
        return answer.json()

    assert fetched(described, ark)["metadata"]["what"] == "Vase"
    classic = ark.replace("ark:", "ark:/").upper().replace("ARK", "ark")
    found = fetched(inspected, classic)["found"][0]
    assert found["report"]["normal_form"].lower() == ark


def test_a_repository_in_python(site: Any) -> None:
    module: dict[str, Any] = {}
    exec(program("python"), module)
    arks = module["Arks"](site)
    ark = arks.of_draft("item-7", "Draft")
    assert arks.of_draft("item-7", "Another title") == ark
    assert site.get(ark).state == "reserved"
    arks.publish(ark, "https://repository.example/7", **{"erc.who": "Noah"})
    arks.moved(ark, "https://repository.example/items/7")
    moved = site.get(ark)
    assert (moved.state, moved.target) == ("live", "https://repository.example/items/7")
    assert moved.metadata == {"erc.what": "Draft", "erc.who": "Noah"}
    arks.deleted(ark, "withdrawn by its author")
    assert site.get(ark).state == "withdrawn"
    with pytest.raises(RuntimeError, match="was not withdrawn"):
        arks.deleted("ark:12345/x5none", "x")
