"""Write tests/requirements/*.txt: each package that is installed, with one version and the hashes of its files.

``make lock`` runs it, with the option ``--upgrade`` to raise the versions. The versions are valid for all systems and
for Python 3.11 and newer. A file contains the packages that the sets before it do not contain. The files for the build
and the tools are complete, because they are installed into separate folders, and pip is installed before the others.
That of the sites is resolved separately.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).with_name("requirements")
GROUPS = ("test", "lint", "servers", "bench", "fuzz")
"""The dependency groups of pyproject.toml, in the order in which they are installed into .venv."""

EXTRAS = tuple(
    option for extra in ("app", "client", "log", "metrics", "oidc", "postgres") for option in ("--extra", extra)
)
SETS = {"run": EXTRAS[:2], **{group: (*EXTRAS, "--group", group) for group in GROUPS}}
"""Each set that is installed into .venv, in this order, and the options of uv that select it."""

SITES = ("django>=5.2,<5.3", "flask>=3.0,<3.1", "flask-sqlalchemy>=3.1", "sqlalchemy>=2.0,<2.1")
"""Packages that a site can have beside the middleware: tests/test_distribution.py installs these older versions."""

TOOLS = ("pip-audit>=2.10", "uv>=0.13")
PIP = ("pip>=25",)
"""It installs the others. That of Python 3.11 reads the metadata of all packages for each package that it installed."""

HEADER = "# Written by `make lock` from pyproject.toml; do not edit. Install it with pip install --require-hashes.\n"


def main() -> None:
    """Resolve everything once, so that all sets agree. Then resolve each set with its hashes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        names = ("tools.in", "build.in", "sites.in", "pip.in", "agreed.txt")
        tools, build, sites, pip, agreed = (folder / name for name in names)
        tools.write_text("\n".join(TOOLS), "utf-8")
        pip.write_text("\n".join(PIP), "utf-8")
        sites.write_text("\n".join(SITES), "utf-8")
        build.write_text("\n".join(project["build-system"]["requires"]), "utf-8")
        # uv keeps the versions in the file that it overwrites.
        agreed.write_text(
            "\n".join(sorted({pin for each in FOLDER.glob("*.txt") if each.stem != "sites" for pin in pins(each)})),
            "utf-8",
        )
        groups = [option for group in GROUPS for option in ("--group", group)]
        resolve(ROOT / "pyproject.toml", build, tools, pip, *EXTRAS, *groups, to=agreed)
        locked = {
            "build": resolve(build, "--no-deps", "--generate-hashes", within=agreed),
            "pip": resolve(pip, "--generate-hashes", within=agreed),
            "sites": resolve(sites, "--generate-hashes"),
            "tools": resolve(tools, "--generate-hashes", within=agreed),
        }
        before: set[str] = set()
        for each, wanted in SETS.items():
            found = resolve(ROOT / "pyproject.toml", *wanted, "--generate-hashes", within=agreed)
            locked[each] = [block for block in found if block not in before]
            before |= {*found}
    FOLDER.mkdir(exist_ok=True)
    for each, blocks in locked.items():
        (FOLDER / f"{each}.txt").write_text(HEADER + "".join(blocks), "utf-8")


def resolve(*arguments: str | Path, within: Path | None = None, to: Path | None = None) -> list[str]:
    """Return the requirements that uv resolves, one string for each package, within the versions of a file."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    command += ["--constraint", str(within)] if within else []
    command += ["--output-file", str(to), *sys.argv[1:]] if to else []
    done = subprocess.run([*command, *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit("make lock: uv could not resolve the requirements; see above")
    return re.findall(r"^\S.*(?:\n +.*)*\n", done.stdout, re.MULTILINE)


def pins(path: Path) -> list[str]:
    """Return the lines of a file that have a version, without hashes."""
    return re.findall(r"^[^\s#][^\\\n]*", path.read_text("utf-8"), re.MULTILINE)


if __name__ == "__main__":
    main()
