"""`ararat witness`: its effects, its output, its exit codes, and two instances that witness each other."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from ararat.bindings.log.notes.key_file import locked_key
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey, VerifierKey
from ararat.bindings.log.witnesses.witness import Witness
from ararat.middleware.log.witnesses.application import witness_application
from tests.http_servers import serving

NAME = "witness.example"
LOOPBACK = ("--allow-network", "127.0.0.0/8")


def unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def folder(ararat, tmp_path: Path) -> Path:
    """The folder of a new witness."""
    assert ararat("witness", "init", "--name", NAME, "--dir", str(tmp_path / "w")).exit_code == 0
    return tmp_path / "w"


@pytest.fixture
def serve_witness() -> Iterator[Callable[[Path], str]]:
    """serve_witness(folder) serves a witness on the loopback address, and returns its URL."""
    with ExitStack() as servers:

        def serve(path: Path) -> str:
            with locked_key(path / "witness.key") as key:
                application = witness_application(Witness(path / "witness.sqlite"), key)
            server = servers.enter_context(serving(make_server("127.0.0.1", 0, application)))
            return f"http://127.0.0.1:{server.server_port}"

        yield serve


def test_init_prints_the_public_key_and_protects_the_secret_one(ararat, tmp_path):
    path = tmp_path / "w"
    done = ararat("witness", "init", "--name", NAME, "--dir", str(path))
    key = VerifierKey.of_text(done.stdout.strip())
    assert (done.exit_code, key.name, key.algorithm) == (0, NAME, COSIGNATURE)
    assert (path.stat().st_mode & 0o777, (path / "witness.key").stat().st_mode & 0o777) == (0o700, 0o600)
    again = ararat("witness", "init", "--name", NAME, "--dir", str(path))
    assert (again.exit_code, "log-key" in again.stderr) == (2, True)


def test_add_and_list(ararat, folder):
    key = SignerKey.create("example.org/log").verifier
    done = ararat("witness", "add", str(key), "--dir", str(folder))
    assert (done.exit_code, done.stdout) == (0, "The witness cosigns the log example.org/log.\n")
    assert "already cosigns" in ararat("witness", "add", str(key), "--dir", str(folder)).stdout
    other = ararat("witness", "add", str(SignerKey.create("example.org/log").verifier), "--dir", str(folder))
    assert (other.exit_code, "(witness-log)" in unwrapped(other.stderr)) == (2, True)
    assert ararat("witness", "list", "--dir", str(folder)).stdout == "example.org/log: 0 entries\n"
    found = json.loads(ararat("witness", "list", "--dir", str(folder), "--json").stdout)
    assert found == {"log": "example.org/log", "vkey": str(key), "size": 0}


def test_a_publication_is_cosigned_over_http(ararat, published, folder, serve_witness, tmp_path):
    with locked_key(folder / "witness.key") as key:
        vkey = key.verifier
    policy = tmp_path / "policy"
    url = serve_witness(folder)
    policy.write_text(f"log {published.vkey}\nwitness w {vkey} {url}\nquorum w\n", "utf-8")
    assert ararat("relocate", "ark:12345/doc", "https://example.org/9").exit_code == 0
    given = ("--policy", str(policy), *LOOPBACK)
    # The witness does not know the log yet.
    refused = published.publish(*given)
    assert refused.exit_code == 2
    assert "w: it answers 404: the log example.org/log is not known here (log-quorum)" in unwrapped(refused.stderr)
    done = published.publish(*given, "--quorum", "prefer")
    assert done.exit_code == 0
    assert "the witness w has not cosigned: it answers 404" in unwrapped(done.stderr)
    assert ararat("monitor", str(published.folder), "--policy", str(policy)).exit_code == 1
    assert ararat("witness", "add", published.vkey, "--dir", str(folder)).exit_code == 0
    found = json.loads(published.publish(*given, "--json").stdout)
    assert (found["added"], found["size"], found["cosigned"], found["failures"]) == (0, 2, [NAME], {})
    assert ararat("monitor", str(published.folder), "--policy", str(policy)).exit_code == 0
    proof = tmp_path / "proof"
    proof.write_bytes(published.proof(1))
    shown = ararat("verify-name", "ark:12345/doc", "--proof", str(proof), "--policy", str(policy))
    assert shown.exit_code == 0
    assert f"Witness {NAME} has seen the checkpoint, 2" in unwrapped(shown.stdout)
    assert ararat("witness", "list", "--dir", str(folder)).stdout == "example.org/log: 2 entries\n"


def test_private_addresses_need_permission(ararat, published, folder, serve_witness, tmp_path):
    with locked_key(folder / "witness.key") as key:
        vkey = key.verifier
    (tmp_path / "policy").write_text(f"witness w {vkey} {serve_witness(folder)}\nquorum w\n", "utf-8")
    done = published.publish("--policy", str(tmp_path / "policy"))
    assert (done.exit_code, "--allow-network" in done.stderr) == (2, True)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("init", "--name", "two words"), 2, "log-origin"),
        (("init",), 64, "--name"),
        (("add", "x\x1b[2J"), 2, "verifier key"),
        (("add", "KEY"), 2, "witness-state"),
        (("list",), 2, "witness-state"),
        (("serve",), 2, "log-key"),
    ],
)
def test_wrong_use_is_explained(ararat, tmp_path, arguments, code, message):
    key = str(SignerKey.create("example.org/log").verifier)
    done = ararat("witness", *[key if each == "KEY" else each for each in arguments], "--dir", str(tmp_path / "none"))
    assert done.exit_code == code
    assert message in unwrapped(done.stderr)


@pytest.mark.long
def test_two_instances_witness_each_other(ararat, start_server, tmp_path):
    """Two institutions, each with a database, a log and `ararat witness serve` in its own process."""
    names = ("library", "archive")
    at = {name: tmp_path / name for name in names}
    logs: dict[str, str] = {}
    witnesses: dict[str, str] = {}
    urls: dict[str, str] = {}

    def run(name: str, *arguments: str, database: bool = False) -> str:
        given = ("--database", str(at[name] / "names.sqlite")) if database else ()
        done = ararat(*[str(at[name] / each[1:]) if each.startswith("@") else each for each in arguments], *given)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    for name in names:
        at[name].mkdir()
        run(name, "init", database=True)
        origin = f"{name}.example/log"
        logs[name] = run(name, "log", "init", "--origin", origin, "--dir", "@log", database=True).splitlines()[0]
        witnesses[name] = run(name, "witness", "init", "--name", f"{name}.example/witness", "--dir", "@w").strip()
    for name, other in (names, names[::-1]):
        run(name, "witness", "add", logs[other], "--dir", "@w")
        command = [sys.executable, "-m", "ararat", "witness", "serve", "--dir", "w", "--port", "0"]
        urls[name] = start_server(command, folder=at[name]).wait_for(r"Witness \S+ (http://\S+)")
    for name, other in (names, names[::-1]):
        policy = f"log {logs[name]}\nwitness {other} {witnesses[other]} {urls[other]}\nquorum {other}\n"
        (at[name] / "policy").write_text(policy, "utf-8")
    for turn in range(3):
        for name in names:
            run(name, "bind", f"ark:12345/x{turn}", f"https://{name}.example/{turn}", database=True)
            run(name, "log", "publish", "--dir", "@log", "--policy", "@policy", *LOOPBACK, database=True)
            assert "No problem in the log" in run(name, "monitor", "@log", "--policy", "@policy", "--state", "@seen")
    for name in names:
        assert run(name, "witness", "list", "--dir", "@w").endswith("/log: 3 entries\n")
