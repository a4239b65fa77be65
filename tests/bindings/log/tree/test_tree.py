"""Test the Merkle tree with the published vectors of RFC 6962, with definitions of that document, and with pymerkle."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from hashlib import sha256

import pymerkle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.tree.tree import (
    EMPTY_ROOT,
    ReadHash,
    check_consistency,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_hash,
    root_of_inclusion,
    subtree_hash,
)

# The entries and roots of the tests of the Certificate Transparency project.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243"),
        *("5051525354555657", "606162636465666768696a6b6c6d6e6f"),
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
MANY = [f"entry {number}".encode() for number in range(40)]


def reading(entries: Sequence[bytes]) -> ReadHash:
    leaves = [leaf_hash(entry) for entry in entries]
    return lambda level, index: subtree_hash(leaves[index << level : (index + 1) << level])


def mth(entries: Sequence[bytes]) -> bytes:
    """Return the Merkle tree hash by the definition in RFC 6962, section 2.1."""
    if not entries:
        return sha256().digest()
    if len(entries) == 1:
        return sha256(b"\0" + entries[0]).digest()
    k = 1
    while 2 * k < len(entries):
        k *= 2
    return sha256(b"\1" + mth(entries[:k]) + mth(entries[k:])).digest()


def path(m: int, entries: Sequence[bytes]) -> list[bytes]:
    """Return the audit path by the definition in RFC 6962, section 2.1.1."""
    if len(entries) == 1:
        return []
    k = 1
    while 2 * k < len(entries):
        k *= 2
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def subproof(m: int, entries: Sequence[bytes], *, complete: bool) -> list[bytes]:
    """Return the consistency proof by the definition in RFC 6962, section 2.1.2."""
    if m == len(entries):
        return [] if complete else [mth(entries)]
    k = 1
    while 2 * k < len(entries):
        k *= 2
    if m <= k:
        return [*subproof(m, entries[:k], complete=complete), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], complete=False), mth(entries[:k])]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size):
    assert root_hash(size, reading(ENTRIES)).hex() == ROOTS[size]
    assert ROOTS[0] == EMPTY_ROOT.hex()


def test_proofs_follow_the_definitions_and_are_accepted():
    read = reading(MANY)
    roots = [mth(MANY[:size]) for size in range(len(MANY) + 1)]
    for size in range(1, len(MANY) + 1):
        assert root_hash(size, read) == roots[size]
        for index in range(size):
            proof = inclusion_proof(index, size, read)
            assert proof == path(index, MANY[:size])
            assert root_of_inclusion(leaf_hash(MANY[index]), index, size, proof) == roots[size]
        for old in range(1, size + 1):
            proof = consistency_proof(old, size, read)
            assert proof == subproof(old, MANY[:size], complete=True)
            check_consistency(old, roots[old], size, roots[size], proof)


def test_pymerkle_computes_the_same_roots_and_proofs():
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for entry in MANY:
        tree.append_entry(entry)
    read = reading(MANY)
    for size in (1, 2, 3, 7, 32, 33, 40):
        assert tree.get_state(size) == root_hash(size, read)
        other = tree.prove_inclusion(1, size).serialize()["path"]  # it begins with the hash of the entry itself
        assert [bytes.fromhex(node) for node in other[1:]] == inclusion_proof(0, size, read)
        proof = tree.prove_inclusion(size, size)
        pymerkle.verify_inclusion(leaf_hash(MANY[size - 1]), root_hash(size, read), proof)
        pymerkle.verify_consistency(root_hash(1, read), root_hash(size, read), tree.prove_consistency(1, size))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_proof_is_refused(data):
    size = data.draw(st.integers(2, len(MANY)))
    read, root = reading(MANY), mth(MANY[:size])
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size - 1))
    for proof, check in (
        (inclusion_proof(index, size, read), lambda it: root_of_inclusion(leaf_hash(MANY[index]), index, size, it)),
        (consistency_proof(old, size, read), lambda it: check_consistency(old, mth(MANY[:old]), size, root, it)),
    ):
        place = data.draw(st.integers(0, len(proof) - 1))
        changed = bytes(byte ^ 1 for byte in proof[place])
        for forged in (
            proof[:place] + proof[place + 1 :],
            [*proof, changed],
            [*proof[:place], changed, *proof[place + 1 :]],
        ):
            with contextlib.suppress(LogError):
                assert check(forged) not in (root, None)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 3), (0, 2**64)])
def test_a_proof_for_an_entry_outside_of_the_tree_is_refused(index, size):
    with pytest.raises(LogError, match="does not have it"):
        root_of_inclusion(bytes(32), index, size, [])
    with pytest.raises(IndexError):
        inclusion_proof(index, min(size, 3), reading(MANY[:3])) if index else inclusion_proof(3, 3, reading(MANY[:3]))


@pytest.mark.parametrize(
    ("old", "old_root", "new", "new_root", "proof"),
    [
        pytest.param(0, bytes(32), 3, mth(MANY[:3]), [], id="wrong root of the empty tree"),
        pytest.param(0, EMPTY_ROOT, 0, bytes(32), [], id="two empty trees"),
        pytest.param(3, mth(MANY[:3]), 3, bytes(32), [], id="the same size and two roots"),
        pytest.param(3, mth(MANY[:3]), 3, mth(MANY[:3]), [bytes(32)], id="an unneeded hash"),
        pytest.param(4, mth(MANY[:4]), 3, mth(MANY[:3]), [], id="a log that shrinks"),
        pytest.param(2, mth(MANY[:2]), 3, mth(MANY[:3]), [], id="no proof"),
        pytest.param(-1, EMPTY_ROOT, 3, mth(MANY[:3]), [], id="a negative size"),
    ],
)
def test_inconsistent_trees_are_refused(old, old_root, new, new_root, proof):
    with pytest.raises(LogError):
        check_consistency(old, old_root, new, new_root, proof)


def test_a_consistency_proof_needs_an_older_tree():
    with pytest.raises(IndexError):
        consistency_proof(4, 3, reading(MANY))
