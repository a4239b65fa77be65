"""Each text column is declared, so that a redaction, the deletion of old copies and a copy know it."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Column, LargeBinary, MetaData, Table, Text

from ararat.bindings.storage.tables import schema
from ararat.bindings.storage.tables.retention import FILES, of_table, retention
from tests.packages import ROOT, modules

WRITES = re.compile(
    r"""TemporaryFile\(|TemporaryDirectory\(|mkstemp\(|mkdtemp\(|write_bytes\(|write_text\(|O_CREAT|create_private\("""
    r"""|replaced_file\(|\.open\("[wax]|sqlite3\.connect\("""
)


def undeclared(table: Table) -> set[str]:
    """Return the columns that can hold a text and are not declared, and declared ones that do not exist."""
    declared = of_table(table)
    names = [*declared.facts, *declared.names, *declared.of_name, *declared.of_owner, *declared.copies]
    texts = {column.name for column in table.columns if isinstance(column.type, (Text, LargeBinary))}
    assert len(names) == len({*names}), f"{table}: a column is declared twice"
    return texts ^ {*names}


@pytest.mark.parametrize("table", schema.metadata.sorted_tables, ids=str)
def test_each_text_column_is_declared(table: Table) -> None:
    assert undeclared(table) == set()
    assert table in schema.TABLES


@pytest.mark.parametrize("table", schema.TABLES, ids=str)
def test_copies_have_a_way_to_delete_them(table: Table) -> None:
    declared = of_table(table)
    assert bool(declared.copies) == (declared.redaction is not None)
    if not declared.copies:
        assert declared.old is None
        return
    # The choices of an account for its columns contain a name only if a heading does.
    assert declared.old or declared.part_of or table.name == "column_mappings"
    for name, kept in declared.copies.items():
        assert declared.redaction != "emptied" or kept or table.c[name].nullable


def test_a_new_text_column_without_a_declaration_is_found() -> None:
    table = Table("notes", MetaData(), Column("created", Text), Column("note", Text), info=retention(facts="created"))
    assert undeclared(table) == {"note"}


def test_each_module_that_writes_files_is_declared() -> None:
    found = set()
    for path in modules():
        code = re.sub(r"(?m)^ *(?:>>>|\.\.\.|#).*$", "", path.read_text("utf-8"))
        # A file in an archive and a database in memory are not on the disk.
        if WRITES.search(code.replace("archive.open(", "").replace('sqlite3.connect(":memory:"', "")):
            found.add(path.relative_to(ROOT).as_posix())
    assert found == {each.module for each in FILES}


def test_the_documentation_lists_the_files_with_texts() -> None:
    text = (ROOT / "docs" / "redaction.md").read_text("utf-8")
    missing = [each.file for each in FILES if each.way == "written" and "other modules" not in each.file]
    assert [file for file in missing if file not in text] == []
