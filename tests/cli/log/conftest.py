"""Fixtures of the tests of the commands for logs: a published log, and a server for its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import Result

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.checkpoints import read_checkpoint
from ararat.bindings.log.notes.keys import VerifierKey
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.tree.tiles import ENTRIES, entries_of, hash_reader, tile_at
from ararat.bindings.log.tree.tree import inclusion_proof
from tests.http_servers import Quiet, running

ORIGIN = "example.org/log"


class PublishedLog:
    """A log that `ararat log` has published: `folder` and `vkey`."""

    def __init__(self, folder: Path, vkey: str, run: Callable[..., Result]) -> None:
        self.folder, self.vkey, self.run = folder, vkey, run

    def publish(self, *arguments: str) -> Result:
        return self.run("log", "publish", "--dir", str(self.folder), *arguments)

    def proof(self, index: int) -> bytes:
        files = LogFolder(self.folder)
        content = files.checkpoint() or b""
        size = read_checkpoint(content, VerifierKey.of_text(self.vkey))[0].size
        tile = tile_at(ENTRIES, index // 256, size)
        entry = entries_of(tile, files.read(tile))[index % 256]
        hashes = inclusion_proof(index, size, hash_reader(size, files.read))
        return bytes(Proof(index=index, hashes=tuple(hashes), checkpoint=content, extra=entry))


@pytest.fixture
def published(bound: Callable[..., Result], tmp_path: Path) -> PublishedLog:
    """The log of a database with the name ark:12345/doc, with one entry."""
    folder = tmp_path / "public"
    done = bound("log", "init", "--origin", ORIGIN, "--dir", str(folder))
    log = PublishedLog(folder, done.stdout.splitlines()[0], bound)
    assert log.publish().exit_code == 0
    return log


class _Folder(Quiet, SimpleHTTPRequestHandler):
    pass


@pytest.fixture
def serve_folder() -> Iterator[Callable[[Path], str]]:
    """serve_folder(path) serves a folder on the loopback address, and returns its URL."""
    with ExitStack() as servers:

        def serve(path: Path) -> str:
            server = servers.enter_context(running(partial(_Folder, directory=str(path))))
            return f"http://127.0.0.1:{server.server_port}"

        yield serve
