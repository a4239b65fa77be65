"""Test the files of the log over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings.log.tree.tiles import ENTRIES, Tile
from ararat.middleware import BindingSource, ResolverMiddleware


class Empty(BindingSource):
    def fetch(self, keys):
        return {}


def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]


@pytest.fixture(scope="module")
def folder(prepared: Path) -> Path:
    return prepared / "log"


@pytest.fixture(scope="module")
def client(folder: Path) -> Client:
    (folder.parent / "secret").write_text("secret", "utf-8")
    (folder / "tile" / "secret").write_text("secret", "utf-8")
    (folder / "tile" / "0" / "001.unfinished").write_text("secret", "utf-8")
    return Client(ResolverMiddleware(site, Empty(), log="/log", log_folder=str(folder)))


def test_the_checkpoint_is_served(client, folder):
    answer = client.get("/log/checkpoint")
    assert answer.data == (folder / "checkpoint").read_bytes()
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Cache-Control"] == "max-age=5"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.one_setup
@pytest.mark.parametrize("tile", [Tile(0, 0, 5), Tile(ENTRIES, 0, 5)])
def test_tiles_are_served_and_kept_by_caches(client, folder, tile):
    answer = client.get(f"/log/{tile.path}")
    assert answer.data == (folder / tile.path).read_bytes()
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Cache-Control"] == "max-age=31536000, immutable"
    assert client.get(f"/log/{tile.path}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    head = client.head(f"/log/{tile.path}")
    assert (head.status_code, head.data) == (200, b"")
    assert {*head.headers} == {*answer.headers}
    assert head.headers["Content-Length"] == answer.headers["Content-Length"]


def test_a_range_of_a_tile_is_served(client, folder):
    path = Tile(0, 0, 5).path
    answer = client.get(f"/log/{path}", headers={"Range": "bytes=32-63"})
    assert (answer.status_code, answer.data) == (206, (folder / path).read_bytes()[32:64])
    assert answer.headers["Content-Range"] == "bytes 32-63/160"
    for asked in ("bytes=500-", "hashes=1", "bytes=5-1", "bytes=", "bytes=0-1,3-4,9-9"):
        answer = client.get(f"/log/{path}", headers={"Range": asked})
        assert (answer.status_code, answer.data) == (200, (folder / path).read_bytes())
    assert client.get(f"/log/{path}", headers={"Range": "bytes=0-1", "If-Range": '"other"'}).status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path",
    [
        *("/log/index.html", "/log/checkpoint/", "/log/checkpoint.unfinished", "/log/Checkpoint"),
        *(
            "/log/../secret",
            "/log/tile/../../secret",
            "/log/%2e%2e/secret",
            "/log/tile%2F..%2F..%2Fsecret",
            "/log//secret",
        ),
        *(
            "/log/tile/secret",
            "/log/tile/0/001.unfinished",
            "/log/tile/0/001",
            "/log/tile/0/000.p/6",
            "/log/tile/0/000.p/5/0",
        ),
        *(
            "/log/tile/0/000.p",
            "/log/tile/0/x000/000",
            "/log/tile/entries/001",
            "/log/checkpoint%00",
            "/log/tile/0/000%0A",
        ),
    ],
)
def test_other_paths_below_the_log_do_not_exist(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert b"secret" not in answer.data
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/", "/log", "/logs/checkpoint", "/other/log/checkpoint"])
def test_other_paths_belong_to_the_site(client, path):
    assert client.get(path).data == b"the site"


def test_other_methods_are_refused(client):
    answer = client.post("/log/checkpoint")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert client.options("/log/checkpoint").status_code == 204


def test_a_folder_that_cannot_be_read_is_unavailable(tmp_path, caplog):
    (tmp_path / "checkpoint").mkdir()
    answer = Client(ResolverMiddleware(site, Empty(), log="/log", log_folder=str(tmp_path))).get("/log/checkpoint")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "checkpoint" in caplog.text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"log": "/log"}, "log: the folder of the log is missing"),
        ({"log_folder": "/srv/log"}, "log_folder: the path of the log is missing"),
        ({"log": "/ark:12345", "log_folder": "/srv/log"}, "is not an unreserved path"),
        ({"log": "https://example.org/log", "log_folder": "/srv/log"}, "is not a path of this site"),
        ({"log": "/", "log_folder": "/srv/log"}, "is not an unreserved path"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ResolverMiddleware(site, Empty(), **settings)


def test_the_path_of_the_log_cannot_be_a_target(tmp_path):
    settings = ResolverMiddleware(site, Empty(), log="/log", log_folder=str(tmp_path)).settings
    assert settings.reserves("/log/checkpoint")
    assert settings.reserves("/%6cog/checkpoint")
    assert not settings.reserves("/logs")
