"""Import paths of earlier documentation, which programs use."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from ararat.middleware import open_bindings

PATHS = [
    ("bulk.operations", "list_operations"),
    ("bulk.relocation", "relocate_prefix"),
    ("bulk.undo", "undo_change"),
    ("bulk.undo", "undo_operation"),
    ("bulk.withdrawal", "restore_below"),
    ("bulk.withdrawal", "restore_withdrawn"),
    ("bulk.withdrawal", "withdraw_below"),
    ("changes", "NameChange"),
    ("changes", "change_recorded"),
    ("creation", "MintedChange"),
    ("creation", "create"),
]


@pytest.mark.parametrize(("module", "name"), PATHS)
def test_a_former_path_leads_to_the_same_object(module: str, name: str) -> None:
    found = getattr(importlib.import_module(f"ararat.middleware.bindings.{module}"), name)
    if name != "list_operations":
        assert found is getattr(
            importlib.import_module(f"ararat.bindings.{module.replace('bulk', 'operations')}"), name
        )


def test_former_paths_work_as_the_first_import_of_a_program() -> None:
    statements = [f"from ararat.middleware.bindings.{module} import {name}" for module, name in PATHS]
    statements += ["from ararat.middleware.bindings import assignment", "import ararat.middleware.bindings.bulk.undo"]
    # -P: do not import from the current folder.
    for statement in (statements[0], "\n".join(reversed(statements))):
        subprocess.run([sys.executable, "-P", "-W", "error", "-c", statement], check=True, timeout=30)


def test_operations_are_listed_by_the_former_function(tmp_path: Path) -> None:
    from ararat.middleware.bindings import bulk

    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://old.example/1")
        bulk.relocation.relocate_prefix(bindings, "old.example", "new.example", actor="me")
        assert [each.action for each in bulk.operations.list_operations(bindings)] == ["relocate"]
        assert bulk.operations.list_operations(bindings) == bindings.list_operations()
