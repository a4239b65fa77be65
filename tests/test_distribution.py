"""Check the built distributions: the wheel contains the package and htmx, and the source distribution has no htmx."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.packages import PACKAGES, ROOT
from tests.test_testing import EXAMPLES, FRAMEWORKS, broken

FOLDERS = (*PACKAGES, "templates", "static")
MODULES = {"__init__.py", "__main__.py", "asgi.py", "client.py", "testing.py", "wsgi.py", "py.typed"}
VENDORED = {"ararat/static/vendor/htmx-2.min.js", "ararat/static/vendor/hx-sse-2.min.js"}
COMPILED = {
    f"ararat/{path.relative_to(ROOT).with_suffix('.mo')}"
    for folder in ("middleware/views", "webapp/language")
    for path in ROOT.glob(f"{folder}/po/*.po")
}

# pip would compile all installed files, including all of Django. Python compiles the files in use anyway.
WITHOUT_COMPILING = {"PIP_COMPILE": "0"}

pytestmark = pytest.mark.timeout(240)


def run(*command: str | Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=os.environ | WITHOUT_COMPILING | environ,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def built(*command: str | Path, folder: Path, **environ: str) -> None:
    done = run(*command, folder=folder, **environ)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree() -> list[str]:
    """Return the files of this checkout that are or would be committed."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    assert listed.returncode == 0, listed.stderr
    return sorted(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


@pytest.fixture(scope="module")
def checkout(tree: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tree in a folder with another name."""
    return placed(tree, tmp_path_factory.mktemp("copy") / "not-ararat", shutil.copy)


def placed(tree: list[str], folder: Path, place: Callable[[Path, Path], object]) -> Path:
    for parent in {(folder / name).parent for name in tree}:
        parent.mkdir(parents=True, exist_ok=True)
    for name in tree:
        place(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def build(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build(*options, **environ) returns a folder with both distributions. The wheel is built from the other one."""

    def make(*options: str, **environ: str) -> Path:
        folder = tmp_path_factory.mktemp("dist")
        built(sys.executable, "-m", "build", *options, "--outdir", folder, folder=checkout, **environ)
        return folder

    return make


@pytest.fixture(scope="module")
def dist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with both distributions, built with the pinned packages that make has installed.

    The program `build` calls the same functions in several processes.
    """
    folder = tmp_path_factory.mktemp("dist")
    packages = str(ROOT / ".venv" / "build")

    def call(hook: str, source: Path) -> None:
        program = f"import setuptools.build_meta as backend; backend.{hook}({str(folder)!r})"
        built(sys.executable, "-c", program, folder=source, PYTHONPATH=packages)

    call("build_sdist", checkout)
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    [source] = (folder / "unpacked").iterdir()
    call("build_wheel", source)
    return folder


@pytest.fixture(scope="module")
def wheel(build: Callable[..., Path]) -> Path:
    """Return the wheel that is built with the declared requirements only. This takes longer."""
    [wheel] = build().glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def package(tree: list[str]) -> set[str]:
    """The files of the tree that are the package."""
    handbook = {name for name in tree if name.startswith("docs/") and name.endswith((".md", ".svg", ".webp"))}
    return {f"ararat/{name}" for name in tree if name in MODULES | handbook or name.split("/")[0] in FOLDERS}


def assert_complete(wheel: set[str], sdist: set[str], package: set[str], tree: list[str]) -> None:
    """The wheel has the package, htmx and the translations. The source distribution has the tests, and no others."""
    assert wheel == package | VENDORED | COMPILED
    assert len(COMPILED) == 12 + 7
    assert {name.removeprefix("ararat/") for name in package} | {"setup.py", "pyproject.toml", "README.md"} <= sdist
    # The tests can run: all files of the repository are there, except those of git and of its server.
    assert {name for name in tree if not name.startswith((".git", ".ci/"))} <= sdist
    assert not [name for name in sdist if "vendor" in name or name.endswith((".min.js", ".mo"))]


# Setuptools lists the files that it would write. To write and compress them takes much longer.
LISTS = """\
import json
from distutils.core import run_setup
from setuptools.command.egg_info import manifest_maker

distribution = run_setup("setup.py", stop_after="commandline")
build, info = (distribution.get_command_obj(name) for name in ("build_py", "egg_info"))
build.ensure_finalized()
info.ensure_finalized()
info.run()
print(json.dumps([build.build_lib, build.get_outputs(include_bytecode=False), info.filelist.files]))
"""


def test_the_files_of_both_distributions_are_listed(package, tree, tmp_path):
    links = placed(tree, tmp_path / "not-ararat", lambda source, place: place.symlink_to(source))
    done = run(sys.executable, "-c", LISTS, folder=links, PYTHONPATH=str(ROOT / ".venv" / "build"))
    assert done.returncode == 0, done.stderr
    folder, wheel, sdist = json.loads(done.stdout.splitlines()[-1])
    assert_complete({os.path.relpath(name, folder) for name in wheel}, {*map(os.path.normpath, sdist)}, package, tree)


@pytest.mark.long
def test_both_distributions_contain_their_files(dist, package, tree):
    [wheel], [sdist] = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        built = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        assert_complete(built, {name.partition("/")[2] for name in archive.getnames()}, package, tree)


@pytest.mark.long
def test_the_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path, start_server: Callable[..., Any]):
    place = tmp_path / "empty"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    pinned = ROOT / "tests" / "requirements" / "run.txt"
    built(*pip, "install", "--quiet", "--require-hashes", "--requirement", pinned, folder=tmp_path)
    # All requirements of the wheel are pinned, so pip must not look for others.
    built(*pip, "install", "--quiet", "--no-index", f"ararat[app] @ {wheel.as_uri()}", folder=tmp_path)
    installed = run(sys.executable, "-m", "pip", "--python", python, "list", "--format=json", folder=tmp_path)
    assert not {"django", "django-htmx", "pytest"} & {row["name"].lower() for row in json.loads(installed.stdout)}

    as_module = run(python, "-m", "ararat", "--version", folder=tmp_path)
    assert as_module.stdout.startswith("ararat "), as_module.stderr

    server = start_server(
        [
            python.with_name("ararat"),
            "serve",
            "--port",
            "0",
            "--database",
            f"sqlite:///{tmp_path / 'bindings.sqlite'}",
            "--create",
        ]
    )
    # The new environment has no compiled modules.
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)", seconds=120))
    assert server.get("/").status == 200
    for name in VENDORED:
        assert server.get(name.removeprefix("ararat")).status == 200
    server.stop()


SITE = """
import sqlalchemy, django
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from werkzeug.test import Client
from ararat.middleware import ResolverMiddleware, open_bindings

bindings = open_bindings("bindings.sqlite", create=True)
bindings.bind("ark:12345/x6np1", "/maps/17")
app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
SQLAlchemy(app)
app.wsgi_app = ResolverMiddleware(app.wsgi_app, bindings)
assert Client(app).get("/ark:/12345/x6-np1").location == "/maps/17"

from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x")
from django.core.wsgi import get_wsgi_application
urlpatterns = []
assert Client(ResolverMiddleware(get_wsgi_application(), bindings)).get("/ark:12345/x6np1").status_code == 302
print(sqlalchemy.__version__, django.__version__)
"""


@pytest.mark.long
def test_the_middleware_works_with_older_frameworks(wheel: Path, tmp_path: Path):
    place = tmp_path / "empty"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    pinned = ROOT / "tests" / "requirements" / "sites.txt"
    built(*pip, "install", "--quiet", "--require-hashes", "--requirement", pinned, folder=tmp_path)
    # The packages of the sites are all requirements of the wheel, so pip must not look for others.
    built(*pip, "install", "--quiet", "--no-index", wheel, folder=tmp_path)
    (tmp_path / "site_of_a_test.py").write_text(SITE)
    done = run(python, "-W", "error", "site_of_a_test.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"2\.0\.\d+ 5\.2(\.\d+)?\n", done.stdout)

    command = run(python.with_name("ararat"), "inspect", "ark:12345/x", folder=tmp_path)
    assert command.returncode == 69
    assert "pip install 'ararat[app]'" in command.stderr


def pins_of(*names: str) -> str:
    """Return the pinned requirements of packages and of all that they need, with their hashes."""
    needed, waiting = set[str](), list(names)
    while waiting:
        name = re.sub("[-_.]+", "-", waiting.pop()).lower()
        if name in needed:
            continue
        needed.add(name)
        for text in importlib.metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    folder = ROOT / "tests" / "requirements"
    pinned = "".join((folder / name).read_text("utf-8") for name in ("run.txt", "test.txt"))
    found = {block.partition("==")[0]: block for block in re.findall(r"^[a-z0-9].*(?:\n .*)*\n", pinned, re.MULTILINE)}
    return "".join(found[name] for name in sorted(needed))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_plugin_tests_the_site_of_a_stranger(dist: Path, tmp_path: Path):
    """The examples of the guide in a fresh environment: green, and red when a page of a name is lost."""
    place = tmp_path / "empty"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    pinned = tmp_path / "pinned.txt"
    pinned.write_text(pins_of("django", "fastapi", "flask", "jinja2", "pytest", "sqlalchemy", "uvicorn", "werkzeug"))
    built(*pip, "install", "--quiet", "--require-hashes", "--requirement", pinned, folder=tmp_path)
    [wheel] = dist.glob("*.whl")
    built(*pip, "install", "--quiet", "--no-index", wheel, folder=tmp_path)
    for title in FRAMEWORKS:
        museum, tests = EXAMPLES[title]
        folder = tmp_path / title.split()[0]
        folder.mkdir()
        (folder / "test_names.py").write_text(tests)
        for content, code, said in ((museum, 0, "passed"), (broken(museum), 1, "Restore the page /paintings/17")):
            (folder / "museum.py").write_text(content)
            done = run(python, "-m", "pytest", "-p", "no:cacheprovider", folder=folder, PYTHONDONTWRITEBYTECODE="1")
            assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


@pytest.mark.parametrize("hook", ["build_wheel", pytest.param("build_editable", marks=pytest.mark.long)])
def test_an_unreviewed_htmx_file_ends_the_build(hook, tmp_path):
    # Without the other packages, because the files of this one are enough.
    checkout = placed(["setup.py", "pyproject.toml", "README.md", "__init__.py"], tmp_path / "not-ararat", shutil.copy)
    static = tmp_path / "django_htmx" / "static" / "django_htmx"
    static.mkdir(parents=True)
    (static / "htmx-2.min.js").write_text("alert(1)")
    (tmp_path / "django_htmx-1.29.0.dist-info").mkdir()
    (tmp_path / "django_htmx-1.29.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: django-htmx\nVersion: 1.29.0\n"
    )
    program = f"import setuptools.build_meta as backend; backend.{hook}({str(tmp_path)!r})"
    done = run(sys.executable, "-c", program, folder=checkout, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "htmx-2.min.js has sha256" in done.stderr
    assert "not the file that was reviewed" in done.stderr
    assert list(tmp_path.glob("*.whl")) == []
    assert not (checkout / "static" / "vendor").exists()
