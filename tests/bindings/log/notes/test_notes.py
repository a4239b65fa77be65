"""Test keys, signed notes, checkpoints and proofs with published vectors and with forged content."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.notes.checkpoints import Checkpoint, read_checkpoint
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey, VerifierKey, decode, encode
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.tree.tree import EMPTY_ROOT, leaf_hash, node_hash

# The example of Go's package sumdb/note.
GO_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_NOTE = """If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
"""
# The examples of C2SP tlog-checkpoint and tlog-cosignature.
C2SP_NOTE = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa \
Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 \
jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
"""

LOG = SignerKey(name="example.org/log", secret=bytes(range(32)))
WITNESS = SignerKey(name="witness.example/w1", secret=bytes(range(1, 33)), algorithm=COSIGNATURE)
ONE, TWO = leaf_hash(b"one"), leaf_hash(b"two")
HEAD = Checkpoint(origin=LOG.name, size=2, root=node_hash(ONE, TWO))
SIGNED = bytes(sign_note(HEAD.text, [LOG, WITNESS], 1_790_000_000))


def test_the_keys_and_the_note_of_go_are_read_and_written():
    verifier, signer = VerifierKey.of_text(GO_VERIFIER), SignerKey.of_text(GO_SIGNER)
    assert (str(verifier), signer.secret_text, signer.verifier) == (GO_VERIFIER, GO_SIGNER, verifier)
    note = SignedNote.of_bytes(GO_NOTE.encode())
    assert [found.key for found in note.verify([verifier])] == [verifier]
    assert bytes(note) == bytes(sign_note(note.text, [signer])) == GO_NOTE.encode()


def test_the_example_of_c2sp_is_read_and_written():
    note = SignedNote.of_bytes(C2SP_NOTE.encode())
    assert bytes(note) == C2SP_NOTE.encode()
    checkpoint = Checkpoint.of_text(note.text)
    assert (checkpoint.origin, checkpoint.size, checkpoint.text) == ("example.com/behind-the-sofa", 20852163, note.text)
    assert [signature.key_id.hex() for signature in note.signatures] == ["033de0ae", "8d66cf3f"]
    # The cosignature begins with the time of the example.
    assert note.signatures[1].value[:8] == (1679315147).to_bytes(8, "big")


def test_a_secret_is_not_shown():
    key = SignerKey.create("example.org/log")
    assert "secret" not in repr(key)
    assert key != SignerKey.create("example.org/log")
    with pytest.raises(LogError) as caught:
        SignerKey.of_text(LOG.secret_text[:-6])
    assert LOG.secret_text[-20:-6] not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "a+b", "+c74f20a3+AQ==", "a+c74f20a3+", "a+c74f20a3+!!", "a b+c74f20a3+AQ==", "a+C74F20A3+AQ=="),
        GO_VERIFIER.replace("c74f20a3", "c74f20a4"),
        GO_VERIFIER.replace("Peter", "Pete"),
        GO_VERIFIER.replace("ARpc", "AhpC"),
        GO_VERIFIER + "A",
        GO_VERIFIER + "\n",
        GO_VERIFIER.replace("+c7", "+ c7"),
        GO_VERIFIER.replace("10TW", "10TX"),
        "\ud800" + GO_VERIFIER,
        "a" * 256 + GO_VERIFIER[12:],
    ],
)
def test_a_text_that_is_not_a_key_is_refused(text):
    with pytest.raises(LogError) as caught:
        VerifierKey.of_text(text)
    assert str(caught.value).isascii()
    with pytest.raises(LogError):
        SignerKey.of_text(f"PRIVATE+KEY+{text}")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\0", "a\N{NO-BREAK SPACE}b", "é" * 200, "\udcff"])
def test_a_key_with_a_wrong_name_is_not_created(name):
    with pytest.raises(LogError, match="cannot be the name of a key"):
        SignerKey.create(name)


def test_a_checkpoint_with_cosignatures_is_read():
    assert read_checkpoint(SIGNED, LOG.verifier) == (HEAD, [])
    checkpoint, cosignatures = read_checkpoint(SIGNED, LOG.verifier, [WITNESS.verifier])
    assert checkpoint == HEAD
    assert [(found.key, found.time) for found in cosignatures] == [(WITNESS.verifier, 1_790_000_000)]


def test_a_cosignature_has_the_message_of_the_specification():
    text = HEAD.text.encode()
    signed = b"cosignature/v1\ntime 1790000000\n" + text
    plain = SignerKey(name=WITNESS.name, secret=WITNESS.secret)
    assert WITNESS.sign(text, 1_790_000_000) == (1_790_000_000).to_bytes(8, "big") + plain.sign(signed)
    assert WITNESS.verifier.key_id != plain.verifier.key_id
    assert not WITNESS.verifier.verify(text, WITNESS.sign(text, 1)[:8])
    assert not WITNESS.verifier.verify(text, b"")


@given(st.integers(0, len(SIGNED) - 1), st.integers(1, 255))
def test_a_changed_byte_is_noticed(position, change):
    changed = bytearray(SIGNED)
    changed[position] ^= change
    try:
        found = read_checkpoint(bytes(changed), LOG.verifier, [WITNESS.verifier])
    except LogError:
        return
    # With another name or ID, the cosignature is that of an unknown witness.
    assert found == (HEAD, [])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_note_or_refused(content):
    for read in (SignedNote.of_bytes, Proof.of_bytes):
        with contextlib.suppress(LogError):
            assert bytes(read(content)) == content


SIGNATURE = SIGNED.decode().splitlines()[-2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("text\n", "an empty line and lines with signatures", id="no signature"),
        pytest.param("text\n\n", "an empty line and lines with signatures", id="no line"),
        pytest.param(f"text\n\n{SIGNATURE}", "an empty line and lines", id="no line end"),
        pytest.param("text\r\n\n— a AAAAAAA=\n", "a control character at position 4", id="carriage return"),
        pytest.param("text\n\n- a AAAAAAA=\n", "is not a signature", id="hyphen"),
        pytest.param("text\n\n— a  AAAAAAA=\n", "is not a signature", id="two spaces"),
        pytest.param("text\n\n— a AAAAAA==\n", "is not a signature", id="no bytes after the ID"),
        pytest.param("text\n\n— a+b AAAAAAA=\n", "is not a signature", id="name with plus"),
        pytest.param("text\n\n— a AAAAAAB=\n", "is not a signature", id="unused bits"),
        pytest.param("text\n\n" + "— a AAAAAAA=\n" * 101, "101 signatures", id="many signatures"),
        pytest.param("t" * 1_000_001, "at most 1,000,000", id="long"),
    ],
)
def test_malformed_notes_are_refused(content, message):
    with pytest.raises(LogError, match=message):
        SignedNote.of_bytes(content.encode())


@pytest.mark.parametrize(
    "text",
    [
        *("", "a\n", "a\n1\n", "a\n1\nAAAA\n", f"\n1\n{encode(ONE)}\n", f"a\n01\n{encode(ONE)}\n"),
        *(
            f"a\n+1\n{encode(ONE)}\n",
            f"a\n1 \n{encode(ONE)}\n",
            f"a\n٣\n{encode(ONE)}\n",
            f"a\n{2**63}\n{encode(ONE)}\n",
        ),
        *(f"a\n1\n{encode(ONE)}\n\n", f"a\n1\n{encode(ONE)}", f"a\n0\n{encode(ONE)}\n", f"a\n1\n{encode(ONE)[:-1]}\n"),
    ],
)
def test_malformed_checkpoints_are_refused(text):
    with pytest.raises(LogError):
        Checkpoint.of_text(text)


def test_extension_lines_are_kept():
    text = f"{HEAD.text}more\n"
    assert Checkpoint.of_text(text).extensions == ("more",)
    assert Checkpoint.of_text(text).text == text


@pytest.mark.parametrize(
    ("note", "message"),
    [
        pytest.param(sign_note(HEAD.text, [WITNESS]), "no signature of example.org/log", id="unknown key"),
        pytest.param(
            sign_note(HEAD.text.replace("example.org", "example.com"), [LOG]), "not of example.org/log", id="other log"
        ),
        pytest.param(sign_note("a\nb\n", [LOG]), "three lines", id="another text"),
    ],
)
def test_checkpoints_of_another_log_are_refused(note, message):
    with pytest.raises(LogError, match=message):
        read_checkpoint(bytes(note), LOG.verifier)
    with pytest.raises(LogError, match=r"has no signature of example\.org/log|not of|three lines"):
        read_checkpoint(bytes(note), LOG.verifier, [WITNESS.verifier])


def test_a_wrong_signature_of_a_known_witness_is_refused():
    forged = sign_note(HEAD.text, [LOG]).signatures + sign_note("other\n", [WITNESS]).signatures
    note = bytes(SignedNote(text=HEAD.text, signatures=forged))
    assert read_checkpoint(note, LOG.verifier)[0] == HEAD
    with pytest.raises(LogError, match=re.escape("the signature of witness.example/w1 is wrong")):
        read_checkpoint(note, LOG.verifier, [WITNESS.verifier])


def test_a_proof_is_verified():
    proof = Proof(index=1, hashes=(ONE,), checkpoint=SIGNED, extra=b"two")
    assert Proof.of_bytes(bytes(proof)) == proof
    checkpoint, cosignatures = proof.verify(b"two", LOG.verifier, [WITNESS.verifier])
    assert (checkpoint, len(cosignatures)) == (HEAD, 1)
    lines = bytes(proof).decode().splitlines()
    assert lines[:5] == ["c2sp.org/tlog-proof@v1", "extra dHdv", "index 1", encode(ONE), ""]
    for entry, index, hashes in ((b"three", 1, (ONE,)), (b"two", 0, (ONE,)), (b"two", 1, (TWO,)), (b"two", 1, ())):
        with pytest.raises(LogError):
            Proof(index=index, hashes=hashes, checkpoint=SIGNED).verify(entry, LOG.verifier)


@pytest.mark.parametrize(
    "head",
    [
        *("", "c2sp.org/tlog-proof@v2\nindex 1", "c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v1\nindex"),
        *("c2sp.org/tlog-proof@v1\nindex 01", "c2sp.org/tlog-proof@v1\nindex -1", "c2sp.org/tlog-proof@v1\nindex 1 "),
        *("c2sp.org/tlog-proof@v1\nindex 1\nextra dHdv", "c2sp.org/tlog-proof@v1\nextra ?\nindex 1"),
        *("c2sp.org/tlog-proof@v1\nindex 1\nAAAA", "c2sp.org/tlog-proof@v1\r\nindex 1"),
        "c2sp.org/tlog-proof@v1\nindex 1" + f"\n{encode(ONE)}" * 64,
        "c2sp.org/tlog-proof@v1\nindex ٣",
    ],
)
def test_malformed_proofs_are_refused(head):
    with pytest.raises(LogError):
        Proof.of_bytes(f"{head}\n\n".encode() + SIGNED)


def test_base_64_has_one_form():
    assert decode(encode(b"\0\xff")) == b"\0\xff"
    for text in ("AA", "AB==", "AA==\n", "AA==AA==", " AA==", "-_8=", "AA=A", "é"):
        with pytest.raises(ValueError, match="not Base 64"):
            decode(text)


def test_the_root_of_an_empty_log_is_known():
    assert Checkpoint.of_text(f"a\n0\n{encode(EMPTY_ROOT)}\n").size == 0
