"""Findings about the log of a database: its folder, unpublished changes, cosignatures and the key file."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey, VerifierKey
from ararat.bindings.log.notes.notes import Signature, SignedNote
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.log.verification.policy import Policy
from ararat.bindings.storage.store import DatabaseStore
from ararat.cli import main
from ararat.cli.doctor import log, served_log
from ararat.cli.doctor.finding import HealthFinding
from ararat.middleware import Bindings, ResolverMiddleware, open_bindings
from ararat.net import url as weburl
from ararat.net.hop import FAILURES, HopFailed
from ararat.net.response import SiteAnswer

from ...databases import Cluster

SITE = weburl.parse("https://example.org/names")
PATH = "/names/log/checkpoint"


class Deployment:
    """A database with a log of one entry."""

    def __init__(self, place: Path, bindings: Bindings) -> None:
        self.place, self.bindings = place, bindings
        self.database: str | Path = place / "b.sqlite"
        self.folder, self.key_file = place / "log", place / "log.key"
        assert isinstance(bindings.store, DatabaseStore)
        self.store = bindings.store
        self.key: VerifierKey = initialize(self.store, LogFolder(self.folder), self.key_file, "example.org/log")
        self.add("first")

    def add(self, name: str) -> None:
        self.bindings.bind(f"ark:12345/{name}", f"/{name}", resource=name)
        publish(self.store, LogFolder(self.folder), self.key_file)

    def findings(self, policy: Policy | None = None) -> dict[str, HealthFinding]:
        status = log.read_status(str(self.database), self.folder)
        found = (
            [status]
            if isinstance(status, HealthFinding)
            else [*log.examine(status, self.folder, self.key_file, policy)]
        )
        for each in found:
            assert each.message.isascii()
            assert each.message.isprintable()
            assert each.state == "ok" or each.remedy
        return {each.code: each for each in found}

    def problems(self) -> dict[str, str]:
        return {code: each.state for code, each in self.findings().items() if each.state != "ok"}

    def served(self, answer: SiteAnswer) -> dict[str, HealthFinding]:
        found = served_log.examine(SITE, "/log", self.folder, self.key, asking=lambda target: answer)
        return {each.code: each for each in found}

    def answer(self, **fields: str) -> SiteAnswer:
        """Return the checkpoint as a web server could serve it."""
        given = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=5"} | {
            name.replace("_", "-"): value for name, value in fields.items()
        }
        return SiteAnswer(200, tuple(given.items()), (self.folder / "checkpoint").read_bytes())


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with open_bindings(tmp_path / "b.sqlite", create=True) as bindings:
        yield Deployment(tmp_path, bindings)


def test_a_published_log_has_no_problem(deployment: Deployment) -> None:
    found = deployment.findings()
    assert {each.state for each in found.values()} == {"ok"}
    assert found["log-folder"].message.endswith(" has 1 entry of example.org/log, signed by its key.")
    assert found["log-unpublished"].message.startswith("All changes are published. The checkpoint was written at ")
    assert found["log-witnesses"].message == "The checkpoint has 0 cosignatures."
    assert found["log-key"].message == f"Only the owner can use {deployment.key_file}."


def test_changes_that_wait_for_more_than_a_day_are_a_warning(
    deployment: Deployment,
) -> None:
    deployment.bindings.bind("ark:12345/new", "/new")
    assert deployment.findings()["log-unpublished"].state == "ok"
    old = datetime.now(UTC) - timedelta(hours=25)
    with open_bindings(deployment.database, clock=lambda: old) as bindings:
        bindings.bind("ark:12345/old", "/old")
    found = deployment.findings()["log-unpublished"]
    assert found.state == "warning"
    assert found.message.startswith(f"2 changes are not published, the first of {old:%Y-%m-%d %H:%M} UTC. The")
    assert "ararat log publish" in (found.remedy or "")


@pytest.mark.long
def test_a_log_in_postgresql_is_checked(cluster: Cluster, tmp_path: Path) -> None:
    """The tests above check the same with SQLite."""
    url = cluster.new_schema()
    old = datetime.now(UTC) - timedelta(hours=25)
    with open_bindings(url, create=True) as bindings:
        deployment = Deployment(tmp_path, bindings)
        deployment.database = url
        assert {each.state for each in deployment.findings().values()} == {"ok"}
        with open_bindings(url, clock=lambda: old) as earlier:
            earlier.bind("ark:12345/old", "/old")
        assert deployment.problems() == {"log-unpublished": "warning"}
        copy = deployment.folder.with_name("copy")
        shutil.copytree(deployment.folder, copy)
        deployment.add("second")
        assert deployment.problems() == {}
        deployment.folder = copy
        assert deployment.problems() == {"log-folder": "error"}
        deployment.database = cluster.new_schema()
        open_bindings(deployment.database, create=True).close()
        assert deployment.problems() == {"log-missing": "error"}


def test_entries_of_a_publication_that_stopped_before_the_checkpoint_wait_too(deployment: Deployment) -> None:
    checkpoint = (deployment.folder / "checkpoint").read_bytes()
    deployment.add("second")
    (deployment.folder / "checkpoint").write_bytes(checkpoint)
    found = deployment.findings()["log-unpublished"]
    assert found.message.startswith("1 change is not published, the first of ")


def test_an_older_database_or_folder_and_a_second_history_are_reported(deployment: Deployment, tmp_path: Path) -> None:
    deployment.bindings.close()
    shutil.copy(deployment.database, tmp_path / "old.sqlite")
    shutil.copytree(deployment.folder, tmp_path / "older")
    with open_bindings(deployment.database) as bindings:
        assert isinstance(bindings.store, DatabaseStore)
        bindings.bind("ark:12345/second", "/second")
        publish(bindings.store, LogFolder(deployment.folder), deployment.key_file)
    deployment.database = tmp_path / "old.sqlite"
    assert deployment.problems() == {"log-restored": "error"}
    assert "ararat log recover" in (deployment.findings()["log-restored"].remedy or "")
    # A new publication of the old copy would sign this second history.
    with open_bindings(deployment.database) as bindings:
        assert isinstance(bindings.store, DatabaseStore)
        bindings.bind("ark:12345/other", "/other")
        publish(bindings.store, LogFolder(tmp_path / "older"), deployment.key_file)
    assert deployment.problems() == {"log-fork": "error"}
    assert "ararat log recover changes nothing" in (deployment.findings()["log-fork"].remedy or "")
    shutil.rmtree(deployment.folder / "tile")
    deployment.database = tmp_path / "b.sqlite"
    assert deployment.problems() == {"log-folder": "error"}


def test_a_checkpoint_that_is_missing_unreadable_or_of_another_key_is_reported(deployment: Deployment) -> None:
    checkpoint = deployment.folder / "checkpoint"
    note = checkpoint.read_bytes()
    checkpoint.write_bytes(note.replace(b"example.org", b"evil.\xe2\x80\xae"))
    assert deployment.problems() == {"log-folder": "error"}
    checkpoint.unlink()
    assert deployment.problems() == {"log-folder": "error"}
    checkpoint.mkdir()
    found = deployment.findings()["log-folder"]
    assert "cannot be read: Is a directory" in found.message


def test_a_database_without_a_log_is_reported(deployment: Deployment, tmp_path: Path) -> None:
    open_bindings(tmp_path / "empty.sqlite", create=True).close()
    deployment.database = tmp_path / "empty.sqlite"
    assert deployment.problems() == {"log-missing": "error"}
    deployment.database = tmp_path / "no.sqlite"
    assert deployment.problems() == {"unavailable": "error"}


@pytest.mark.skipif(os.name != "posix", reason="the rights of POSIX")
@pytest.mark.parametrize(("mode", "state"), [(0o600, None), (0o640, "warning"), (0o604, "error")])
def test_only_the_owner_may_use_the_key(deployment: Deployment, mode: int, state: str | None) -> None:
    deployment.key_file.chmod(mode)
    assert deployment.problems() == ({} if state is None else {"log-key": state})


def test_a_key_that_cannot_be_looked_at_is_a_warning(deployment: Deployment) -> None:
    deployment.key_file = deployment.folder / ("k" * 300)
    assert deployment.problems() == {"log-key": "warning"}


def test_a_key_in_the_public_folder_is_found_under_any_name(deployment: Deployment) -> None:
    shutil.copy(deployment.key_file, deployment.folder / "copy\x1b")
    assert deployment.problems() == {"log-key-public": "error"}
    deployment.key_file = deployment.key_file.rename(deployment.folder / "tile" / "key")
    assert deployment.problems() == {"log-key-public": "error"}
    deployment.key_file = deployment.folder / "copy"
    assert deployment.problems() == {"log-key-public": "error", "log-key": "warning"}


def test_cosignatures_are_counted_and_verified_by_a_policy(deployment: Deployment) -> None:
    checkpoint = deployment.folder / "checkpoint"
    witnesses = [SignerKey.create(f"w{number}.example", COSIGNATURE) for number in range(2)]
    lines = "".join(f"witness w{number} {key.verifier}\n" for number, key in enumerate(witnesses))
    policy = Policy.of_bytes(f"log {deployment.key}\n{lines}group all all w0 w1\nquorum all\n".encode())
    assert deployment.findings(policy)["log-witnesses"].state == "warning"
    for number, key in enumerate(witnesses, 1):
        note = SignedNote.of_bytes(checkpoint.read_bytes())
        signature = Signature.create(note.text.encode(), key, 1_800_000_000)
        checkpoint.write_bytes(bytes(SignedNote(text=note.text, signatures=(*note.signatures, signature))))
        found = deployment.findings(policy)["log-witnesses"]
        assert found.message.startswith(f"{number} of 2 witnesses cosigned the checkpoint.")
        assert found.state == ("ok" if number == 2 else "warning")
    assert "2 cosignatures. They are not verified" in deployment.findings()["log-witnesses"].message
    note = SignedNote.of_bytes(checkpoint.read_bytes())
    forged = Signature(name="w0.example", key_id=witnesses[0].verifier.key_id, value=bytes(72))
    checkpoint.write_bytes(bytes(SignedNote(text=note.text, signatures=(note.signatures[0], forged))))
    found = deployment.findings(policy)["log-witnesses"]
    assert (found.state, found.message) == ("error", "The signature of w0.example is wrong.")


def test_the_checkpoint_that_the_middleware_serves_has_no_problem(deployment: Deployment) -> None:
    app = ResolverMiddleware(lambda *_: [], deployment.bindings, log="/log", log_folder=str(deployment.folder))

    def ask(target: str) -> SiteAnswer:
        assert target == PATH
        answer = Client(app).get(target.removeprefix("/names"), base_url="https://example.org/names")
        return SiteAnswer(answer.status_code, tuple(answer.headers), answer.data)

    found = list(served_log.examine(SITE, "/log", deployment.folder, deployment.key, asking=ask))
    assert [(each.code, each.state) for each in found] == [
        ("log-served", "ok"),
        ("log-content-type", "ok"),
        ("log-cache-control", "ok"),
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"Content-Type": "application/octet-stream"}, "log-content-type"),
        ({"Content-Type": "text/plain"}, "log-content-type"),
        ({"Cache-Control": "max-age=31536000, immutable"}, "log-cache-control"),
        ({"Cache-Control": "max-age=5, s-maxage=3600"}, "log-cache-control"),
        ({"Cache-Control": "\u202e"}, "log-cache-control"),
    ],
)
def test_wrong_header_fields_are_a_warning(deployment: Deployment, fields: dict[str, str], code: str) -> None:
    found = deployment.served(deployment.answer(**fields))
    assert [each.code for each in found.values() if each.state != "ok"] == [code]
    assert found[code].state == "warning"
    assert found[code].message.isascii()


def test_an_older_checkpoint_names_the_cache_and_a_newer_one_is_an_error(deployment: Deployment) -> None:
    old = deployment.answer(Age="4000", Server="nginx/1.22")
    shutil.copytree(deployment.folder, deployment.place / "old")
    deployment.add("second")
    found = deployment.served(old)["log-cached"]
    assert found.state == "warning"
    assert found.message == (
        "The site serves 1 entry, and the folder has 2 entries: the cache of nginx (Age: 4000) or another copy of the "
        "folder is older."
    )
    new = deployment.answer()
    deployment.folder = deployment.place / "old"
    assert deployment.served(new)["log-folder"].state == "error"
    shutil.rmtree(deployment.folder)
    assert deployment.served(new)["log-served"].state == "warning"


def test_a_site_that_does_not_serve_the_log_is_an_error(deployment: Deployment) -> None:
    for answer in (SiteAnswer(404, (), b""), SiteAnswer(200, (), b"<html>\x1b"), SiteAnswer(200, (), b"x" * 65536)):
        found = deployment.served(answer)
        assert [(code, each.state) for code, each in found.items()] == [("log-served", "error")]
        assert 'log="/log"' in (found["log-served"].remedy or "")

    def fail(target: str) -> SiteAnswer:
        raise HopFailed(next(iter(FAILURES)))

    [found] = served_log.examine(SITE, "/log", deployment.folder, deployment.key, asking=fail)
    assert (found.code, found.state) == ("log-served", "error")


def test_the_command_checks_the_log_of_the_options_and_of_an_application(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(deployment.place)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("site_with_log.py").write_text(
        "from ararat.middleware import ResolverMiddleware, open_bindings\n"
        "bindings = open_bindings('b.sqlite')\n"
        "app = ResolverMiddleware(lambda *_: [], bindings, log='/l', log_folder='log', prefix='https://example.org')\n"
    )
    for more in (["--log-folder", "log"], ["--app", "site_with_log:app"]):
        ran = CliRunner().invoke(main.main, ["doctor", "--database", "b.sqlite", "--json", *more])
        assert ran.exit_code == 0, ran.output
        rows = [json.loads(line) for line in ran.stdout.splitlines()]
        assert [row["code"] for row in rows if row["part"] == "log"] == [
            *("log-folder", "log-unpublished", "log-witnesses", "log-key"),
        ]
    sys.modules.pop("site_with_log").bindings.close()
    for wrong in (["--log-folder", "log"], ["--database", "b.sqlite", "--log-folder", "log", "--log", "log"]):
        assert CliRunner().invoke(main.main, ["doctor", *wrong]).exit_code == 64
