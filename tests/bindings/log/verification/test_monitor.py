"""Test the replay of logs: of right ones, of wrong ones, and of a hundred mutated ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.checkpoints import Checkpoint
from ararat.bindings.log.notes.keys import SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.tree.tiles import ENTRIES, Tile, bundle_of, entries_of
from ararat.bindings.log.tree.tree import EMPTY_ROOT
from ararat.bindings.log.verification.monitor import LastSeen, Monitor
from ararat.bindings.log.verification.policy import Party, Policy

LOG = SignerKey(name="example.org/log", secret=bytes(range(32)))
A, B = "ark:12345/a", "ark:12345/b"


def replay(log: Any, last: LastSeen | None = None) -> tuple[list[tuple[str, str]], Monitor]:
    """Return the codes and places of the problems of a log."""
    monitor = Monitor(log.folder, log.policy, last)
    found = list(monitor.findings())
    for each in found:
        assert each.message.isascii()
        assert each.message.isprintable()
    return [(each.code, each.place) for each in found], monitor


def seen(log: Any) -> LastSeen:
    content = log.folder.checkpoint()
    return LastSeen(key=LOG.verifier, checkpoint=log.policy.read(content).checkpoint, note=content)


def test_a_right_log_has_no_problem(long_log):
    found, monitor = replay(long_log())
    assert (found, monitor.entries, monitor.names, monitor.is_consistent) == ([], 700, 100, True)


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257])
def test_each_size_of_a_log_is_read(signed_log, size):
    signed_log.add_entries(*[(f"ark:12345/x{number}", 1, "bound", None, None) for number in range(size)])
    found, monitor = replay(signed_log)
    assert (found, monitor.entries) == ([], size)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([(A, 1, "bound", "x", None), (B, 1, "bound", "x", None)], []),
        ([(A, 2, "bound", None, None), (A, 3, "updated", "x", 0), (A, 4, "relocated", "x", 1)], []),
        ([(A, 1, "withdrawn", "x", None), (A, 2, "restored", "x", 0)], []),
        ([(A, 1, "withdrawn", "x", None), (A, 2, "updated", "x", 0), (A, 3, "redacted", "x", 1)], []),
        ([(A, 1, "bound", "x", None), (A, 2, "relocated", "y", 0)], [("second-thing", 1)]),
        ([(A, 1, "bound", "x", None), (A, 2, "relocated", None, 0)], [("thing-removed", 1)]),
        (
            [(A, 1, "bound", "x", None), (A, 2, "relocated", None, 0), (A, 3, "updated", "y", 1)],
            [("thing-removed", 1), ("second-thing", 2)],
        ),
        ([(A, 1, "bound", "x", None), (A, 3, "relocated", "x", 0)], [("revision-missing", 1)]),
        ([(A, 1, "bound", "x", None), (A, 9, "relocated", "x", 0)], [("revision-missing", 1)]),
        ([(A, 1, "bound", "x", None), (A, 1, "relocated", "x", 0)], [("revision-repeated", 1)]),
        ([(A, 5, "bound", "x", None), (A, 4, "relocated", "x", 0)], [("revision-repeated", 1)]),
        ([(A, 1, "bound", "x", None), (A, 2, "relocated", "x", None)], [("before", 1)]),
        ([(B, 1, "bound", "x", None), (A, 1, "bound", "x", 0)], [("before", 1)]),
        ([(A, 1, "bound", "x", 0)], [("before", 0)]),
        ([(A, 1, "bound", "x", None), (A, 2, "updated", "x", 2**63 - 1)], [("before", 1)]),
        ([(A, 1, "bound", "x", None), (A, 2, "withdrawn", "x", 0), (A, 3, "relocated", "x", 1)], [("withdrawn", 2)]),
        ([(A, 1, "withdrawn", "x", None), (A, 2, "bound", "x", 0)], [("withdrawn", 1)]),
        ([(A, 1, "withdrawn", "x", None), (A, 2, "withdrawn", "x", 0)], [("withdrawn", 1)]),
        ([(A, 1, "withdrawn", None, None), (A, 2, "updated", "x", 0)], [("withdrawn", 1)]),
        ([(A, 1, "withdrawn", None, None), (A, 2, "restored", "x", 0)], [("withdrawn", 1)]),
        (
            [(A, 1, "withdrawn", "x", None), (A, 2, "relocated", "x", 0), (A, 3, "relocated", "x", 1)],
            [("withdrawn", 1), ("withdrawn", 2)],
        ),
        ([(A, 1, "bound", "x", None), (A, 2, "restored", "x", 0)], [("action", 1)]),
        ([(A, 1, "bound", "x", None), (A, 2, "bound", "x", 0)], [("action", 1)]),
        ([(A, 1, "stolen", "x", None)], [("action", 0)]),
        # The first entries are hidden, in which the name had another resource.
        ([(A, 2, "relocated", "y", None)], [("revision-missing", 0)]),
        ([(A, 2, "restored", "y", None)], [("revision-missing", 0)]),
        # Another spelling of the same name.
        ([(A, 1, "bound", "x", None), ("ark:/12345/a", 2, "updated", "x", 0)], [("name", 1)]),
        (
            [(A, 1, "bound", "x", None), ("ARK:12345/-a", 1, "bound", "y", None)],
            [("name", 1), ("before", 1), ("revision-repeated", 1), ("second-thing", 1), ("action", 1)],
        ),
        ([("https://example.org/ark:12345/a", 1, "bound", "x", None)], [("name", 0)]),
        ([("nonsense", 1, "bound", "x", None), ("urn:x", 1, "bound", "x", None)], [("name", 0), ("name", 1)]),
        (
            [("urn:isbn:0451450523", 1, "bound", "x", None), ("urn:isbn:9780451450524", 2, "updated", "y", 0)],
            [("name", 0), ("second-thing", 1)],
        ),
        ([("ark:12345/" + "a" * 60_000, 1, "bound", "x", None)], []),
        ([("ark:12345/" + "%" * 60_000, 1, "bound", "x", None)], [("name", 0)]),
        (
            [(A, 1, "withdrawn", "x", None), (A, 1, "bound", "y", None)],
            [("before", 1), ("revision-repeated", 1), ("second-thing", 1), ("withdrawn", 1)],
        ),
    ],
)
def test_the_entries_of_a_name_follow_each_other(signed_log, changes, expected):
    signed_log.add_entries(*changes)
    found, monitor = replay(signed_log)
    assert found == [(code, f"entry {number}") for code, number in expected]
    # The tree itself is right: the next visit continues from this checkpoint.
    assert monitor.is_consistent


def test_names_are_compared_over_the_whole_log(long_log):
    log = long_log()
    log.add_entries(
        ("ark:12345/x7", 8, "relocated", "another thing", 607), ("ark:12345/x8", 8, "bound", "thing 8", 607)
    )
    found, _ = replay(log)
    assert found == [("second-thing", "entry 700"), ("before", "entry 701"), ("action", "entry 701")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00" * 9,
        b"ararat-event/v2\n",
        b"\x1b[2J" * 100,
        b"ararat-event/v1\nkey a\nrevision 9999999999999999999\naction bound\ntime 2026-11-22T15:00:00.000000Z\n"
        b"thing -\n"
        b"state " + b"A" * 43 + b"=\nbefore -\n",
        b"ararat-event/v1\nkey a\nrevision 1\naction bound\ntime 2026-02-30T15:00:00.000000Z\nthing -\n"
        b"state " + b"A" * 43 + b"=\nbefore -\n",
    ],
)
def test_an_entry_that_cannot_be_read_is_named(signed_log, content):
    signed_log.add_entries((A, 1, "bound", "x", None))
    signed_log.add([content])
    signed_log.add_entries((A, 2, "relocated", "x", 0), (A, 3, "relocated", "y", 2))
    found, monitor = replay(signed_log)
    assert found == [("entry", "entry 1"), ("second-thing", "entry 3")]
    assert monitor.entries == 4


def test_a_changed_entry_differs_from_the_signed_tree(long_log):
    log = long_log()
    tile = Tile(ENTRIES, 1)
    log.folder.write(tile, log.folder.read(tile).replace(b"key ark:12345/x7\n", b"key ark:12345/y7\n", 1))
    found, monitor = replay(log)
    assert {code for code, _ in found} >= {"hash", "root", "before"}
    assert {("hash", "tile/0/001"), ("hash", "tile/1/000.p/2"), ("root", "checkpoint")} <= set(found)
    assert not monitor.is_consistent


def test_exchanged_and_missing_tiles_are_named(long_log):
    for tile, code in ((Tile(0, 1), "hash"), (Tile(1, 0, 2), "hash"), (Tile(0, 2, 188), "hash")):
        log = long_log()
        log.folder.write(tile, bytes(tile.width * 32))
        assert replay(log)[0] == [(code, tile.path)]
        (log.folder.path / tile.path).unlink()
        found, monitor = replay(log)
        assert (found, monitor.is_consistent) == ([("missing", tile.path)], False)
    log = long_log()
    (log.folder.path / "tile/entries/001").unlink()
    found, monitor = replay(log)
    assert (found, monitor.entries, monitor.is_consistent) == ([("missing", "tile/entries/001")], 256, False)
    (log.folder.path / "tile/entries/001").write_bytes(b"\xff\xff")
    assert replay(log)[0] == [("damaged", "tile/entries/001")]
    (log.folder.path / "tile/entries/001").write_bytes(bundle_of([b"x"] * 257))
    assert replay(log)[0] == [("damaged", "tile/entries/001")]


def test_exchanged_entries_are_found(long_log):
    log = long_log()
    tile = Tile(ENTRIES, 0)
    entries = entries_of(tile, log.folder.read(tile))
    entries[3], entries[4] = entries[4], entries[3]
    log.folder.write(tile, bundle_of(entries))
    assert ("hash", "tile/0/000") in replay(log)[0]


def test_a_log_that_grows_is_consistent(long_log):
    log = long_log()
    last = seen(log)
    assert LastSeen.of_bytes(bytes(last)) == last
    assert replay(log, last)[0] == []
    log.add_entries(*[(f"ark:12345/z{number}", 1, "bound", None, None) for number in range(300)])
    found, monitor = replay(log, last)
    assert (found, monitor.is_consistent) == ([], True)
    assert monitor.seen == seen(log)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 699])
def test_a_log_that_lost_entries_is_reported(long_log, signed_log, size):
    log = long_log()
    last = seen(log)
    signed_log.add([log.content(number) for number in range(size)])
    found, monitor = replay(signed_log, last)
    assert (found, monitor.is_consistent) == ([("shrunk", "checkpoint")], False)


# Both edges of the second tile are as those of the first.
@pytest.mark.parametrize(
    "size", [1, 256, 257, 700, *(pytest.param(size, marks=pytest.mark.long) for size in (255, 511))]
)
def test_two_histories_are_reported(long_log, signed_log, size):
    """Both logs are right on their own, and differ in one entry before the last visit."""
    log = long_log()
    contents = [log.content(number) for number in range(700)]
    signed_log.add(contents[:size])
    last = seen(signed_log)
    other = type(log)(LogFolder(signed_log.folder.path.with_name("other")))
    other.add([*contents[: size - 1], contents[size - 1].replace(b"state ", b"state A", 1)[:-20] + b"=\nbefore -\n"])
    other.add(contents[size:])
    found, monitor = replay(other, last)
    assert [each for each in found if each[0] == "forked"] == [("forked", "checkpoint")]
    assert not monitor.is_consistent


def test_the_checkpoint_must_be_signed_by_the_log_and_the_quorum(long_log):
    log = long_log()
    note = SignedNote.of_bytes(log.folder.checkpoint())
    log.folder.publish(bytes(SignedNote(text=note.text, signatures=note.signatures[:1])))
    found, monitor = replay(log)
    assert (found, monitor.entries, monitor.is_consistent) == ([("quorum", "checkpoint")], 700, True)
    for content in (
        bytes(sign_note(note.text, [SignerKey.create("example.org/log")])),
        bytes(SignedNote(text=note.text, signatures=note.signatures[1:])),
        bytes(note).replace(b"\n700\n", b"\n699\n"),
        b"",
        b"\x1b[2J" * 1000,
        b"\xff" * 2_000_000,
    ):
        log.folder.publish(content)
        found, monitor = replay(log)
        assert (found, monitor.seen, monitor.entries) == ([("checkpoint", "checkpoint")], None, 0)
    (log.folder.path / "checkpoint").unlink()
    assert replay(log)[0] == [("checkpoint", "checkpoint")]


def test_another_key_than_at_the_last_visit_is_reported(long_log):
    log = long_log()
    other = SignerKey.create("example.org/log")
    note = SignedNote.of_bytes(log.folder.checkpoint())
    last = LastSeen(key=other.verifier, checkpoint=seen(log).checkpoint, note=bytes(sign_note(note.text, [other])))
    found, monitor = replay(log, last)
    assert (found, monitor.is_consistent) == ([("log", "checkpoint")], False)


def test_a_signed_size_without_files_is_reported_at_once(signed_log):
    """The operator signs a number of entries that no machine can read."""
    signed_log.sign(Checkpoint(origin=LOG.name, size=2**63 - 1, root=EMPTY_ROOT))
    assert replay(signed_log)[0] == [("missing", "tile/entries/000")]


def mutations(folder: Path, number: int) -> Iterator[tuple[str, bytes]]:
    """Yield changes of the files of a log: the name of a file and its new content."""
    generator = random.Random(22)  # noqa: S311 - a repeatable test
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for turn in range(number):
        name = names[turn % len(names)]
        content = (folder / name).read_bytes()
        place = generator.randrange(len(content))
        byte = bytes([content[place] ^ 1 << generator.randrange(8)])
        start = generator.randrange(len(content))
        yield (
            name,
            [
                lambda: content[:place] + byte + content[place + 1 :],  # noqa: B023 - called at once
                lambda: content[:place],  # noqa: B023
                lambda: content[:place] + byte + content[place:],  # noqa: B023
                lambda: content[:place] + content[place + 1 :],  # noqa: B023
                lambda: content + byte,  # noqa: B023
                lambda: content[: min(place, start)] + content[max(place, start) + 1 :],  # noqa: B023
                lambda: b"",
            ][turn // len(names) % 7](),
        )


def test_mutated_logs_are_rejected(long_log):
    log = long_log()
    rejected = set[str]()
    for name, content in mutations(log.folder.path, 50):
        path = log.folder.path / name
        original = path.read_bytes()
        if content == original:
            continue
        path.write_bytes(content)
        found, monitor = replay(log)
        assert found, f"{name} was changed"
        assert not monitor.is_consistent or {code for code, _ in found} == {"quorum"}
        rejected.add(name)
        path.write_bytes(original)
    assert replay(log)[0] == []
    # Each file of the log was changed: the checkpoint, and full and partial tiles of each kind.
    assert len(rejected) == 8


def test_a_policy_without_witnesses_ignores_cosignatures(long_log):
    log = long_log()
    log.policy = Policy(logs=[Party(key=LOG.verifier)])
    path = log.folder.path / "checkpoint"
    path.write_bytes(path.read_bytes()[:-9] + b"AAAAAAA=\n")
    assert replay(log)[0] == []
