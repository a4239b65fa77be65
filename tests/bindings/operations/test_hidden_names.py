"""The undo of a publication: the name is hidden, and the fact that it was public stays (decision I-08)."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from ararat.bindings.checks.name_findings import check
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingConflict, BindingsUnavailable
from ararat.bindings.operations.undo import undo_change, undo_operation
from ararat.middleware import ResolverMiddleware, import_table, mint

NAME = "ark:12345/r1"
CLOSED = {"what": "Estate (closed until 2040)"}


def found(bindings: Bindings) -> Binding:
    binding = bindings.lookup(NAME)
    assert binding is not None
    return binding


def publish_by_import(bindings: Bindings) -> int:
    table = io.BytesIO(f"identifier,target,who,status\n{NAME},/1,Noah,live\n".encode())
    number = import_table(bindings, table).operation
    assert number is not None
    return number


UNDO: list[Any] = [
    pytest.param(lambda b: undo_operation(b, publish_by_import(b)), id="operation"),
    pytest.param(lambda b: (b.bind(NAME, "/1", metadata={"who": "Noah"}), undo_change(b, NAME))[1], id="change"),
]


@pytest.mark.one_setup
@pytest.mark.parametrize("publish_and_undo", UNDO)
def test_the_undo_of_a_publication_gives_back_all_fields(
    bindings: Bindings, publish_and_undo: Callable[[Bindings], Any]
) -> None:
    bindings.reserve(NAME, metadata=CLOSED)
    before = found(bindings)
    assert publish_and_undo(bindings).counts == {"hidden": 1}
    after = found(bindings)
    assert (after.status, after.kind, after.target, after.metadata) == ("reserved", "described", None, before.metadata)
    assert (after.is_hidden, after.as_dict()["once_public"]) == (True, "yes")
    assert [event.action for event in bindings.history(NAME)][-1] == "hidden"
    assert list(check(bindings)) == []
    assert list(verify(bindings)) == []


@pytest.fixture
def hidden(bindings: Bindings) -> Bindings:
    bindings.reserve(NAME, metadata=CLOSED)
    undo_operation(bindings, publish_by_import(bindings))
    return bindings


def test_a_hidden_name_is_neither_deleted_nor_minted_again(hidden: Bindings) -> None:
    with pytest.raises(BindingConflict) as refused:
        hidden.delete(NAME)
    assert refused.value.code == "delete-public"
    assert NAME not in mint(hidden, "12345/r", length=1, digits=True, count=9)


def test_a_hidden_name_can_be_changed_and_published_again_and_stays_a_public_name(hidden: Bindings) -> None:
    assert hidden.reserve(NAME, metadata={"what": "Corrected"}) == "updated"
    assert hidden.bind("ark:/12345/r-1", "/2", resource="R1") == "bound"
    again = found(hidden)
    assert (again.status, again.spelling, again.once_public) == ("live", NAME, "yes")
    assert undo_change(hidden, NAME).counts == {"hidden": 1}
    assert found(hidden).resource == "R1"
    with pytest.raises(BindingConflict):
        hidden.bind(NAME, "/3", resource="R2")
    with pytest.raises(BindingConflict):
        hidden.reserve(NAME, resource="R2")


def test_the_undo_of_the_undo_publishes_the_name_again(hidden: Bindings) -> None:
    number = hidden.list_operations()[0].number
    assert undo_operation(hidden, number, dry_run=True).counts == {"published": 1}
    undo_operation(hidden, number)
    assert (found(hidden).status, found(hidden).target, found(hidden).once_public) == ("live", "/1", "yes")
    assert undo_operation(hidden, 1).counts == {"hidden": 1}
    assert list(verify(hidden)) == []


@pytest.mark.one_setup
@pytest.mark.parametrize("path", [f"/{NAME}", f"/{NAME}?info", f"/{NAME}??", f"/{NAME}/p1", f"/{NAME}.pdf"])
def test_a_hidden_name_answers_410_without_metadata(hidden: Bindings, path: str) -> None:
    hidden.rules.set("ark:12345/r", "https://rule.example/${value}")
    client = Client(ResolverMiddleware(NotFound(), hidden, prefix="https://example.org"))
    answer = client.get(path)
    assert answer.status_code == 410
    assert "Estate" not in answer.text
    assert "Noah" not in answer.text


def test_feeds_tell_that_a_hidden_name_is_gone(hidden: Bindings) -> None:
    client = Client(
        ResolverMiddleware(NotFound(), hidden, prefix="https://example.org", oai="/oai", atom="/changes.atom")
    )
    records = client.get("/oai?verb=ListRecords&metadataPrefix=oai_dc").text
    assert f'<header status="deleted"><identifier>{NAME}' in records.replace("\n", "").replace("> <", "><")
    feed = client.get("/changes.atom").text
    assert 'term="hidden"' in feed
    assert "Estate" not in records + feed


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("DELETE FROM bindings", id="delete"),
        pytest.param("UPDATE bindings SET once_public = NULL, revision = revision + 1", id="forget"),
        pytest.param("UPDATE bindings SET created = '2000', revision = revision + 1", id="redate"),
    ],
)
def test_other_programs_cannot_remove_the_fact_that_a_name_was_public(hidden: Bindings, statement: str) -> None:
    with pytest.raises(BindingsUnavailable), hidden.transaction() as transaction:
        transaction.connection.execute(text(statement))


def test_other_programs_cannot_reserve_a_public_name_as_if_it_was_not(bindings: Bindings) -> None:
    bindings.bind(NAME, "/1")
    with pytest.raises(BindingsUnavailable), bindings.transaction() as transaction:
        transaction.connection.execute(text("UPDATE bindings SET status = 'reserved', revision = revision + 1"))


def test_a_reservation_that_an_import_made_is_not_deleted_after_a_publication(bindings: Bindings) -> None:
    number = import_table(bindings, io.BytesIO(f"identifier,status\n{NAME},reserved\n".encode())).operation
    assert number is not None
    bindings.bind(NAME, "/1")
    undo_change(bindings, NAME)
    result = undo_operation(bindings, number)
    assert [noted.code for noted in result.left_alone] == ["delete-public"]
    assert found(bindings).is_hidden


def test_a_table_keeps_the_fact_that_a_name_was_public(
    hidden: Bindings, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    export_table(hidden, file := io.BytesIO())
    other = open_store(f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert import_table(other, io.BytesIO(file.getvalue())).refused == []
    assert found(other).is_hidden
