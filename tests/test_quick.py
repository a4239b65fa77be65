"""`make quick` chooses the nearest test files of what changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import quick


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository in which `net/send.py` is changed, and `cli/doctor.py` imports it."""
    for path, text in {
        "net/__init__.py": "",
        "net/send.py": "def send(): ...\n",
        "net/response.py": "",
        "cli/__init__.py": "",
        "cli/doctor.py": "from ..net import response\nfrom ..net.send import send\n",
        "tests/net/test_send.py": "",
        "tests/net/test_response.py": "",
        "tests/cli/test_doctor.py": "",
        "tests/e2e/test_page.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.example"]
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-q", "-m", "one"],
        ["commit", "-q", "--allow-empty", "-m", "two"],
    ):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    (tmp_path / "net/send.py").write_text("def send(): pass\n")
    return tmp_path


def test_the_tests_of_a_module_come_before_those_of_its_folder_and_its_importers(tree: Path) -> None:
    assert quick.changed(root=tree) == ["net/send.py"]
    found = quick.files_of(quick.changed(root=tree), quick.importers(tree), tree)
    assert found == ["tests/net/test_send.py", "tests/net/test_response.py", "tests/cli/test_doctor.py"]


def test_a_new_file_is_a_change_and_without_changes_the_last_commit_is_one(tree: Path) -> None:
    (tree / "net/new.py").write_text("")
    assert quick.changed(root=tree) == ["net/new.py", "net/send.py"]
    subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "-q", "-m", "three"],
        cwd=tree,
        check=True,
    )
    assert quick.changed(root=tree) == ["net/new.py", "net/send.py"]
    with pytest.raises(subprocess.CalledProcessError):
        quick.changed("no-such-commit", tree)


def test_tests_in_a_browser_are_left_out(tree: Path) -> None:
    assert quick.files_of(["tests/e2e/test_page.py"], {}, tree) == []


def test_the_nearest_files_that_fit_are_run() -> None:
    times = {"a": 30.0, "b": 12.0, "c": 5.0}
    assert quick.within(["a", "b", "c"], times, 20) == ["a"]
    assert quick.within(["b", "a", "c"], times, 20) == ["b", "c"]
    assert quick.within(["new", "c"], times, 6) == ["new", "c"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("templates/page.html", ["tests/net/test_send.py", "tests/net/test_response.py"], id="template"),
        pytest.param("templates/_row.html", ["tests/net/test_send.py", "tests/net/test_response.py"], id="part"),
        pytest.param("static/site.css", ["tests/cli/test_doctor.py"], id="named-by-a-test"),
        pytest.param("net/po/de.po", ["tests/net/test_response.py"], id="catalogue"),
        pytest.param("static/other.css", [], id="not-named"),
    ],
)
def test_a_file_that_no_module_imports_has_the_tests_of_what_names_it(tree: Path, path: str, found: list[str]) -> None:
    for name, text in {
        "templates/page.html": '{% include "_row.html" %}',
        "templates/_row.html": "",
        "net/send.py": 'PAGE = "page.html"\n',
        "tests/cli/test_doctor.py": 'STYLE = ROOT / "site.css"\n',
        "tests/net/test_response.py": 'CATALOGUES = FOLDER.glob("*.po")\n',
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
    assert quick.files_of([path], {}, tree) == found
