"""The examples of the README and the handbook, run: consoles in a shell, sessions as doctests, the quick starts behind
a real resolver."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.middleware.tabular.columns import COLUMNS, proposal
from ararat.middleware.tabular.formats import read_rows

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
NAMES = (
    "identifier,target,what\nark:12345/n1,https://example.org/n1,One\nark:12345/x-6np1,https://example.org/maps/18,\n"
)
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TABLES = ("csv", "jsonl")
# Pages that are written beside these, and not there yet.
COMING = {"proxies.md", "servers.md"}


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[tuple[str, str]]:
    """The commands of all consoles with the output that the page shows for them."""
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


def test_the_consoles_of_the_readme_show_what_a_shell_shows(tmp_path):
    (tmp_path / "names.csv").write_text(NAMES, "utf-8")
    database = f"export ARARAT_DATABASE=sqlite:///{tmp_path}/bindings.sqlite; "
    shown = commands("README.md")
    got = [(command, shell(f"{database}{command} 2>&1", tmp_path).stdout) for command, _ in shown]
    assert got == shown


# The parameter is not called "page", which is what the browser's tests call theirs.
@pytest.mark.parametrize("text", [page for page in PAGES if page != "README.md" and commands(page)])
def test_the_consoles_of_the_handbook_show_what_they_should(text, tmp_path, monkeypatch):
    if "$ sqlite3 " in PAGES[text] and not shutil.which("sqlite3"):
        pytest.skip("sqlite3 is not installed")
    (tmp_path / "names.csv").write_text("".join(blocks(text, "csv")), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shown = commands(text)
    assert [(command, output_of(command, tmp_path)) for command, _ in shown] == shown


def output_of(command: str, folder: Path) -> str:
    """What a command writes; one of ours in this process, since a process of its own takes its time to start."""
    program, *arguments = shlex.split(command)
    if program == "ararat":
        clean = {name: None for name in os.environ if name.startswith("ARARAT_")}
        return CliRunner().invoke(main, arguments, env=clean).output
    return shell(f"{command} 2>&1", folder).stdout


def test_the_sessions_show_what_python_shows():
    (session,) = blocks("README.md", "pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize("text", PAGES)
def test_links_lead_to_pages_and_places_that_are_there(text):
    folder = ROOT if text == "README.md" else ROOT / "docs"
    for link in re.findall(r"\]\(([^)\s]+)\)", PAGES[text]):
        name, _, place = link.partition("#")
        if "://" in name or name in COMING - set(PAGES):
            continue
        assert (folder / name).is_file(), link
        headings = re.findall(r"^#+ (.*)$", PAGES.get(Path(name).name, ""), re.MULTILINE)
        places = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not place or place in places, link


def test_every_page_of_the_handbook_is_linked_from_its_first():
    linked = set(re.findall(r"\(([a-z-]+\.md)\)", PAGES["index.md"]))
    assert set(PAGES) - {"README.md", "index.md"} <= linked


# The quick starts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with a bound name, as the quick starts expect it."""
    monkeypatch.chdir(tmp_path)
    with open_bindings("bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17")
    return tmp_path


def run(page: str, number: int) -> dict[str, Any]:
    # A name that is loaded: Pyramid looks for the package of whoever configures it.
    names: dict[str, Any] = {"__name__": __name__, "__file__": str(Path.cwd() / "app.py")}
    exec(blocks(page, "python")[number], names)
    return names


def test_the_flask_of_the_readme_resolves_and_leaves_the_site_alone(site):
    app = run("README.md", 0)["app"]
    app.add_url_rule("/hello", view_func=lambda: "hello")
    assert_resolves(Client(app))


def test_the_flask_quick_start_resolves_and_leaves_the_site_alone(site):
    assert_resolves(Client(run("quickstart.md", 0)["app"]))


def test_the_django_quick_start_works_as_pasted_from_any_folder(site, wsgi_server):
    """In a project that django-admin makes, served from another folder than that of the database."""
    project = site / "project"
    project.mkdir()
    subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", project], check=True, timeout=60)
    (site / "bindings.sqlite").rename(project / "bindings.sqlite")
    (project / "mysite" / "wsgi.py").write_text(blocks("quickstart.md", "python")[1], "utf-8")
    server = wsgi_server("from mysite.wsgi import application", options=["--pythonpath", str(project)])
    answer = server.get("/ark:/12345/x6-np1")
    assert (answer.status, answer.header("Location")) == (302, "https://example.org/maps/17"), server.log()
    # ALLOWED_HOSTS of a new project refuses 127.0.0.1 for a page, and that is the answer of Django.
    assert server.get("/").status in (200, 400)


# What Pyramid is made of imports modules that are on their way out.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:pkg_resources:UserWarning")
def test_the_pyramid_quick_start_resolves_and_leaves_the_site_alone(site):
    assert_resolves(Client(run("quickstart.md", 2)["main"]({})))


def test_the_quick_start_for_anything_else_resolves_and_leaves_the_site_alone(site):
    assert_resolves(Client(run("quickstart.md", 3)["application"]))


def assert_resolves(client: Client) -> None:
    assert client.get("/hello").text == "hello"
    answer = client.get("/ark:/12345/x6-np1")
    assert (answer.status_code, answer.headers["Location"]) == (302, "https://example.org/maps/17")
    assert 'https://example.org/ark:12345/x6np1?info>; rel="describedby"' in answer.headers["Link"]
    assert client.get("/ark:12345/x6np1?").status_code == 200
    assert client.get("/ark:12345/").status_code == 400


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_server_of_the_quick_start_answers_its_visitor(site, start_server: Callable[..., Any]):
    serve, visit, _ = blocks("quickstart.md", "sh")
    (site / "app.py").write_text(blocks("quickstart.md", "python")[0], "utf-8")
    # Any free port in place of 8000, and asked for over and over until somebody is there.
    command = [Path(sys.executable).with_name("gunicorn"), *serve.replace(":8000", ":0").split()[1:]]
    server = start_server(command, folder=site)
    port = server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)")
    answer = shell(visit.replace("8000", port).replace("curl", "curl --retry 20 --retry-connrefused", 1), site)
    said = re.findall("`([^`]+)`", PAGES["quickstart.md"].split(visit)[1].split("\n\n")[1])
    server.stop()
    assert answer.stdout.startswith(said[0]), answer
    assert f"\n{said[1]}\n" in answer.stdout


# Settings and security ------------------------------------------------------------------------------------------------


def test_the_settings_are_those_of_the_code():
    script = ROOT / "tests" / "generate_settings.py"
    spec = importlib.util.spec_from_file_location("generate_settings", script)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.page(PAGES["settings.md"]) == PAGES["settings.md"], f"write it anew: python tests/{script.name}"


def test_every_test_that_is_named_as_proof_is_there():
    named = re.findall(r"`([a-z0-9_/]+\.py)::(test_\w+)`", PAGES["security.md"])
    assert len(named) > 20
    assert [
        (file, test) for file, test in named if f"\ndef {test}(" not in (ROOT / "tests" / file).read_text("utf-8")
    ] == []


# Files ----------------------------------------------------------------------------------------------------------------


def test_the_formats_say_the_same(tmp_path):
    said = []
    for format in TABLES:
        file = tmp_path / f"names.{format}"
        file.write_text("".join(blocks("files.md", format)), "utf-8")
        said.append([proposal(row.cells) for row in read_rows(file)])
    assert said[0] == said[1]
    assert len(said[0]) == 2


def test_every_column_is_explained():
    table = PAGES["files.md"].split("## The columns")[1].split("\n## ")[0]
    rows = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall("`([a-z]+)`", row)} == set(COLUMNS)
