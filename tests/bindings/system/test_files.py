"""The permissions of new files, and who can read a file."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ararat.bindings.log.witnesses.witness import Witness
from ararat.bindings.open import open_bindings
from ararat.bindings.snapshots import write_snapshot
from ararat.bindings.system.files import can_read, create_private, open_to_others, read_regular, replaced_file
from ararat.middleware.statistics.counts import CountStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs the permissions of POSIX")
OTHER = 12345


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _database(folder: Path) -> None:
    # The files beside the database exist while it is open.
    with open_bindings(folder / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/")
        assert bindings.lookup("ark:12345/x")
        assert {path.name for path in folder.iterdir()} == {f"names.sqlite{end}" for end in ("", "-wal", "-shm")}
        assert [*filter(None, map(open_to_others, folder.iterdir()))] == []


def _snapshot(folder: Path) -> None:
    with open_bindings(folder / "names.sqlite", create=True) as bindings:
        write_snapshot(bindings, folder / "names.snapshot")


def _statistics(folder: Path) -> None:
    CountStore.at(str(folder / "counts.sqlite")).prepare()


def _witness(folder: Path) -> None:
    Witness(folder / "witness.sqlite").create()


@pytest.mark.parametrize("create", [_database, _snapshot, _statistics, _witness])
def test_other_users_cannot_read_a_new_database(tmp_path: Path, umask: int, create: Callable[[Path], None]) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    create(folder)
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert path.stat().st_gid == folder.stat().st_gid


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can change the group")
def test_a_new_file_has_the_group_of_its_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, -1, OTHER)
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/")
        assert bindings.lookup("ark:12345/x")
        assert {path.stat().st_gid for path in tmp_path.iterdir()} == {OTHER}


def test_an_existing_file_keeps_its_content_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "names.sqlite"
    open_bindings(path, create=True).close()
    path.chmod(0o644)
    open_bindings(path, create=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    with pytest.raises(FileExistsError):
        create_private(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM bindings").fetchone() == (0,)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("mode", "shown"),
    [(0o600, None), (0o640, None), (0o660, None), (0o644, "-rw-r--r--"), (0o602, "-rw-----w-"), (0o604, "-rw----r--")],
)
def test_a_file_that_others_can_read_or_change_is_known(tmp_path: Path, mode: int, shown: str | None) -> None:
    path = tmp_path / "token"
    path.touch()
    path.chmod(mode)
    assert open_to_others(path) == open_to_others(path.stat()) == shown


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that all users can read, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize(
    ("mode", "user", "groups", "expected"),
    [
        pytest.param(0o640, "owner", set(), True, id="owner"),
        pytest.param(0o040, "owner", "group", False, id="an owner has no right of the group"),
        pytest.param(0o640, OTHER, "group", True, id="group"),
        pytest.param(0o600, OTHER, "group", False, id="group without the right"),
        pytest.param(0o604, OTHER, "group", False, id="a group has no right of others"),
        pytest.param(0o604, OTHER, set(), True, id="others"),
        pytest.param(0o640, OTHER, set(), False, id="others without the right"),
    ],
)
def test_the_first_class_of_the_permissions_counts(
    shared: Path, mode: int, user: int | str, groups: set[int] | str, expected: bool
) -> None:
    path = shared / "names"
    path.touch()
    path.chmod(mode)
    found = path.stat()
    uid = found.st_uid if user == "owner" else int(user)
    if uid == 0:
        # root can read each file.
        os.chown(path, OTHER + 1, -1)
        uid = OTHER + 1
    gids = {found.st_gid} if groups == "group" else set()
    assert can_read(path, uid, gids) is expected
    shared.chmod(0o700)
    assert can_read(path, OTHER, set()) is False


def test_root_can_read_each_file(tmp_path: Path) -> None:
    assert can_read(tmp_path / "missing", 0, set())


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


@pytest.mark.skipif(os.name != "posix", reason="Windows has no locks of this kind")
def test_the_parts_of_killed_processes_are_deleted_when_the_file_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    killed, new, other = (
        tmp_path / f".{name}.part" for name in ("names.csv.0123abcd", "names.csv.1123abcd", "names.csv")
    )
    for path in (killed, new, other):
        path.write_text("half")
    for path in (killed, other):
        os.utime(path, (0, 0))
    with replaced_file(file) as running:
        os.utime(running, (0, 0))
        with replaced_file(file) as place:
            place.write_text("whole")
        assert running.exists()
    assert {path.name for path in tmp_path.iterdir()} == {file.name, new.name, other.name}
