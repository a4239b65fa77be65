"""`ararat verify-name`: its output and its exit codes."""

from __future__ import annotations

import json
import re

import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Response

from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.middleware import ResolverMiddleware, open_bindings


def unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_a_proof_in_a_file_is_verified(ararat, published, tmp_path):
    proof = tmp_path / "doc.tlog-proof"
    proof.write_bytes(published.proof(0))
    for spelling in ("ark:12345/doc", "ark:/12345/d-oc", "https://n2t.net/ark:12345/doc?info"):
        done = ararat("verify-name", spelling, "--proof", str(proof), "--vkey", published.vkey)
        assert done.exit_code == 0, done.stderr
        shown = unwrapped(done.stdout)
        assert "Proved: ark:12345/doc is in the log example.org/log." in shown
        assert "Entry 0; the signed checkpoint has 1 entry" in shown
        assert "Change 1: bound, 2" in shown
        assert "no witness of the policy has seen the checkpoint" in shown
        assert "Not proved that this is the last change" in shown


def test_standard_input_and_json(ararat, published):
    done = ararat(
        "verify-name", "ark:12345/doc", "--proof", "-", "--vkey", published.vkey, "--json", given=published.proof(0)
    )
    found = json.loads(done.stdout)
    assert (done.exit_code, found["proved"], found["entry"], found["size"]) == (0, True, 0, 1)
    assert (found["action"], found["before"], found["witnesses"]) == ("bound", None, [])
    assert len(bytes.fromhex(found["thing"])) == 32
    done = ararat("verify-name", "ark:12345/x", "--proof", "-", "--vkey", published.vkey, "--json", given=b"\xff")
    assert (done.exit_code, json.loads(done.stdout)["proved"]) == (1, False)


def test_a_proof_at_a_url_is_verified(ararat, published, serve_folder, tmp_path):
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "ark:12345").mkdir()
    (tmp_path / "proofs" / "ark:12345" / "doc").write_bytes(published.proof(0))
    url = serve_folder(tmp_path / "proofs")
    given = ("--vkey", published.vkey, "--allow-network", "127.0.0.0/8")
    # The resolver answers for the address of the name with ?proof.
    assert ararat("verify-name", f"{url}/ark:12345/doc", *given).exit_code == 0
    missing = ararat("verify-name", f"{url}/ark:12345/other", *given)
    assert missing.exit_code == 1
    assert "answers 404" in unwrapped(missing.stderr)
    # Without the option, private addresses are refused.
    blocked = ararat("verify-name", f"{url}/ark:12345/doc", "--vkey", published.vkey)
    assert blocked.exit_code == 69
    assert "--allow-network" in unwrapped(blocked.stderr)


def test_the_answer_of_a_resolver_is_verified(ararat, published, database):
    with open_bindings(database) as bindings:
        site = ResolverMiddleware(Response(status=404), bindings, log="/log", log_folder=str(published.folder))
        proof = Client(site).get("/ark:12345/doc?proof").data
    for name, code in (("ark:12345/doc", 0), ("ark:12345/doc/page", 1), ("ark:12345/other", 1)):
        assert ararat("verify-name", name, "--proof", "-", "--vkey", published.vkey, given=proof).exit_code == code


def test_a_policy_states_the_quorum(ararat, published, tmp_path):
    proof, policy = tmp_path / "proof", tmp_path / "policy"
    proof.write_bytes(published.proof(0))
    policy.write_text(f"log {published.vkey}\nquorum none\n", "utf-8")
    arguments = ("verify-name", "ark:12345/doc", "--proof", str(proof), "--policy", str(policy))
    assert ararat(*arguments).exit_code == 0
    witness = SignerKey.create("witness.example", COSIGNATURE).verifier
    policy.write_text(f"log {published.vkey}\nwitness w {witness}\nquorum w\n", "utf-8")
    refused = ararat(*arguments)
    assert refused.exit_code == 1
    assert "not proved: the quorum w of the policy has not seen this checkpoint" in unwrapped(refused.stderr)
    policy.write_text("quorum x\n", "utf-8")
    refused = ararat(*arguments)
    assert (refused.exit_code, "line 1 of the policy: no line before defines x" in unwrapped(refused.stderr)) == (
        2,
        True,
    )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("ark:12345/doc", "--proof", "-"), 64, "--policy or --vkey"),
        (("ark:12345/doc", "--vkey", "KEY"), 64, "--proof"),
        (("ark:12345/doc", "--proof", "-", "--vkey", "KEY", "--policy", "x"), 64, "leave out --vkey"),
        (("ark:12345/doc", "--proof", "-", "--vkey", "x\x1b[2J"), 2, "verifier key"),
        (("ark:12345/doc", "--proof", "missing\x1b", "--vkey", "KEY"), 66, "cannot be read"),
        (("ark:12345/doc", "--proof", "/", "--vkey", "KEY"), 66, "cannot be read"),
        (("ark:12345/doc", "--proof", "-", "--policy", "missing"), 66, "cannot be read"),
        (("doc", "--proof", "-", "--vkey", "KEY"), 2, "not a valid identifier"),
        (("ark:12345/doc", "--proof", "http://[/", "--vkey", "KEY"), 1, "is not the URL of a file"),
        (
            ("ark:12345/doc", "--proof", "-", "--vkey", "KEY", "--allow-network", "x"),
            64,
            "not a network in CIDR notation",
        ),
        (("ark:12345/doc", "--proof", "-", "--vkey", "KEY"), 1, "does not begin with c2sp.org/tlog-proof@v1"),
    ],
)
def test_wrong_use_and_hostile_proofs_are_explained(ararat, arguments, code, message):
    key = str(SignerKey.create("example.org/log").verifier)
    done = ararat("verify-name", *[key if each == "KEY" else each for each in arguments], given=b"\x1b[2J\n\n\xff")
    assert done.exit_code == code
    assert message in unwrapped(done.stderr)
