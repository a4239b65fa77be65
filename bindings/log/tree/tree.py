"""The Merkle tree of a log: hashes, roots, inclusion proofs and consistency proofs (`RFC 6962, section 2.1
<https://www.rfc-editor.org/rfc/rfc6962.html#section-2.1>`_). The checks of proofs follow `RFC 9162, 2.1.3.2 and 2.1.4.2
<https://www.rfc-editor.org/rfc/rfc9162.html#section-2.1.3.2>`_.

The *subtree* of level 3 and index 2 contains the 8 entries from entry 16. A caller passes ``read``, which returns the
hash of a subtree, so that a tree of any size needs few hashes in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from ....identifiers.text.display import format_count
from ..errors import LogError

HASH_BYTES = 32
"""The length of a hash."""

MAX_SIZE = 2**63 - 1
"""The maximum number of entries. It limits the length of a proof to 64 hashes."""

EMPTY_ROOT = sha256(b"").digest()
"""The root of a tree without entries."""

ReadHash = Callable[[int, int], bytes]
"""A function that returns the hash of the subtree with a level (0 is an entry) and an index."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of a log entry, a leaf of the Merkle tree (32 bytes)."""
    return sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node from those of its two children (32 bytes each)."""
    return sha256(b"\1" + left + right).digest()


def subtree_hash(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of the node above neighbouring subtrees of one level. Their number is a power of 2."""
    while len(hashes) > 1:
        hashes = [node_hash(hashes[i], hashes[i + 1]) for i in range(0, len(hashes), 2)]
    return hashes[0]


def root_hash(size: int, read: ReadHash) -> bytes:
    """Return the root hash of the tree of the first ``size`` log entries."""
    return _range_hash(0, size, read) if size else EMPTY_ROOT


def _range_hash(start: int, end: int, read: ReadHash) -> bytes:
    """Return the hash of the entries from ``start`` to ``end``, which a node of the tree contains."""
    size = end - start
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return read(level, start >> level)
    middle = start + _split_size(size)
    return node_hash(_range_hash(start, middle, read), _range_hash(middle, end, read))


def _split_size(size: int) -> int:
    """Return the largest power of 2 that is less than ``size``."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_proof(index: int, size: int, read: ReadHash) -> list[bytes]:
    """Return the proof that an entry is in the tree of the first ``size`` entries: at most 63 hashes, from its
    neighbour to the child of the root. Raises IndexError if the tree does not have the entry.
    """
    if not 0 <= index < size:
        raise IndexError(f"a tree of {size} entries does not have entry {index}")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split_size(end - start)
        if index < middle:
            proof.append(_range_hash(middle, end, read))
            end = middle
        else:
            proof.append(_range_hash(start, middle, read))
            start = middle
    return proof[::-1]


def root_of_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """Return the root hash that follows from an inclusion proof. The proof is right if it is the root of a trusted tree
    of ``size`` entries. Raises :class:`LogError` if the proof does not fit to the numbers.

    >>> one, two = leaf_hash(b"a"), leaf_hash(b"b")
    >>> root_of_inclusion(two, 1, 2, [one]) == node_hash(one, two)
    True
    """
    if not 0 <= index < size <= MAX_SIZE:
        raise LogError(
            f"the proof is for entry {index} of a tree of {format_count(size, 'entry', 'entries')}, "
            "which does not have it"
        )
    # The path from the entry meets the right edge of the tree at this level.
    inner = (index ^ (size - 1)).bit_length()
    expected = inner + (index >> inner).bit_count()
    if len(proof) != expected:
        raise LogError(f"the proof of inclusion has {len(proof)} hashes instead of {expected}")
    node = leaf
    for level, other in enumerate(proof):
        is_right = level >= inner or index >> level & 1
        node = node_hash(other, node) if is_right else node_hash(node, other)
    return node


def consistency_proof(old: int, new: int, read: ReadHash) -> list[bytes]:
    """Return the proof that the tree of ``new`` entries begins with that of the first ``old`` entries. It is empty if
    one has no entries, or if both are the same. Raises IndexError if ``old`` is larger than ``new``.
    """
    if not 0 <= old <= new:
        raise IndexError(f"a tree of {new} entries does not contain a tree of {old} entries")
    if old in (0, new):
        return []
    proof: list[bytes] = []
    start, end = 0, new
    while end != old:
        middle = start + _split_size(end - start)
        if old <= middle:
            proof.append(_range_hash(middle, end, read))
            end = middle
        else:
            proof.append(_range_hash(start, middle, read))
            start = middle
    # The verifier has the root of the old tree, so a proof that begins with it omits it.
    return [*([_range_hash(start, end, read)] if start else []), *reversed(proof)]


def check_consistency(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> None:
    """Check a :func:`consistency_proof`. Raises :class:`LogError` if it is wrong: the log removed or changed entries,
    or the proof is forged.
    """
    if not 0 <= old <= new <= MAX_SIZE:
        raise LogError(f"a tree of {new:,} entries does not contain one of {old:,}")
    larger, smaller = format_count(new, "entry", "entries"), format_count(old, "entry", "entries")
    inconsistent = LogError(f"the tree of {larger} does not begin with the tree of {smaller}")
    if old in (0, new):
        if proof:
            raise LogError(f"the proof of consistency has {len(proof)} hashes instead of 0")
        if old_root != (EMPTY_ROOT if old == 0 else new_root) or (new == 0 and new_root != EMPTY_ROOT):
            raise inconsistent
        return
    # The last complete subtree of the old tree. The proof begins with its hash, unless it is the whole old tree.
    level = (old & -old).bit_length() - 1
    index, last = (old - 1) >> level, (new - 1) >> level
    hashes = list(proof) if index else [old_root, *proof]
    inner = (index ^ last).bit_length()
    expected = 1 + inner + (index >> inner).bit_count()
    if len(hashes) != expected:
        raise LogError(
            f"the proof of consistency has {len(proof)} hashes instead of {len(proof) + expected - len(hashes)}"
        )
    old_found = new_found = hashes[0]
    for number, other in enumerate(hashes[1:]):
        if number >= inner or index >> number & 1:
            old_found, new_found = node_hash(other, old_found), node_hash(other, new_found)
        else:
            new_found = node_hash(new_found, other)
    if (old_found, new_found) != (old_root, new_root):
        raise inconsistent
