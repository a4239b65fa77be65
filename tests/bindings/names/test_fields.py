"""Each field of a name is handled in each place, or the place is exempt from it with a reason."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from ararat.bindings.collection import Bindings
from ararat.bindings.log import sequencer
from ararat.bindings.log.redaction import redact
from ararat.bindings.names.binding import PLACE, Binding
from ararat.bindings.names.fields import FIELDS, Field, FieldArguments, Fields, differing
from ararat.bindings.storage.rows import STATE, binding_of, row_of
from ararat.bindings.storage.tables import schema
from ararat.bindings.tables import columns
from ararat.cli.bindings.names import bind_command
from ararat.middleware.views.description import Description
from ararat.webapp import create_app
from ararat.webapp.api.schemas import REQUESTS, RESPONSES
from ararat.webapp.desk.names import forms, history
from tests.packages import ROOT, modules

NOW = datetime(2026, 11, 26, tzinfo=UTC)
NAME = "ark:/12345/x-5"
BY_NAME = {field.name: field for field in FIELDS}
TEMPLATES = Path(__file__).parents[3] / "templates"

# A value of each field that is not its default, and what a binding of it needs.
VALUES: dict[str, dict[str, Any]] = {
    "kind": {"kind": "related"},
    "passthrough": {"passthrough": "given"},
    "scope": {"scope": "subtree", "kind": "served", "target": "/x"},
    "target": {"target": "https://example.org/2"},
    "status": {"status": "withdrawn"},
    "redirect": {"redirect": 307},
    "listed": {"listed": False},
    "resource": {"resource": "map 17"},
    "alternates": {"alternates": {"en": "/en"}},
    "metadata": {"metadata": {"erc.who": "Noah"}},
    "reason": {"reason": "sold", "status": "withdrawn"},
    "successor": {"successor": "ark:12345/x6", "status": "withdrawn"},
    "spelling": {"spelling": "ark:/12345/x5"},
    "created": {"created": datetime(2020, 1, 1, tzinfo=UTC)},
    "changed": {"changed": datetime(2027, 1, 1, tzinfo=UTC), "created": NOW},
    "once_public": {"once_public": "yes"},
    "hold_until": {"hold_until": datetime(2027, 3, 1, tzinfo=UTC)},
    "hold_reason": {"hold_reason": "a court order", "hold_until": datetime(2027, 3, 1, tzinfo=UTC)},
    "embargo": {"embargo": datetime(2027, 3, 1, tzinfo=UTC), "status": "reserved"},
    "numbers": {"numbers": {"current": "2024.17", "further": "B 1|B 2"}},
}


def stated(field: str) -> Fields:
    return Fields(**{"target": "https://example.org/1", **VALUES[field]}).for_name(NAME)


def bound(field: str) -> Binding:
    return stated(field).create_binding(NOW)


def base(field: str) -> Binding:
    """Return the binding of the same request without the field."""
    values = {"target": "https://example.org/1", **VALUES[field]}
    values.pop(field)
    return Fields(**{"target": "https://example.org/1", **values}).for_name(NAME).create_binding(NOW)


PLAIN = Fields(target="https://example.org/1").for_name(NAME).create_binding(NOW)


def differs(convert: Callable[[Binding], Any], field: str) -> bool:
    return convert(bound(field)) != convert(base(field))


def log_text(binding: Binding) -> str:
    row = dict(zip(STATE, row_of(binding), strict=True)) | {"id": 1, "action": "bound"}
    return sequencer.EventRow.of_row([row[name] for name in sequencer._COLUMNS]).text()


def desk_history(field: str) -> bool:
    # The settings of an application have the label of numbers.
    with create_app().app_context():
        return bool({each.field for each in history.differences(PLAIN, bound(field))} - {"Target"} or field == "target")


def cli_option(field: str) -> bool:
    names = {parameter.name for parameter in bind_command.params}
    return field in names or field.removesuffix("s") in names


def desk_form(field: str) -> bool:
    """Return whether a form of the desk sets a field."""
    form = MultiDict({"target": "/x", "kind": "served", "resource": "map 17", "redirect": "307", "subtree": "1"})
    form |= {"number": "2024.17"}
    form |= {"listed": "no", "passthrough": "given", "alternate-language": "en", "alternate-target": "/en"}
    place, problems = forms.read_target_fields(form, PLAIN)
    described, _ = forms.read_metadata(MultiDict({"m.erc.who": "Noah"}), {})
    pages = "".join((TEMPLATES / "desk" / page).read_text("utf-8") for page in ("withdraw.html", "new.html"))
    assert not problems
    return (
        getattr(place, field) not in (None, BY_NAME[field].default)
        or getattr(described, field) is not None
        or f'"{field}"' in pages
    )


PLACES: dict[str, tuple[Callable[[str], bool], dict[str, str]]] = {
    "Fields": (lambda field: field in Fields._fields, {}),
    "Binding": (lambda field: field in {each.name for each in dataclasses.fields(Binding)}, {}),
    "bind": (
        lambda field: field in FieldArguments.__annotations__ or field == "target",
        {
            "status": "bind makes a name live; reserve and withdraw are methods",
            "reason": "an argument of withdraw",
            "successor": "an argument of withdraw",
            "spelling": "it is that of the identifier",
            "created": "only imports set times",
            "changed": "only imports set times",
            "once_public": "only an undo and imports set it",
            "hold_until": "bindings.holding.hold sets it",
            "hold_reason": "bindings.holding.hold sets it",
        },
    ),
    "columns of the database": (
        lambda field: all(field in table.columns for table in (schema.bindings, schema.events)),
        {},
    ),
    "rows of the database": (lambda field: differs(row_of, field), {}),
    "columns of a table": (
        lambda field: differs(columns.cells, field) and (field in columns.COLUMNS or BY_NAME[field].type == "texts"),
        {},
    ),
    "cells that are read": (
        lambda field: columns.fields(columns.cells(bound(field))).create_binding(NOW) == bound(field),
        {},
    ),
    "JSON": (lambda field: differs(Binding.as_dict, field), {}),
    "requests of the API": (
        lambda field: (
            ("state" if field == "status" else field) in REQUESTS["Fields"]["properties"]
            or field in REQUESTS["Withdrawal"]["properties"]
        ),
        {
            "spelling": "it is that of the first request",
            "created": "only imports set times",
            "changed": "only imports set times",
            "once_public": "only an undo and imports set it",
            "hold_until": "POST /api/v1/holds sets it",
            "hold_reason": "POST /api/v1/holds sets it",
        },
    ),
    "answers of the API": (
        lambda field: ("state" if field == "status" else field) in RESPONSES["Name"]["properties"],
        {},
    ),
    "options of ararat bind": (
        cli_option,
        {
            "status": "ararat reserve and withdraw are commands",
            "reason": "an option of ararat withdraw",
            "successor": "an option of ararat withdraw",
            "spelling": "it is that of the identifier",
            "created": "only imports set times",
            "changed": "only imports set times",
            "once_public": "only an undo and imports set it",
            "hold_until": "an option of ararat hold",
            "hold_reason": "an option of ararat hold",
        },
    ),
    "forms of the desk": (
        desk_form,
        {
            "spelling": "it is that of the first form",
            "created": "only imports set times",
            "changed": "only imports set times",
            "once_public": "only an undo and imports set it",
            "hold_until": "the form of holds sets it",
            "hold_reason": "the form of holds sets it",
        },
    ),
    "history of the desk": (
        desk_history,
        {
            "status": "the action of the change names it",
            "spelling": "it never changes",
            "created": "it never changes",
            "changed": "it is the time of the change",
        },
    ),
    "differences of the command": (
        lambda field: bool(list(differing(PLAIN, bound(field)))),
        {
            "status": "the action of the change names it",
            "alternates": "each is a line of its own",
            "metadata": "each is a line of its own",
            "numbers": "each kind is a line of its own",
            "spelling": "it never changes",
            "created": "it never changes",
            "changed": "it is the time of the change",
        },
    ),
    "hash of the log": (
        lambda field: differs(log_text, field),
        {"resource": "the line thing of an entry", "changed": "the line time of an entry"},
    ),
}


def test_each_field_has_a_value_here_and_an_order_in_both_classes() -> None:
    assert list(VALUES) == [field.name for field in FIELDS]
    assert Fields._fields == (*VALUES, "key")
    assert {each.name for each in dataclasses.fields(Binding)} == {*VALUES, "identifier", "revision", "recorded"}
    assert set(PLACE) <= set(VALUES)
    assert sequencer._VALUES[-1] == "target"  # the text of the others is kept in memory


@pytest.mark.parametrize("place", PLACES)
def test_each_place_handles_each_field_or_is_exempt(place: str) -> None:
    handles, exempt = PLACES[place]
    assert exempt.keys() <= BY_NAME.keys()
    for field in BY_NAME:
        assert handles(field) is (field not in exempt), f"{place}: {field}"


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_field_is_written_and_read_again(field: Field) -> None:
    assert binding_of(row_of(bound(field.name))) == bound(field.name)


@pytest.mark.parametrize("field", [field for field in FIELDS if field.name != "status"], ids=lambda field: field.name)
def test_the_public_description_has_the_public_fields(field: Field) -> None:
    described = lambda binding: Description(  # noqa: E731
        binding, "https://example.org", binding.target, hold=binding.hold
    ).as_dict()
    assert differs(described, field.name) is field.is_public


def test_a_redaction_removes_the_fields_that_say_so(bindings: Bindings) -> None:
    if bindings.kind == "file":
        pytest.skip("a file has no log")
    wanted = ("resource", "alternates", "metadata", "redirect", "hold_reason", "numbers")
    texts = {key: value for each in wanted for key, value in VALUES[each].items()}
    bindings.bind(NAME, Fields(target="https://example.org/1", **texts))
    bindings.withdraw(NAME, reason="sold", successor="ark:12345/x6")
    before = bindings.lookup(NAME)
    redact(bindings, NAME)
    after = bindings.lookup(NAME)
    assert before
    assert after
    changed = {field.name for field in FIELDS if getattr(before, field.name) != getattr(after, field.name)}
    assert changed - {"changed"} == {field.name for field in FIELDS if field.is_redacted}


def test_the_log_writes_the_values_of_passthrough_as_it_always_did() -> None:
    texts = [
        log_text(Fields(target="https://example.org/1", passthrough=value).for_name(NAME).create_binding(NOW))
        for value in ("no", "normal", "given")
    ]
    assert [text.partition("passthrough ")[2][:7].split("\n")[:2] for text in texts] == [
        ["1", "0"],
        ["1", "1"],
        ["5", "given"],
    ]


def test_a_later_field_is_hashed_only_if_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before = log_text(PLAIN)
    # Let redirect be a field that was added later.
    monkeypatch.setitem(sequencer._LEFT_OUT, "redirect", 302)
    sequencer._text_before_target.cache_clear()
    assert log_text(PLAIN) == before.replace("redirect 3\n302\n", "")
    assert "redirect 3\n307\n" in log_text(bound("redirect"))
    sequencer._text_before_target.cache_clear()


def test_few_modules_spell_the_fields_out() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in modules()
        if all(re.search(rf"\b{word}\b", path.read_text("utf-8")) for word in ("passthrough", "alternates", "scope"))
    ]
    assert len(found) <= 15, found
