"""The parts of the build that pyproject.toml cannot express: the packages, the excluded files, and htmx.

The root of the repository is the package ``ararat``, so this file is in it; :class:`BuildPy` excludes it from wheels.
htmx and its extension for server-sent events are not in the repository. They come from the distribution
``django-htmx``, a build requirement with a fixed version, and their hashes are checked. They are copied into a wheel
or, for an editable install, into the folder ``static/vendor/``, which git ignores.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
ROOMS = ("identifiers", "middleware", "webapp", "cli")

# Path below the folder django_htmx: sha256. htmx 2.0.10 and htmx-ext-sse 2.2.4, both under the licence 0BSD.
VENDORED = {
    "static/django_htmx/htmx-2.min.js": "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de",
    "static/django_htmx/ext/hx-sse-2.min.js": "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
}


class BuildPy(build_py):
    """Build the package without the scripts of the root, and with the two vendored files."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return the modules of a package; of the root only ``__init__`` and ``__main__``."""
        modules = super().find_package_modules(package, package_dir)
        return [found for found in modules if package != "ararat" or found[1] in ("__init__", "__main__")]

    def run(self) -> None:
        """Build, then copy the vendored files to the place for this kind of build."""
        super().run()
        vendor = self._vendor_folder()
        for path, sha256 in VENDORED.items():
            content = reviewed(path, sha256)
            vendor.mkdir(parents=True, exist_ok=True)
            (vendor / Path(path).name).write_bytes(content)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that this command writes below the build folder, including the vendored ones."""
        vendored = [] if self.editable_mode else [str(self._vendor_folder() / Path(path).name) for path in VENDORED]
        return [*super().get_outputs(include_bytecode), *vendored]

    def _vendor_folder(self) -> Path:
        package = ROOT if self.editable_mode else Path(self.build_lib, "ararat")
        return package / "static" / "vendor"


def reviewed(path: str, sha256: str) -> bytes:
    """Return the content of a file of the installed django-htmx, or end the build if its hash is wrong.

    This raises SystemExit, because setuptools turns an Exception of build_py into a warning for an editable install. A
    file that was not reviewed must never be installed.
    """
    try:
        source = Path(str(metadata.distribution("django-htmx").locate_file("django_htmx")), path)
        content = source.read_bytes()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise SystemExit(
            f"htmx comes from django-htmx: build with isolation, or install that first ({error})"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SystemExit(f"{source} has sha256 {found}, expected {sha256}: not the file that was reviewed")
    return content


setup(
    packages=[
        "ararat",
        *(f"ararat.{name}" for room in ROOMS for name in find_packages(str(ROOT), include=[room, f"{room}.*"])),
    ],
    cmdclass={"build_py": BuildPy},
)
