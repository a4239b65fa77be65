"""The parts of the build that pyproject.toml cannot express: packages, excluded files, htmx and translations.

The root of the repository is the package ``ararat``, so this file is in it; :class:`BuildPy` excludes it from wheels.
htmx and its extension for server-sent events come from ``django-htmx``, a build requirement with a fixed version, and
their hashes are checked. They are copied into a wheel or, for an editable install, into ``static/vendor/``, which git
ignores. Babel compiles the translations of the pages beside their sources.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from io import BytesIO
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
ROOMS = ("identifiers", "bindings", "spreadsheets", "net", "middleware", "tracing", "webapp", "cli")

# Path below the folder django_htmx: sha256. htmx 2.0.10 and htmx-ext-sse 2.2.4, both under the licence 0BSD.
VENDORED = {
    "static/django_htmx/htmx-2.min.js": "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de",
    "static/django_htmx/ext/hx-sse-2.min.js": "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
}


CATALOGUES = Path("middleware", "views", "po"), Path("webapp", "language", "po")


MODULES = ("__init__", "__main__", "asgi", "client", "testing", "wsgi")


class BuildPy(build_py):
    """Build the package without the scripts of the root, with the two vendored files and the compiled translations."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return the modules of a package; of the root only :data:`MODULES`."""
        modules = super().find_package_modules(package, package_dir)
        return [found for found in modules if package != "ararat" or found[1] in MODULES]

    def run(self) -> None:
        """Build, then write the other files to the place for this kind of build."""
        super().run()
        for place, make in self._made():
            content = make()
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that this command writes below the build folder."""
        made = [] if self.editable_mode else [str(place) for place, _ in self._made()]
        return [*super().get_outputs(include_bytecode), *made]

    def _made(self) -> Iterator[tuple[Path, Callable[[], bytes]]]:
        """Yield the places of the vendored files and the compiled translations, and functions for their contents."""
        package = ROOT if self.editable_mode else Path(self.build_lib, "ararat")
        for path, sha256 in VENDORED.items():
            yield package / "static" / "vendor" / Path(path).name, partial(read_reviewed, path, sha256)
        for folder in CATALOGUES:
            for source in sorted((ROOT / folder).glob("*.po")):
                yield (package / folder / source.name).with_suffix(".mo"), partial(compile_catalogue, source)


def read_reviewed(path: str, sha256: str) -> bytes:
    """Return the content of a file of the installed django-htmx, or end the build if its hash is wrong. SystemExit is
    raised, because setuptools turns an Exception of build_py into a warning for an editable install.
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


def compile_catalogue(source: Path) -> bytes:
    """Return a file ``po`` in the format ``mo``, or end the build with SystemExit. Fuzzy ones are left out."""
    try:
        from babel.messages.mofile import write_mo
        from babel.messages.pofile import PoFileError, read_po
    except ImportError as error:
        raise SystemExit(f"Babel compiles the translations: build with isolation, or install it ({error})") from error
    content = BytesIO()
    try:
        with source.open("rb") as file:
            write_mo(content, read_po(file, abort_invalid=True))
    except PoFileError as error:
        raise SystemExit(f"{source}: {error}") from error
    return content.getvalue()


setup(
    packages=[
        "ararat",
        *(f"ararat.{name}" for room in ROOMS for name in find_packages(str(ROOT), include=[room, f"{room}.*"])),
    ],
    cmdclass={"build_py": BuildPy},
)
