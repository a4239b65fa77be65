"""A client that openapi-python-client writes from the description calls a running site."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from ararat.cli.main import main
from ararat.webapp.api import openapi
from tests.webapp.api.conftest import BASE

pytestmark = pytest.mark.long
GENERATOR = pytest.importorskip("openapi_python_client")

NAME = "ark:12345/x5a"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, serve_ararat: Callable[..., Any]) -> tuple[str, str]:
    """The address of a running site, and the token of its administrator."""
    database = f"sqlite:///{tmp_path_factory.mktemp('site')}/bindings.sqlite"
    run = CliRunner()
    for command in (
        ["init"],
        ["account", "add", "jane", "--role", "administrator"],
        ["prefix", "set", "12345/x5", "--what", "Maps"],
    ):
        assert run.invoke(main, [*command, "--database", database]).exit_code == 0
    token = run.invoke(main, ["account", "token", "jane", "--database", database]).stdout.strip()
    return serve_ararat("--database", database).origin, token


def generated(folder: Path, document: bytes, name: str) -> ModuleType:
    """Write the client of a description, and import it. Nothing may be left out."""
    (folder / f"{name}.json").write_bytes(document)
    # ruff of the tests checks no generated code.
    (folder / "config.yml").write_text(f"post_hooks: []\npackage_name_override: {name}\n", "utf-8")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--overwrite"]
    command += ["--path", f"{name}.json", "--config", "config.yml", "--output-path", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # The generator knows JSON and bytes, but no tables and texts.
    lines = [line for line in done.stdout.splitlines() if line.startswith(("WARNING", "ERROR", "Unable"))]
    left = {"/imports"} if name == "ararat_management" else {"/api/inspect", "/api/traces"}
    assert [line for line in lines if not any(f"{path} " in line for path in left)] == [], done.stdout
    assert name != "ararat_management" or "will not be generated" not in done.stdout, done.stdout
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("clients")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def test_every_operation_returns_a_class(origin: tuple[str, str], folder: Path, request: pytest.FixtureRequest) -> None:
    import httpx

    site, token = origin
    document = httpx.get(f"{site}{BASE}/openapi.json", headers={"Authorization": f"Bearer {token}"}).content
    package = generated(folder, document, "ararat_management")
    models = importlib.import_module("ararat_management.models")
    types = importlib.import_module("ararat_management.types")
    client = package.AuthenticatedClient(base_url=site, token=token)
    request.addfinalizer(client.get_httpx_client().close)
    called: set[str] = set()

    def call(place: str, *arguments: str | int, status: int = 200, **options: Any) -> Any:
        module = importlib.import_module(f"ararat_management.api.{place}")
        called.add(place)
        answer = module.sync_detailed(*arguments, client=client, **options)
        assert answer.status_code == status, (place, answer)
        return answer.parsed

    def model(name: str, /, **values: Any) -> Any:
        return getattr(models, name).from_dict(values)

    def ended(place: str, number: int) -> Any:
        deadline = time.monotonic() + 30
        while (job := call(place, number=number)).state in ("waiting", "running", "queued"):  # pyright: ignore[reportCallIssue]
            assert time.monotonic() < deadline, job
            time.sleep(0.05)
        return job

    row = {"shoulder": "ark:12345/x5", "resource": "map 17", "target": "https://example.org/17"}
    minted = call("names.post_names", body=model("NewNames", names=[row], unless="resource"), status=201)
    assert minted.names[0].outcome == "bound"
    again = call("names.post_names", body=model("NewNames", names=[row], unless="resource"))
    assert again.names[0].name.identifier == minted.names[0].name.identifier
    put = call(
        "names.put_name", NAME, body=model("Fields", target="https://example.org/1", passthrough="given"), status=201
    )
    assert (put.identifier, put.passthrough) == (NAME, "given")
    assert call("names.get_name", NAME).target == "https://example.org/1"
    assert call("names.list_names", prefix="ark:12345/x5", limit=5).total == 2
    changed = call("names.patch_name", NAME, body=model("Patch", metadata={"erc.what": "A"}))
    assert changed.metadata.additional_properties == {"erc.what": "A"}
    moved = model("Relocation", target="https://example.org/2")
    assert call("names.relocate_name", NAME, body=moved).target == "https://example.org/2"
    assert call("names.withdraw_name", NAME, body=model("Withdrawal", reason="twice")).state == "withdrawn"
    assert call("names.restore_name", NAME, body=model("Restoration")).state == "live"
    assert call("names.get_history", NAME).events[0].action == "bound"
    call("names.put_name", f"{NAME}r", body=model("Fields", state="reserved"), status=201)
    call("names.delete_name", f"{NAME}r", status=204)
    table = types.File(payload=b"identifier,target\nark:12345/x5t,https://example.org/t\n")
    job = call("imports.post_import", body=table, status=202)
    assert ended("imports.get_import", job.number).result.counts.additional_properties["added"] == 1
    selected = {"operation": {"action": "edit", "fields": {"listed": False}}, "selection": {"prefix": NAME}}
    check = call("changes.post_change", body=model("Change", **selected), status=202)
    assert ended("changes.get_change", check.number).state == "done"
    change = call("changes.apply_change", check.number, status=202)
    assert ended("changes.get_change", change.number).result.counts.additional_properties["updated"] == 1
    export = call("exports.post_export", body=model("Export", format="csv"), status=202)
    assert ended("exports.get_export", export.number).file
    call("exports.get_exported_file", export.number)
    assert call("operations.list_operations").operations
    assert call("operations.get_operation", 1).number == 1
    old_and_new = {"from": "https://example.org/2", "to": "https://example.org/3"}
    assert call("relocations.post_relocation", body=model("Relocations", **old_and_new)).written
    assert call("prefixes.get_prefix", "ark:12345/x5").what == "Maps"
    assert call("prefixes.put_prefix", "ark:12345/x5", body=model("PrefixFields", what="Charts")).what == "Charts"
    assert call("prefixes.list_prefixes").prefixes
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86_400 * 9))
    assert call("holds.post_hold", body=model("Hold", name=NAME, until=until, reason="court")).outcome == "held"
    assert call("holds.list_holds").holds
    assert call("holds.release_hold", body=model("Release", name=NAME)).outcome == "released"
    departure = model("Departure", prefix="ark:12345/x5", resolver="https://new.example")
    assert call("departures.post_departure", body=departure, dry_run=models.PostDepartureDryRun("1")).written is False
    succession = model("SuccessionFields", prefix="ark:12345/x5", to="State Archive")
    assert (
        call("successions.post_succession", body=succession, dry_run=models.PostSuccessionDryRun("1")).written is False
    )
    assert call("account.show_account").name == "jane"
    assert call("imports.undo_import", job.number).written
    call("openapi.description")

    # Errors are classes, too.
    refused = call(
        "names.post_names",
        body=model("NewNames", names=[{"shoulder": "ark:12345/x5", "target": "ftp://x"}]),
        status=422,
    )
    assert (refused.code, refused.pointer) == ("target-scheme", "/names/0/target")
    assert call("names.get_name", "ark:12345/none", status=404).code == "not-bound"
    conflict = call("names.put_name", NAME, body=model("Fields", target="https://example.org/other"), status=409)
    assert (conflict.code, conflict.existing.identifier) == ("bound-otherwise", NAME)
    assert call("imports.get_imported_table", job.number, status=404).code == "not-found"
    assert call("operations.stop_operation", 1).number == 1
    assert call("operations.resume_operation", 1).number == 1
    for place, ended_job in (
        ("imports.resume_import", job),
        ("changes.resume_change", change),
        ("exports.resume_export", export),
    ):
        assert call(place, ended_job.number).state == "done"
    operations = {each["operationId"] for methods in openapi.PATHS.values() for each in methods.values()}
    assert len(called) == len(operations)


def test_the_client_of_the_inspector_is_written(origin: tuple[str, str], folder: Path) -> None:
    import httpx

    package = generated(folder, httpx.get(f"{origin[0]}/api/openapi.json").content, "ararat_inspector")
    inspect = importlib.import_module("ararat_inspector.api.default.inspect")
    with package.Client(base_url=origin[0]) as client:
        answer = inspect.sync(client=client, q="ark:/12345/x5-a")
    assert answer.found[0].report.normal_form == "ark:12345/x5a"
