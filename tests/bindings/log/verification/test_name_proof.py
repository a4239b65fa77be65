"""Test the verification of proofs of names."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.notes.keys import SignerKey
from ararat.bindings.log.notes.notes import SignedNote
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.verification.name_proof import verify_name
from ararat.bindings.log.verification.policy import Party, Policy


def test_a_proof_of_each_entry_is_verified(long_log):
    log = long_log()
    for index in (0, 1, 255, 256, 511, 512, 699):
        found = verify_name(f"ark:12345/x{index % 100}", log.proof(index), log.policy)
        assert (found.index, found.size, found.entry.revision) == (index, 700, index // 100 + 1)
        assert [each.key.name for each in found.cosignatures] == ["witness.example"]


def test_a_proof_of_another_name_is_refused(long_log):
    log = long_log()
    with pytest.raises(LogError, match="the proof is for ark:12345/x7, not for ark:12345/x8"):
        verify_name("ark:12345/x8", log.proof(7), log.policy)


def test_the_quorum_and_the_log_are_those_of_the_policy(long_log):
    log = long_log()
    proof = Proof.of_bytes(log.proof(7))
    note = SignedNote.of_bytes(proof.checkpoint)
    alone = bytes(replace(proof, checkpoint=bytes(replace(note, signatures=note.signatures[:1]))))
    with pytest.raises(LogError, match="the quorum w of the policy has not seen this checkpoint"):
        verify_name("ark:12345/x7", alone, log.policy)
    without = Policy(logs=log.policy.logs)
    assert verify_name("ark:12345/x7", alone, without).cosignatures == ()
    other = Policy(logs=[Party(key=SignerKey.create("example.org/log").verifier)])
    with pytest.raises(LogError, match=r"no signature of example\.org/log"):
        verify_name("ark:12345/x7", alone, other)


def test_a_proof_without_the_entry_is_refused(long_log):
    log = long_log()
    proof = replace(Proof.of_bytes(log.proof(7)), extra=b"")
    with pytest.raises(LogError, match="does not contain the entry"):
        verify_name("ark:12345/x7", bytes(proof), log.policy)


def test_a_hash_of_the_tree_is_not_an_entry(long_log):
    """A node of the tree, which the log signs too, cannot be passed off as an entry."""
    log = long_log()
    proof = Proof.of_bytes(log.proof(7))
    for changed in (
        replace(proof, index=6),
        replace(proof, index=699),
        replace(proof, index=2**62),
        replace(proof, hashes=proof.hashes[1:]),
        replace(proof, hashes=(*proof.hashes, bytes(32))),
        replace(proof, hashes=()),
        replace(proof, extra=log.content(107)),
        replace(proof, checkpoint=b""),
    ):
        with pytest.raises(LogError):
            verify_name("ark:12345/x7", bytes(changed), log.policy)


def test_changed_bytes_of_a_proof_is_detected(long_log):
    """Change, remove or insert a byte in the proof, or cut the proof, at each third place."""
    log = long_log()
    proof = log.proof(7)
    verify_name("ark:12345/x7", proof, log.policy)
    random_ = random.Random(22)  # noqa: S311 - a repeatable test
    for place in range(0, len(proof), 3):
        byte = bytes([random_.randrange(256)])
        mutants = {
            proof[:place] + byte + proof[place + 1 :],
            proof[:place] + proof[place + 1 :],
            proof[:place] + byte + proof[place:],
            proof[:place],
        }
        for mutant in mutants - {proof}:
            with pytest.raises(LogError) as caught:
                verify_name("ark:12345/x7", mutant, log.policy)
            assert str(caught.value).isascii()
            assert str(caught.value).isprintable()
