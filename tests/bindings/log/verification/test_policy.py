"""Test the reading of policies and their quorum."""

from __future__ import annotations

import itertools

import pytest

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.notes.checkpoints import Checkpoint
from ararat.bindings.log.notes.keys import COSIGNATURE, ED25519, SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.verification.policy import Policy

LOG = SignerKey(name="example.org/log", secret=bytes(32))
WITNESSES = [
    SignerKey(name=f"w{number}.example", secret=bytes([number] * 32), algorithm=COSIGNATURE) for number in range(1, 7)
]
CHECKPOINT = Checkpoint(origin=LOG.name, size=3, root=bytes(32))


def text(*lines: str) -> bytes:
    """Return a policy with one log and six witnesses named X1 to X3 and Y1 to Y3."""
    names = ("X1", "X2", "X3", "Y1", "Y2", "Y3")
    known = [f"witness {name} {key.verifier}" for name, key in zip(names, WITNESSES, strict=True)]
    return "".join(f"{line}\n" for line in (f"log {LOG.verifier}", *known, *lines)).encode()


def test_the_example_of_the_format():
    policy = Policy.of_bytes(
        text(
            "group X-witnesses 2 X1 X2 X3",
            "group Y-witnesses any Y1 Y2 Y3",
            "group X-and-Y all X-witnesses Y-witnesses",
            "quorum X-and-Y",
        )
    )
    keys = [key.verifier for key in WITNESSES]
    for chosen in itertools.product((False, True), repeat=6):
        seen = {key for key, is_chosen in zip(keys, chosen, strict=True) if is_chosen}
        assert policy.is_satisfied(seen) == (sum(chosen[:3]) >= 2 and any(chosen[3:]))


@pytest.mark.parametrize(
    ("lines", "needed"),
    [(["quorum none"], 0), (["quorum X1"], 1), (["group all-X all X1 X2 X3", "quorum all-X"], 3)],
)
def test_quorums(lines, needed):
    policy = Policy.of_bytes(text(*lines))
    keys = [key.verifier for key in WITNESSES]
    assert [policy.is_satisfied(set(keys[:number])) for number in range(4)] == [n >= needed for n in range(4)]


def test_space_comments_and_urls():
    key = WITNESSES[0].verifier
    policy = Policy.of_bytes(f"\n \t\n  # quorum x\n\twitness\t a  {key}\thttps://w.example/ \nquorum a\n".encode())
    assert (policy.witnesses["a"].url, policy.quorum, policy.logs) == ("https://w.example/", "a", [])


def test_keys_of_public_logs_and_witnesses():
    """The key of Go's checksum database, and that of a witness in the tests of transparency-dev/formats."""
    policy = Policy.of_bytes(
        b"log sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8 https://sum.golang.org\n"
        b"witness remora remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2\n"
        b"quorum remora\n"
    )
    assert (policy.logs[0].key.name, policy.witnesses["remora"].key.algorithm) == ("sum.golang.org", COSIGNATURE)


def test_names_are_bytes():
    key = str(WITNESSES[0].verifier).encode()
    policy = Policy.of_bytes(b"witness \xff\xfe " + key + b"\nquorum \xff\xfe\n")
    assert policy.is_satisfied({WITNESSES[0].verifier})
    kelvin = "\u212a".encode()
    with pytest.raises(LogError, match="no line before defines"):
        Policy.of_bytes(b"witness K " + key + b"\nquorum " + kelvin + b"\n")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], 'no line "quorum"'),
        (["quorum none", "quorum none"], "line 9 of the policy: the policy has a line quorum already"),
        (["quorum Z"], "no line before defines Z"),
        (["quorum g", "group g all X1"], "no line before defines g"),
        (["group g 4 X1 X2 X3"], "4 is not all, any or a number from 1 to 3"),
        (["group g 0 X1"], "0 is not all"),
        (["group g 01 X1"], "01 is not all"),
        ([f"group g {'9' * 5000} X1"], "is not all"),
        (["group g \u0661 X1"], "is not all"),
        (["group g any"], "write: group"),
        (["group g any g"], "no line before defines g"),
        (["group g any X1 X1"], "X1 is in a group already"),
        (["group g any X1", "group h any X1"], "X1 is in a group already"),
        (["group X1 any X2"], "the name X1 is used already"),
        (["group none any X2"], "the name none is used already"),
        (["group g any none"], "no line before defines none"),
        ([f"log {LOG.verifier}"], "is in a line before"),
        ([f"witness Z {WITNESSES[0].verifier}"], "is in a line before"),
        ([f"witness Z {LOG.verifier}"], "is of Ed25519, not of Ed25519 cosignature"),
        ([f"log {WITNESSES[0].verifier}"], "is of Ed25519 cosignature, not of Ed25519"),
        (["witness Z x"], "verifier key"),
        (["witness"], "write: witness"),
        (["log"], "write: log"),
        (["quorum"], "write: quorum"),
        (["Quorum none"], "Quorum is not log"),
        (["quorum\u00a0none"], "is not log"),
        (["quorum none\r"], "a control character"),
        (["\x00"], "a control character"),
    ],
)
def test_faults_name_the_line(lines, message):
    with pytest.raises(LogError) as caught:
        Policy.of_bytes(text(*lines))
    assert message in str(caught.value)
    assert str(caught.value).isprintable()
    assert str(caught.value).isascii()


def test_unfinished_and_very_long_policies_are_refused():
    for content in (b"quorum none", b"#" * 1_000_001):
        with pytest.raises(LogError):
            Policy.of_bytes(content)
    lines = "".join(f"witness w{n} {SignerKey.create('w', COSIGNATURE).verifier}\n" for n in range(100))
    with pytest.raises(LogError, match="line 100 of the policy: at most 99 witnesses"):
        Policy.of_bytes(lines.encode())


def test_a_checkpoint_is_read_with_the_key_of_its_log():
    other = SignerKey.create("example.org/other")
    policy = Policy.of_bytes(f"log {other.verifier}\n".encode() + text("quorum X1"))
    accepted = policy.read(bytes(sign_note(CHECKPOINT.text, [WITNESSES[4], LOG, WITNESSES[0]], 7)))
    assert (accepted.log, accepted.checkpoint) == (LOG.verifier, CHECKPOINT)
    assert [(found.key.name, found.time) for found in accepted.cosignatures] == [("w5.example", 7), ("w1.example", 7)]
    policy.require_quorum(accepted.cosignatures)
    with pytest.raises(LogError, match="the quorum X1 of the policy has not seen this checkpoint; seen by: w5"):
        policy.require_quorum(accepted.cosignatures[:1])


def test_a_checkpoint_of_another_log_is_refused():
    policy = Policy.of_bytes(text("quorum none"))
    for note in (
        sign_note(CHECKPOINT.text, [SignerKey.create(LOG.name)]),
        sign_note(CHECKPOINT.text, [WITNESSES[0]]),
        sign_note("hello\n", [LOG]),
        # A signature for another origin.
        sign_note(Checkpoint(origin="example.org/x", size=3, root=bytes(32)).text, [LOG]),
    ):
        with pytest.raises(LogError):
            policy.read(bytes(note))
    with pytest.raises(LogError, match="the policy has none"):
        Policy().read(bytes(sign_note(CHECKPOINT.text, [LOG])))


def test_a_wrong_cosignature_of_a_known_witness_is_refused():
    policy = Policy.of_bytes(text("quorum none"))
    note = sign_note(CHECKPOINT.text, [LOG, WITNESSES[0]], 7)
    wrong = SignedNote(text=note.text, signatures=(note.signatures[0], sign_note("x\n", [WITNESSES[0]]).signatures[0]))
    with pytest.raises(LogError, match=r"the signature of w1\.example is wrong"):
        policy.read(bytes(wrong))


def test_a_log_key_is_not_a_witness():
    """The same Ed25519 key in both roles has two identities: a signature of the log is not a cosignature."""
    twin = SignerKey(name=LOG.name, secret=LOG.secret, algorithm=COSIGNATURE)
    policy = Policy.of_bytes(f"log {LOG.verifier}\nwitness w {twin.verifier}\nquorum w\n".encode())
    accepted = policy.read(bytes(sign_note(CHECKPOINT.text, [LOG])))
    assert ED25519.code != COSIGNATURE.code
    with pytest.raises(LogError, match="quorum w"):
        policy.require_quorum(accepted.cosignatures)
