"""The target for atheris: octets that it changes by what of our code they reach, put to every invariant.

    .venv/bin/python tests/fuzz/fuzz_octets.py -runs=100000        (other options are libFuzzer's)

The first octet says which invariant. What is found is written to a file `crash-…`, and stands in full in the traceback.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

# By name, since only `make fuzz` installs it.
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
    """Put an input to the invariant that its first octet names."""
    which, rest = (octets[0] if octets else 0), octets[1:]
    text = rest.decode("utf-8", "surrogateescape")
    targets = "".join(character for character in text if "!" <= character <= "~")
    (
        lambda: invariants.check_examine(text),
        lambda: invariants.check_find(text),
        lambda: invariants.check_request_target(f"/{targets}"),
        lambda: invariants.check_verdicts(targets),
        lambda: invariants.check_table(rest, invariants.FORMATS[which // 6 % len(invariants.FORMATS)]),
        lambda: invariants.check_registry(rest),
    )[which % 6]()


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
