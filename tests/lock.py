"""Write tests/requirements/*.txt: each package that is installed, with one version and the hashes of its files.

``make lock`` runs it, with the option ``--upgrade`` to raise the versions. The versions hold for every system and every
Python from 3.11 on. A file has what its set needs beyond the sets that are installed before it. Those for the build and
for the tools are complete, since they are installed in folders of their own.
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
EXTRAS = {"run": "", "test": "test", "servers": "servers", "bench": "bench", "fuzz": "fuzz"}
"""Each set that is installed into .venv, in this order, and the extra of pyproject.toml that it is for."""

TOOLS = ("pip-audit>=2.10", "uv>=0.13")
HEADER = "# Written by `make lock` from pyproject.toml; do not edit. Install it with pip install --require-hashes.\n"


def main() -> None:
    """Resolve everything once, so that all sets agree, and then each set with its hashes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        tools, build, agreed = folder / "tools.in", folder / "build.in", folder / "agreed.txt"
        tools.write_text("\n".join(TOOLS), "utf-8")
        build.write_text("\n".join(project["build-system"]["requires"]), "utf-8")
        # uv keeps the versions that it finds in the file that it writes.
        agreed.write_text("\n".join(sorted({pin for each in FOLDER.glob("*.txt") for pin in pins(each)})), "utf-8")
        resolve(ROOT / "pyproject.toml", build, tools, "--all-extras", to=agreed)
        locked = {
            "build": resolve(build, "--no-deps", "--generate-hashes", within=agreed),
            "tools": resolve(tools, "--generate-hashes", within=agreed),
        }
        before: set[str] = set()
        for each, extra in EXTRAS.items():
            wanted = ["--extra", extra] if extra else []
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
