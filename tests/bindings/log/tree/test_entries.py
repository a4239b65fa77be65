"""Test the text of entries."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

import pytest

from ararat.bindings.log import sequencer
from ararat.bindings.log.errors import LogError
from ararat.bindings.log.tree.entries import SALT_BYTES, LogEntry, entry_bytes, state_hash, thing_hash, value_text

ENTRY = LogEntry(
    key="ark:12345/x6np1",
    revision=3,
    action="relocated",
    time=datetime(2026, 11, 22, 15, tzinfo=UTC),
    thing=bytes(32),
    state=bytes(range(32)),
    before=17,
)
TEXT = b"""ararat-event/v1
key ark:12345/x6np1
revision 3
action relocated
time 2026-11-22T15:00:00.000000Z
thing AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
state AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
before 17
"""


def test_an_entry_is_read_as_it_is_written():
    assert bytes(ENTRY) == TEXT
    assert LogEntry.of_bytes(TEXT) == ENTRY
    first = TEXT.replace(b"before 17", b"before -").replace(
        b"thing AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", b"thing -"
    )
    assert (LogEntry.of_bytes(first).thing, LogEntry.of_bytes(first).before) == (None, None)
    assert bytes(LogEntry.of_bytes(first)) == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(("v1", "v2"), ("\n", "\r\n"), ("before 17\n", "before 17"), ("before 17\n", "before 17\n\n")),
        *(("before 17", "before 017"), ("before 17", "before -1"), ("before 17", "before "), ("before 17", "before ١")),
        *(("revision 3", "revision 0"), ("revision 3", "revision 03"), ("revision 3", "revision +3")),
        *(("relocated", "Relocated"), ("relocated", ""), ("relocated", "a" * 33), ("relocated", "re located")),
        *((".000000Z", "Z"), (".000000Z", ".000000"), (".000000Z", ".000000+00:00"), ("11-22", "13-22")),
        *(("11-22", "02-30"), ("T15", "T25"), ("T15", " 15"), ("2026", "0000")),
        *(
            ("AAA=", "AAB="),
            ("AAA=", "AA=="),
            ("thing AAAA", "thing -AAA"),
            ("state AAEC", "state -"),
            ("AAEC", "AAE "),
        ),
        *(
            ("ark:12345/x6np1", "ark:12345/x 6"),
            ("ark:12345/x6np1", ""),
            ("ark:12345/x6np1", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
        ),
        *(("key ark", "key  ark"), ("key ark:12345/x6np1\n", ""), ("revision 3\n", "revision 3\nrevision 3\n")),
    ],
)
def test_any_other_text_is_refused(old, new):
    assert old in TEXT.decode()
    with pytest.raises(LogError) as caught:
        LogEntry.of_bytes(TEXT.decode().replace(old, new).encode())
    assert str(caught.value).isascii()


@pytest.mark.parametrize("key", ["a\nrevision 9", "", " ", "a b", "\u00e9", "\ud800", "a\0", "a\x7f"])
def test_a_value_with_a_line_end_cannot_be_written(key):
    with pytest.raises((LogError, UnicodeEncodeError)):
        entry_bytes(key, 1, "bound", "2026-11-22T15:00:00.000000Z", None, bytes(32), None)


def test_hashes_follow_the_documentation():
    salt = bytes(range(SALT_BYTES))
    assert thing_hash(salt, "inv. 5") == sha256(salt + b"inv. 5").digest()
    text = "kind 7\nlocated\nmetadata.erc.who 4\n\N{LATIN SMALL LETTER E WITH ACUTE}\n\n\n"
    values = value_text("kind", "located") + value_text("metadata.erc.who", "\N{LATIN SMALL LETTER E WITH ACUTE}\n\n")
    assert values == text
    assert state_hash(salt, values) == sha256(salt + text.encode()).digest()


def test_values_cannot_be_moved_to_other_names():
    assert value_text("a", "b\nc 1\nd") != value_text("a", "b") + value_text("c", "d")
    assert value_text("a", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ""),
        ('{"b":"1","a":"\\u00e9"}', "metadata.a 2\n\N{LATIN SMALL LETTER E WITH ACUTE}\nmetadata.b 1\n1\n"),
        (' {"a":"b"}\n', "metadata.a 1\nb\n"),
        *(
            (each, f"metadata {len(each)}\n{each}\n")
            for each in ("", "x", "{", '{"a":}', '{"a":1}', "[]", '{"a":"b"}x')
        ),
    ],
)
def test_an_object_that_another_program_wrote_is_one_value(text, expected):
    assert sequencer._of_json("metadata", text) == expected
