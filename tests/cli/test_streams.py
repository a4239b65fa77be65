"""Files that commands replace are replaced completely or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ararat.cli.streams import replace_file


def test_a_file_is_replaced_after_a_complete_write(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replace_file(str(path)) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_failure_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")

    def fail() -> None:
        with replace_file(str(path)) as stream:
            stream.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


def test_a_symbolic_link_remains_a_link(tmp_path: Path) -> None:
    (tmp_path / "target.csv").write_bytes(b"old")
    link = tmp_path / "link.csv"
    link.symlink_to("target.csv")
    with replace_file(str(link)) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "target.csv").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system")
def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with replace_file(str(pipe)) as stream:
        stream.write(b"new")
    reader.join(10)
    assert read == [b"new"]
    assert pipe.is_fifo()
