"""Test tokens of ``oidc-provider``, a certified OpenID provider in node, which npm installs for this test."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import contextmanager

import pytest
import requests
from joserfc.jwk import ECKey, OKPKey, RSAKey

from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.ports import free_port

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("node") or not shutil.which("npm"), reason="node or npm is not installed"),
]

AUDIENCE = "https://ids.example.org"
SECRET = "the secret of the client"
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")

# Each client has the name of the algorithm with which its tokens are signed.
PROVIDER = """
import { readFileSync } from "node:fs";
import { Provider } from "oidc-provider";
const [port, keys] = process.argv.slice(2);
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: algorithms.map((each) => ({
    client_id: each, client_secret: "the secret of the client",
    grant_types: ["client_credentials"], redirect_uris: [], response_types: [],
  })),
  jwks: JSON.parse(readFileSync(keys)),
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (context, resource, client) => ({
        scope: "mint", audience: resource, accessTokenFormat: "jwt", jwt: { sign: { alg: client.clientId } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder with the provider."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text("{}")
    (folder / "provider.mjs").write_text(PROVIDER)
    command = ["npm", "install", "--no-audit", "--no-fund", "oidc-provider@9"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot install oidc-provider: {done.stderr.strip().splitlines()[-1:]}")
    return folder


@contextmanager
def running(folder, port, generation):
    """Run the provider with keys of its own."""
    made = [RSAKey.generate_key(2048), ECKey.generate_key("P-256"), OKPKey.generate_key("Ed25519")]
    keys = [key.as_dict(private=True) | {"kid": f"{generation}-{key.key_type}", "use": "sig"} for key in made]
    (folder / "keys.json").write_text(json.dumps({"keys": keys}))
    command = ["node", "provider.mjs", str(port), "keys.json"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, b"")
            assert b"ready\n" in lines, (folder / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def token(issuer, algorithm, resource=AUDIENCE):
    form = {"grant_type": "client_credentials", "resource": resource}
    answer = requests.post(f"{issuer}/token", data=form, auth=(algorithm, SECRET), timeout=20)
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def test_programs_send_the_tokens_of_a_certified_provider(installed, tmp_path):
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("repository", "curator", ["12345/x5"], is_program=True)
        bindings.prefixes.set("12345/x5", what="Maps")
        app = create_app(
            bindings, prefix=AUDIENCE, ezid="/ezid", token_audience=AUDIENCE, token_issuers=[issuer]
        ).test_client()

        def asked(path, sent, **more):
            return app.open(path, base_url=AUDIENCE, headers={"Authorization": f"Bearer {sent}"}, **more)

        with running(installed, port, 1):
            for algorithm in ALGORITHMS:
                assert asked("/api/v1/account", token(issuer, algorithm)).status_code == 401
                accounts.identities.link(issuer, algorithm, "repository")
                assert asked("/api/v1/account", token(issuer, algorithm)).get_json()["name"] == "repository"
            assert asked("/api/v1/account", token(issuer, "RS256", "https://other.example")).status_code == 401
            minted = asked(
                "/ezid/shoulder/ark:/12345/x5", token(issuer, "ES256"), method="POST", data="_status: reserved"
            )
            assert minted.text.startswith("success: ark:/12345/x5")
        with running(installed, port, 2):
            new = token(issuer, "RS256")
            assert asked("/api/v1/account", new).status_code == 200
        # The keys are kept while the provider is away.
        assert asked("/api/v1/account", new).status_code == 200
    with open_bindings(tmp_path / "bindings.sqlite") as bindings:
        # A new process has no keys yet.
        app = create_app(bindings, prefix=AUDIENCE, token_audience=AUDIENCE, token_issuers=[issuer]).test_client()
        away = app.get("/api/v1/account", base_url=AUDIENCE, headers={"Authorization": f"Bearer {new}"})
        assert (away.status_code, away.get_json()["code"], away.headers["Retry-After"]) == (
            503,
            "provider-unavailable",
            "60",
        )
