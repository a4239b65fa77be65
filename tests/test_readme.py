"""Run the examples of README.md and docs/. Check their links, tables and names."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click import Context
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.bindings.names.error_codes import ERROR_CODES, REFUSALS
from ararat.bindings.tables.columns import COLUMNS, TEST, fields
from ararat.bindings.tables.text_tables import read_rows
from ararat.cli.doctor.applications import examine
from ararat.cli.main import main
from ararat.identifiers import PROBLEMS
from ararat.middleware import open_bindings
from tests.packages import ROOT, modules

from .asgi_client import Client as AsgiClient

TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = {
    path.name: path.read_text("utf-8")
    for path in [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").glob("*.md"))]
}
NAMES = (
    "identifier,target,what\nark:12345/n1,https://example.org/n1,One\nark:12345/x-6np1,https://example.org/maps/18,\n"
)
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TABLES = ("csv", "jsonl")


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[tuple[str, str]]:
    """Return the commands of all consoles, each with the output that the page shows."""
    shown = "".join(blocks(page, "console"))
    return [(command, output) for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE)]


def shell(command: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARARAT_")}
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=clean | {"PATH": PATH, "COLUMNS": "80"} | environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.long
@pytest.mark.timeout(180)
def test_consoles_of_commands_page_show_the_output_of_a_shell(tmp_path):
    (tmp_path / "names.csv").write_text(NAMES, "utf-8")
    shown, got, variables = commands("command-examples.md"), list[tuple[str, str]](), ""
    for command, _ in shown:
        got.append((command, shell(f"{variables}{command} 2>&1", tmp_path).stdout))
        if command.startswith(("export ", "unset ")):
            variables += f"{command}; "
    assert got == shown


# The parameter is not called "page", which is a fixture of pytest-playwright.
@pytest.mark.parametrize("text", [page for page in PAGES if page != "command-examples.md" and commands(page)])
def test_consoles_show_the_output_of_the_commands(text, tmp_path, monkeypatch):
    if "$ sqlite3 " in PAGES[text] and not shutil.which("sqlite3"):
        pytest.skip("sqlite3 is not installed")
    (tmp_path / "names.csv").write_text("".join(blocks(text, "csv")), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shown = commands(text)
    assert [(command, output_of(command, tmp_path)) for command, _ in shown] == shown


def output_of(command: str, folder: Path) -> str:
    """Return the output of a command. Run `ararat` in this process, because a new process starts slowly."""
    program, *arguments = shlex.split(command)
    if program == "ararat":
        clean = {name: None for name in os.environ if name.startswith("ARARAT_")}
        return CliRunner().invoke(main, arguments, env=clean).output
    return shell(f"{command} 2>&1", folder).stdout


@pytest.mark.parametrize("text", [page for page in PAGES if blocks(page, "pycon")])
def test_sessions_show_the_output_of_python(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = "".join(blocks(text, "pycon"))
    test = doctest.DocTestParser().get_doctest(session, {}, text, text, 0)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize("text", [page for page in PAGES if blocks(page, "python")])
def test_python_of_every_page_compiles(text):
    for number, block in enumerate(blocks(text, "python")):
        compile(block, f"{text}, block {number}", "exec")


def test_examples_import_public_names_only():
    found = [
        (page, module, name.partition(" as ")[0].strip())
        for page, text in PAGES.items()
        for module, names in re.findall(r"^(?:>>> )?from (ararat[\w.]*) import ([^\n(]+)$", text, re.MULTILINE)
        for name in names.split(",")
    ]
    assert len(found) > 50
    assert [each for each in found if each[2] not in importlib.import_module(each[1]).__all__] == []


@pytest.mark.parametrize("text", PAGES)
def test_links_lead_to_files_and_headings_that_exist(text):
    folder = ROOT if (ROOT / text).is_file() else ROOT / "docs"
    for link in re.findall(r"\]\(([^)\s]+)\)", PAGES[text]):
        name, _, place = link.partition("#")
        if "://" in name:
            continue
        # A link without a file leads to a heading of the same page.
        assert not name or (folder / name).is_file(), link
        headings = re.findall(r"^#+ (.*)$", PAGES.get(Path(name).name if name else text, ""), re.MULTILINE)
        places = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not place or place in places, link


def test_index_links_every_page():
    linked = set(re.findall(r"\(([a-z-]+\.md)\)", PAGES["index.md"]))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_pages_stay_short():
    """All pages, some of them, the README and the changelog have at most this number of words."""
    use_and_run = PAGES["index.md"].split("\n## Inside\n")[0]
    listed = set(re.findall(r"\(([a-z-]+\.md)\)", use_and_run))
    assert len(use_and_run.split()) + sum(len(PAGES[page].split()) for page in listed) <= 25_000
    assert sum(len(path.read_text("utf-8").split()) for path in (ROOT / "docs").rglob("*.md")) <= 72_000
    assert len(PAGES["speed.md"].split()) <= 1_200
    assert len(PAGES["README.md"].split()) <= 650
    # Nothing is released: a line about an intermediate state serves no reader.
    assert len((ROOT / "CHANGELOG.md").read_text("utf-8").split()) <= 5_000


def test_architecture_lists_every_folder():
    table = PAGES["architecture.md"].split("## Folders")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `([a-z_/]+)/` \|", table, re.MULTILINE))
    packages = {path.parent for path in modules() if path.name == "__init__.py"}
    folders = {path.relative_to(ROOT).as_posix() for path in packages if len(path.relative_to(ROOT).parts) <= 2}
    assert folders - {"identifiers/data"} <= listed
    assert [folder for folder in sorted(listed) if not (ROOT / folder).is_dir()] == []


def test_architecture_names_files_that_exist():
    named = re.findall(r"`([a-z_/]+\.(?:py|md))`", PAGES["architecture.md"])
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).is_file() and not (ROOT / "docs" / name).is_file()] == []


def test_dependencies_page_lists_every_dependency():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    lists = [
        project["dependencies"],
        declared["build-system"]["requires"],
        *project.get("optional-dependencies", {}).values(),
        *declared.get("dependency-groups", {}).values(),
    ]
    names = {re.match(r"[A-Za-z0-9-]+", each)[0].lower() for row in lists for each in row if isinstance(each, str)}  # pyright: ignore[reportOptionalSubscript]
    listed = re.findall(r"^\| `([a-z0-9-]+)`", PAGES["dependencies.md"], re.MULTILINE)
    assert set(listed) == names - {"ararat"}


def test_problems_page_lists_every_code():
    listed = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGES["problems.md"], re.MULTILINE)
    assert sorted(listed) == sorted([*PROBLEMS, *ERROR_CODES, *REFUSALS]), "run: python tests/generate_problems.py"


def test_commands_page_lists_every_command():
    table = PAGES["commands.md"].split("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == main.list_commands(Context(main))


# Frameworks ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder with a database and one bound name."""
    monkeypatch.chdir(tmp_path)
    with open_bindings("bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17")
    return tmp_path


def run(page: str, number: int, given: dict[str, Any] | None = None) -> dict[str, Any]:
    # Pyramid looks up the package of the caller by __name__.
    names: dict[str, Any] = {"__name__": __name__, "__file__": str(Path.cwd() / "app.py")} | (given or {})
    exec(blocks(page, "python")[number], names)
    return names


def test_flask_example_of_the_readme_resolves_and_leaves_the_site_unchanged(site):
    app = run("README.md", 0)["app"]
    app.add_url_rule("/hello", view_func=lambda: "hello")
    assert_resolves(Client(app))


@pytest.mark.one_setup
@pytest.mark.parametrize("text", ["first-ark.md", "frameworks.md"])
def test_flask_example_resolves_and_leaves_the_site_unchanged(text, site):
    assert_resolves(Client(run(text, 0)["app"]))


@pytest.fixture
def project(site, run_command):
    """Return the folder of a project of django-admin, with the database, below another folder."""
    made = site / "project"
    made.mkdir()
    assert run_command(sys.executable, "-m", "django", "startproject", "mysite", made).returncode == 0
    (site / "bindings.sqlite").rename(made / "bindings.sqlite")
    return made


def test_django_example_works_as_pasted_from_any_folder(project, wsgi_server):
    (project / "mysite" / "wsgi.py").write_text(blocks("frameworks.md", "python")[1], "utf-8")
    server = wsgi_server("from mysite.wsgi import application", options=["--pythonpath", str(project)])
    answer = server.get("/ark:/12345/x6-np1")
    assert (answer.status, answer.header("Location")) == (302, "https://example.org/maps/17"), server.log()
    # ALLOWED_HOSTS of a new project refuses 127.0.0.1 for a page. That answer comes from Django.
    assert server.get("/").status in (200, 400)


# Pyramid imports deprecated modules.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:pkg_resources:UserWarning")
def test_pyramid_example_resolves_and_leaves_the_site_unchanged(site):
    assert_resolves(Client(run("frameworks.md", 2)["main"]({})))


def test_example_for_other_applications_resolves_and_leaves_the_site_unchanged(site):
    assert_resolves(Client(run("frameworks.md", 3)["application"]))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "number", [pytest.param(4, id="FastAPI"), pytest.param(5, id="Starlette"), pytest.param(7, id="Quart")]
)
def test_asgi_examples_resolve_and_leave_the_site_unchanged(site, number):
    app = run("frameworks.md", number)["app"]
    assert_resolves_by_asgi(app)
    findings = list(examine(app))
    assert [(finding.code, finding.state) for finding in findings] == [("resolver", "ok"), ("routes", "ok")]
    assert findings[0].message.startswith("ResolverASGIMiddleware wraps the ")


def test_django_example_for_asgi_works_as_pasted(site, project, start_server):
    (project / "mysite" / "asgi.py").write_text(blocks("frameworks.md", "python")[6], "utf-8")
    arguments = ["--app-dir", project, "--port", "0", "mysite.asgi:application"]
    server = start_server([sys.executable, "-m", "uvicorn", *arguments], folder=site)
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    answer = server.get("/ark:/12345/x6-np1")
    assert (answer.status, answer.header("Location")) == (302, "https://example.org/maps/17"), server.log()
    assert server.get("/").status in (200, 400)
    server.stop()


async def hello(scope: Any, receive: Any, send: Any) -> None:
    found = scope["path"] == "/hello"
    await send({"type": "http.response.start", "status": 200 if found else 404, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_the_plugin_of_the_datasette_example_wraps_its_application(site, monkeypatch):
    """Call the plugin as Datasette does, which is installed for the long test below."""
    datasette = SimpleNamespace(hookimpl=lambda function: function, Response=SimpleNamespace(text=str))
    monkeypatch.setitem(sys.modules, "datasette", datasette)
    plugin = run("frameworks.md", 8)
    [(route, answer)] = plugin["register_routes"]()
    assert re.match(route, "/hello")
    assert answer() == "hello"
    assert_resolves_by_asgi(plugin["asgi_wrapper"](datasette)(hello))


@pytest.mark.long
def test_datasette_example_resolves_and_leaves_the_site_unchanged(site):
    pm = importlib.import_module("datasette.plugins").pm
    (site / "plugins").mkdir()
    (site / "plugins" / "resolver.py").write_text(blocks("frameworks.md", "python")[8], "utf-8")
    before = pm.get_plugins()
    try:
        datasette = importlib.import_module("datasette.app").Datasette
        assert_resolves_by_asgi(datasette(memory=True, plugins_dir=str(site / "plugins")).app())
    finally:
        # Plugins are registered for the whole process.
        for plugin in pm.get_plugins() - before:
            pm.unregister(plugin)


def assert_resolves_by_asgi(app: Any) -> None:
    client = AsgiClient(app)
    assert client.request("/hello").text == "hello"
    answer = client.request("/ark:/12345/x6-np1")
    assert (answer.status, answer.header("location")) == (302, "https://example.org/maps/17")
    assert 'https://example.org/ark:12345/x6np1?info>; rel="describedby"' in answer.all("link")[0]
    assert client.request("/ark:12345/x6np1?info").status == 200
    assert client.request("/ark:12345/").status == 400


def test_mounted_inspector_of_the_example_answers_next_to_the_site(site):
    names = run("inspector.md", 0)
    client = Client(names["app"])
    assert_resolves(client)
    assert client.get("/inspect/?q=ark:12345/x6np1").status_code == 200
    assert "/inspect/?q=" in client.get("/ark:12345/unbound", headers={"Accept": "text/html"}).text
    assert Client(run("inspector.md", 1, names)["application"]).get("/").status_code == 200


def assert_resolves(client: Client) -> None:
    assert client.get("/hello").text == "hello"
    answer = client.get("/ark:/12345/x6-np1")
    assert (answer.status_code, answer.headers["Location"]) == (302, "https://example.org/maps/17")
    assert 'https://example.org/ark:12345/x6np1?info>; rel="describedby"' in answer.headers["Link"]
    assert client.get("/ark:12345/x6np1?").status_code == 200
    assert client.get("/ark:12345/").status_code == 400


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_server_of_the_tutorial_answers_a_request(site, start_server: Callable[..., Any]):
    _, serve, visit, _ = blocks("first-ark.md", "sh")
    (site / "app.py").write_text(blocks("first-ark.md", "python")[0], "utf-8")
    # Use any free port instead of 8000, and retry until the server listens. The module starts faster than its program.
    command = [sys.executable, "-m", *serve.replace(":8000", ":0").split()]
    server = start_server(command, folder=site)
    port = server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)")
    answer = shell(visit.replace("8000", port).replace("curl", "curl --retry 20 --retry-connrefused", 1), site)
    shown = re.findall("`([^`]+)`", PAGES["first-ark.md"].split(visit)[1].split("\n\n")[1])
    server.stop()
    assert answer.stdout.startswith(shown[0]), answer
    assert f"\n{shown[1]}\n" in answer.stdout


# Settings and security ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["attributes", "problems", "settings"])
def test_a_generated_page_is_that_of_the_code(name):
    script = ROOT / "tests" / f"generate_{name}.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = PAGES[f"{name}.md"]
    assert generate.page(page) == page, f"run: python tests/{script.name}"
    assert not re.search(r"\|  ?\|$", page, re.MULTILINE), "each attribute and setting has a meaning"


def test_every_test_that_the_security_page_names_exists():
    named = re.findall(r"`([a-z0-9_/]+\.py)::(test_\w+)`", PAGES["security-tests.md"])
    assert len(named) > 20
    assert [
        (file, test) for file, test in named if f"\ndef {test}(" not in (ROOT / "tests" / file).read_text("utf-8")
    ] == []


# Files ----------------------------------------------------------------------------------------------------------------


def test_examples_of_all_formats_have_the_same_rows(tmp_path):
    rows = []
    for format in TABLES:
        file = tmp_path / f"names.{format}"
        file.write_text("".join(blocks("files.md", format)), "utf-8")
        rows.append([fields(row.cells) for row in read_rows(file)])
    assert rows[0] == rows[1]
    assert len(rows[0]) == 2


def test_files_page_lists_every_column():
    table = PAGES["files.md"].split("## The columns")[1].split("\n## ")[0]
    rows = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall("`([a-z_]+)`", row)} == {*COLUMNS, TEST}
