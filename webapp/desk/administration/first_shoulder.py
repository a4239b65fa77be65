"""The form for the first shoulder, for administrators: a NAAN and the beginning of its names.
It shows one example name, and the owner of the NAAN from the registry, before anything is written.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import BindingError
from ....bindings.names.policy import is_registered
from ....bindings.names.prefixes import prefixes
from ....bindings.names.prefixes.patterns import Form, Pattern
from ....identifiers import registries
from ....identifiers.ark.grammar import BETANUMERIC
from ....identifiers.registries.holder_names import HolderName
from ....identifiers.text.translatable import Translatable
from ...accounts.identify import accounts
from ...config import site_bindings
from ...management import NO_RECORD
from ...management import prefixes as prefix_records
from ...management.permissions import require_administrator
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem

_PATTERN = "29^8+check"
_SAMPLE = 123_456_789
LENGTH = 5
"""The number of characters of a NAAN."""


class FirstShoulder(NamedTuple):
    """The shoulder that a form describes: its ``prefix``, an ``example`` of a name, and the ``holder`` of the NAAN."""

    prefix: str
    example: str
    holder: str


@blueprint.get("/prefixes/first", endpoint="first_shoulder")
def form() -> str:
    """Return the HTML page with the form for the first shoulder."""
    require_administrator(caller())
    return _page({}, None)


@blueprint.post("/prefixes/first", endpoint="create_first_shoulder")
def create() -> AnyResponse:
    """Show the shoulder in the form with an example name. If it was shown before, create it and redirect."""
    require_administrator(caller())
    naan, letters = (request.form.get(name, "").strip() for name in ("naan", "letters"))
    problems: dict[str, FieldProblem] = {}
    shoulder = _read(naan.removeprefix("ark:").strip("/"), letters, problems)
    if shoulder is not None and request.form.get("shown") == shoulder.prefix:
        prefix_records.set_record(
            accounts(), caller(), shoulder.prefix, {"pattern": _PATTERN}, rule="", redirect=302, etag=NO_RECORD
        )
        messages.put(
            Translatable(
                "The shoulder %(prefix)s exists. Now mint names, record one, or upload a table.", prefix=shoulder.prefix
            )
        )
        return see_other("desk.new", many=1)
    status = HTTPStatus.OK if shoulder else HTTPStatus.UNPROCESSABLE_ENTITY
    return Response(_page(problems, shoulder), status)


def _read(naan: str, letters: str, problems: dict[str, FieldProblem]) -> FirstShoulder | None:
    """Return the shoulder of a form, or None with the problems of its fields."""
    known = site_bindings().naming
    if not naan:
        problems["naan"] = FieldProblem(
            Translatable("The NAAN is missing."), Translatable("five digits, such as 12345")
        )
    elif not is_registered(naan) and naan not in known and (len(naan) != LENGTH or set(naan) - set(BETANUMERIC)):
        message = Translatable("No registry has %(naan)s as a NAAN.", naan=naan[:40])
        problems["naan"] = FieldProblem(message, Translatable("five digits, such as 12345"))
    if not letters or len(letters) > 20 or set(letters) - set(BETANUMERIC):
        expected = Translatable("one or more consonants and then a digit, such as x5")
        problems["letters"] = FieldProblem(Translatable("This is not the beginning of names."), expected)
    if problems:
        return None
    try:
        prefix = prefixes.check_prefix(f"{naan}/{letters}", known)
    except BindingError as error:
        problems["naan"] = FieldProblem.of(error)
        return None
    if site_bindings().prefixes.get(prefix) is not None:
        message = Translatable("%(prefix)s has a record already.", prefix=prefix)
        problems["letters"] = FieldProblem(message, Translatable("another beginning"))
        return None
    pattern = Pattern(prefix, *Form(check="noid"))
    example = next(filter(None, map(pattern.name, range(_SAMPLE, _SAMPLE + 100))))
    return FirstShoulder(prefix, example, _holder(naan))


def _holder(naan: str) -> str:
    if registries.headline_of_naan(naan) is not None:
        return Translatable("%(naan)s is a NAAN for examples or tests. Use it for a trial only.", naan=naan)
    found = registries.authority(naan)
    if found is None:
        return Translatable(
            "This copy of the registry does not have %(naan)s. Compare the number with your registration.", naan=naan
        )
    return Translatable(
        "%(naan)s is the NAAN of %(holder)s.", naan=naan, holder=HolderName(found.name, found.native_name, found.where)
    )


def _page(problems: dict[str, FieldProblem], shoulder: FirstShoulder | None) -> str:
    return render_template(
        "desk/first_shoulder.html",
        values={name: request.form.get(name, "") for name in ("naan", "letters")},
        errors=problems,
        shoulder=shoulder,
    )
