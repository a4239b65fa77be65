"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ararat.bindings.system.replaced_file import replaced_file


def test_a_link_and_the_permissions_remain(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o440)
    link.symlink_to(file)
    with replaced_file(link) as place:
        place.write_text("new")
        assert file.read_text() == "old"
    assert (link.is_symlink(), file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (True, "new", 0o440)


def test_the_file_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "file"
    # In a container, each process can have the number 1.
    (tmp_path / f".file.{os.getpid()}.part").touch()
    with replaced_file(file) as place:
        place.write_text("new")
    assert file.read_text() == "new"
