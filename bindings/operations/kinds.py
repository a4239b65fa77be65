"""The kinds of operations on selected names. Each is one declaration (:class:`~..names.operation.OperationKind`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...identifiers.text.translatable import Translatable
from ..names.errors import BindingError
from ..names.fields import MAX_REASON, Fields
from ..names.naming import MAX_CHARACTERS
from ..names.operation import FormField, OperationKind, declare
from . import edits
from .relocation import Rewriting
from .undo import undo_plan

_EMBARGO = "embargo"


def _text(limit: int, about: str) -> Mapping[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": limit, "description": about}


def _fields_to_edit(arguments: Mapping[str, Any]) -> Fields:
    fields: dict[str, Any] = {name: "" if value is None else value for name, value in arguments["fields"].items()}
    return Fields(**fields)


def _edit_of_form(values: Mapping[str, str]) -> Mapping[str, Any]:
    field, value = values["element"], values["value"]
    return {"fields": {field: value} if field == _EMBARGO else {"metadata": {field: value}}}


def _field_of_move(error: BindingError, values: Mapping[str, str]) -> str:
    try:
        # An address fits to each right beginning.
        Rewriting.of(values["source"], "https://new.example/")
    except BindingError:
        return "source"
    return "to"


def _edit_heading(number: int | None) -> str:
    if number is None:
        return Translatable("Edit metadata: all names of the list")
    return Translatable.counted("Edit metadata: %(number)s name", "Edit metadata: %(number)s names", number)


def _move_heading(number: int | None) -> str:
    if number is None:
        return Translatable("Move targets: all names of the list")
    return Translatable.counted("Move targets: %(number)s name", "Move targets: %(number)s names", number)


def _withdraw_heading(number: int | None) -> str:
    if number is None:
        return Translatable("Withdraw: all names of the list")
    return Translatable.counted("Withdraw: %(number)s name", "Withdraw: %(number)s names", number)


def _hold_heading(number: int | None) -> str:
    if number is None:
        return Translatable("Put on hold: all names of the list")
    return Translatable.counted("Put on hold: %(number)s name", "Put on hold: %(number)s names", number)


for _kind in (
    OperationKind(
        name="edit",
        audit="edit-names",
        label=lambda number: Translatable("Operation %(operation)s: edit", operation=number),
        title=Translatable("Edit names"),
        plan=lambda arguments: edits.edit(_fields_to_edit(arguments)),
        body={"fields": edits.EDITED},
        required=("fields",),
        rights=(),
        sets=lambda arguments: [*arguments["fields"]],
        button=Translatable("Edit metadata"),
        form=(
            FormField("element", Translatable("Field"), choices="elements"),
            FormField(
                "value",
                Translatable("New value"),
                Translatable("Each name gets this value. An empty value deletes the field."),
            ),
        ),
        heading=_edit_heading,
        read_form=_edit_of_form,
        field_of=lambda error, values: "value",
    ),
    OperationKind(
        name="publish",
        audit="publish-names",
        label=lambda number: Translatable("Operation %(operation)s: publish", operation=number),
        title=Translatable("Publish names"),
        plan=lambda arguments: edits.publish(),
        body={},
        rights=("bind",),
        button=Translatable("Publish"),
        is_for_reserved=True,
    ),
    OperationKind(
        name="move",
        action="relocate",
        audit="relocate-prefix",
        label=lambda number: Translatable("Operation %(operation)s: relocate", operation=number),
        title=Translatable("Move targets"),
        plan=lambda arguments: edits.move(arguments["from"], arguments["to"]),
        body={
            "from": _text(401, "the old beginning of the targets, or a host"),
            "to": _text(401, "the new beginning of the targets"),
        },
        required=("from", "to"),
        rights=("relocate",),
        button=Translatable("Move targets"),
        form=(
            FormField(
                "source",
                Translatable("Old beginning"),
                Translatable("The beginning of the targets, or a host, such as https://old.example/items/."),
                is_code=True,
            ),
            FormField(
                "to",
                Translatable("New beginning"),
                Translatable("It replaces the old beginning. The rest of each target stays."),
                is_code=True,
            ),
        ),
        heading=_move_heading,
        read_form=lambda values: {"from": values["source"], "to": values["to"]},
        field_of=_field_of_move,
    ),
    OperationKind(
        name="delete",
        audit="delete-names",
        label=lambda number: Translatable("Operation %(operation)s: delete", operation=number),
        title=Translatable("Delete reserved names"),
        plan=lambda arguments: edits.delete(),
        body={},
        rights=("withdraw",),
        button=Translatable("Delete reserved"),
        is_final=True,
        is_for_reserved=True,
    ),
    OperationKind(
        name="withdraw",
        audit="withdraw-names",
        label=lambda number: Translatable("Operation %(operation)s: withdraw", operation=number),
        title=Translatable("Withdraw names"),
        plan=lambda arguments: edits.withdraw(arguments.get("reason"), arguments.get("successor")),
        body={
            "reason": _text(MAX_CHARACTERS, "the reason, which visitors read"),
            "successor": _text(MAX_CHARACTERS, "the name or URL that replaces the names"),
        },
        rights=("withdraw",),
        button=Translatable("Withdraw"),
        is_final=True,
        form=(
            FormField(
                "reason", Translatable("Reason"), Translatable("Optional. The public page of each name shows it.")
            ),
            FormField(
                "successor",
                Translatable("Successor"),
                Translatable("Optional. The ARK, URN or URL that replaces these names."),
                is_code=True,
            ),
        ),
        heading=_withdraw_heading,
        read_form=lambda values: {name: values[name] or None for name in ("reason", "successor")},
        field_of=lambda error, values: "successor" if error.field == "successor" else "reason",
    ),
    OperationKind(
        name="restore",
        audit="restore-names",
        label=lambda number: Translatable("Operation %(operation)s: restore", operation=number),
        title=Translatable("Restore names"),
        plan=lambda arguments: edits.restore(),
        body={},
        rights=("withdraw",),
    ),
    OperationKind(
        name="hold",
        audit="hold-names",
        label=lambda number: Translatable("Operation %(operation)s: hold", operation=number),
        title=Translatable("Put names on hold"),
        plan=lambda arguments: edits.hold(arguments["until"], arguments["reason"]),
        body={
            "until": _text(40, "the last day of the hold in UTC, or its end in RFC 3339; at most a year ahead"),
            "reason": _text(MAX_REASON, "the reason, which visitors read"),
        },
        required=("until", "reason"),
        rights=("withdraw",),
        button=Translatable("Put on hold"),
        form=(
            FormField(
                "until", Translatable("Last day of the hold"), Translatable("At most a year from now."), choices="day"
            ),
            FormField("reason", Translatable("Reason"), Translatable("Visitors read this text.")),
        ),
        heading=_hold_heading,
        read_form=lambda values: {"until": values["until"], "reason": values["reason"]},
        field_of=lambda error, values: "until" if error.code == "hold-until" else "reason",
    ),
    OperationKind(
        name="release",
        audit="release-names",
        label=lambda number: Translatable("Operation %(operation)s: release", operation=number),
        title=Translatable("Release names"),
        plan=lambda arguments: edits.release(),
        body={},
        rights=("withdraw",),
        button=Translatable("Release"),
    ),
    OperationKind(
        name="undo",
        audit="undo",
        label=lambda number: Translatable("Operation %(operation)s: undo", operation=number),
        title=Translatable("Undo an operation"),
        plan=lambda arguments: undo_plan(arguments["operation"]),
        body={"operation": {"type": "integer", "minimum": 1, "description": "the number of the operation to undo"}},
        required=("operation",),
        is_for_names=False,
        rights=(),
    ),
):
    declare(_kind)
