"""The fuzz target for atheris, which creates bytes by code coverage. Each input is checked with one invariant.

    .venv/bin/python tests/fuzz/fuzz_octets.py -runs=100000 FOLDER        (all options of libFuzzer)

FOLDER keeps the inputs that reach new code between runs. An empty folder is filled with the inputs of the tests,
because random bytes are seldom an identifier. The first byte selects the invariant. A failing input is written to a
file `crash-…`, and the traceback contains it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

# Imported by name, because only `make fuzz` installs it.
atheris = importlib.import_module("atheris")


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


with atheris.instrument_imports(include=["ararat"]):
    invariants = _loaded(Path(__file__).with_name("test_invariants.py"))


def one_input(octets: bytes) -> None:
    """Check an input with the invariant that its first byte selects."""
    which, rest = (octets[0] if octets else 0), octets[1:]
    text = rest.decode("utf-8", "surrogateescape")
    targets = "".join(character for character in text if "!" <= character <= "~")
    # The first two bytes of a request select its other properties.
    raw = "".join(character for character in rest[2:].decode("latin-1") if character > " " and character != "\x7f")
    method, accept = (
        among[(rest[place : place + 1] or b"\0")[0] % len(among)]
        for place, among in enumerate((invariants.METHODS, invariants.ACCEPTED))
    )
    (
        lambda: invariants.check_examine(text),
        lambda: invariants.check_find(text),
        lambda: invariants.check_request_target(f"/{raw}", method, accept),
        lambda: invariants.check_verdicts(targets),
        lambda: invariants.check_table(rest, invariants.FORMATS[which // 6 % len(invariants.FORMATS)]),
        lambda: invariants.check_registry(rest),
    )[which % 6]()


DATA = Path(__file__).parents[1] / "data"
TABLES = {
    "csv": 'identifier,target,kind\nark:12345/x,"https://example.org/,1",related\nark:12345/y,/y,served\n',
    "tsv": "identifier\ttarget\tstatus\treason\nark:12345/x\t/x\twithdrawn\tgone\n",
    "jsonl": '{"identifier": "ark:12345/x", "target": "/x", "passthrough": true, "metadata": {"who": "A"}}\n',
}
"""A small table in each of the formats."""


def sow(folder: Path) -> None:
    """Fill a folder with the first inputs: every vector and every hostile identifier, for each invariant."""
    rows = map(json.loads, (DATA / "vectors.jsonl").read_text("utf-8").splitlines())
    hostile = map(json.loads, (DATA / "hostile" / "naughty-identifiers.jsonl").read_text("utf-8").splitlines())
    known = [row["input"] for row in (*rows, *hostile)]
    texts = [text.encode("utf-8", "surrogatepass") for text in known if isinstance(text, str)]
    tables = [
        bytes([4 + 6 * place]) + table.encode()
        for place, table in enumerate(map(TABLES.get, invariants.FORMATS))
        if table
    ]
    registries = [b"\x05" + path.read_bytes() for path in sorted((DATA / "registries").iterdir())]
    # "which" of one_input: 0 to 3 take an identifier. For a request, two more bytes precede it.
    names = [bytes([number % 4]) + (b"\0\0" if number % 4 == 2 else b"") + text for number, text in enumerate(texts)]
    for number, octets in enumerate([*names, *tables, *registries]):
        (folder / f"seed-{number}").write_bytes(octets)


if __name__ == "__main__":
    for folder in filter(Path.is_dir, map(Path, sys.argv[1:])):
        if not any(folder.iterdir()):
            sow(folder)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
