"""Files that are read without waiting and to a limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ararat.bindings.system.regular_file import read_regular


def test_the_beginning_of_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("file")
    assert (read_regular(tmp_path / "link", 4), read_regular(tmp_path / "file", 99)) == (b"0123", b"0123456789")


def test_other_files_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "pipe", 4)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 4)
