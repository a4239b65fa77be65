"""The README's examples, run: consoles in a shell, sessions as doctests, the quick starts behind a real resolver."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.middleware import open_bindings

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
NAMES = (
    "identifier,target,what\nark:12345/n1,https://example.org/n1,One\nark:12345/x-6np1,https://example.org/maps/18,\n"
)


def blocks(language: str) -> list[str]:
    """The fenced blocks in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """The commands of all consoles with the output that the README shows for them."""
    shown = "".join(blocks("console"))
    return [(command, output) for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE)]


def test_the_consoles_show_what_a_shell_shows(tmp_path):
    (tmp_path / "names.csv").write_text(NAMES, "utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARARAT_")}
    environ = clean | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    database = f"export ARARAT_DATABASE=sqlite:///{tmp_path}/bindings.sqlite; "
    shown, got = [], []
    for command, output in commands():
        ran = subprocess.run(
            ["/bin/sh", "-c", database + command + " 2>&1"],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        shown.append(f"$ {command}\n{output}")
        got.append(f"$ {command}\n{ran.stdout}")
    assert "".join(got) == "".join(shown)


def test_the_sessions_show_what_python_shows():
    (session,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with a bound name, as the quick starts expect it."""
    monkeypatch.chdir(tmp_path)
    with open_bindings("bindings.sqlite") as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17")
    return tmp_path


def test_the_flask_quick_start_resolves_and_leaves_the_site_alone(site):
    names: dict[str, Any] = {"__name__": "quick_start"}
    exec(blocks("python")[0], names)
    app = names["app"]
    app.add_url_rule("/hello", view_func=lambda: "hello")
    assert_resolves(Client(app))


def test_the_django_quick_start_resolves_and_leaves_the_site_alone(site):
    import django
    from django.conf import settings
    from django.http import HttpResponse
    from django.urls import path

    urls = [path("hello", lambda request: HttpResponse(b"hello"))]
    settings.configure(ROOT_URLCONF=tuple(urls), ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50)
    django.setup()
    names: dict[str, Any] = {}
    exec(blocks("python")[1], names)
    assert_resolves(Client(names["application"]))


def assert_resolves(client: Client) -> None:
    assert client.get("/hello").text == "hello"
    answer = client.get("/ark:/12345/x6-np1")
    assert (answer.status_code, answer.headers["Location"]) == (302, "https://example.org/maps/17")
    assert 'https://example.org/ark:12345/x6np1?info>; rel="describedby"' in answer.headers["Link"]
    assert client.get("/ark:12345/x6np1?").status_code == 200
    assert client.get("/ark:12345/").status_code == 400
