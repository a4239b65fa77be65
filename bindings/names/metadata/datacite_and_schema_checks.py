"""Check the metadata elements ``datacite`` (a DataCite record in XML) and ``schema`` (a JSON-LD object)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn

from ....identifiers.text import xml_text
from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError

_MAX_DEPTH = 100
_DATACITE = "http://datacite.org/schema/kernel-"


def check_datacite(text: str) -> None:
    """Raise :class:`BindingError` (``metadata-document``) if the element ``datacite`` is not a DataCite record in XML.
    A document type declaration is refused, so that no external or expanding entity exists.
    """
    depth = 0

    def begin(name: str, attributes: object) -> None:
        nonlocal depth
        if depth == 0 and not (name.startswith(_DATACITE) and name.endswith(" resource")):
            message = Translatable(
                "the metadata element datacite has the root element %(root)s, not resource of %(namespace)s",
                root=validation.quote(name),
                namespace=f"{_DATACITE}4",
            )
            raise BindingError("metadata-document", message)
        depth += 1
        if depth > _MAX_DEPTH:
            message = Translatable(
                "the metadata element datacite has more than %(number)s levels of elements", number=_MAX_DEPTH
            )
            raise BindingError("metadata-document", message)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse() -> NoReturn:
        raise BindingError(
            "metadata-document", Translatable("the metadata element datacite has a document type declaration")
        )

    # The text is given in UTF-8. The encoding that its XML declaration names is ignored.
    from xml.parsers import expat  # only an XML document needs it

    parser = xml_text.parser(refuse, "utf-8")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        message = Translatable(
            "the metadata element datacite is not valid XML: %(error)s in line %(line)s, column %(column)s",
            error=expat.ErrorString(error.code),
            line=error.lineno,
            column=error.offset + 1,
        )
        raise BindingError("metadata-document", message) from None


def check_schema(text: str) -> None:
    """Raise :class:`BindingError` (``metadata-document``) if the element ``schema`` is not one JSON object."""
    try:
        read = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise BindingError(
            "metadata-document", Translatable("the metadata element schema has too many levels")
        ) from None
    except ValueError as error:
        message = Translatable("the metadata element schema is not valid JSON: %(error)s", error=str(error))
        raise BindingError("metadata-document", message) from None
    if not isinstance(read, dict):
        raise BindingError("metadata-document", Translatable("the metadata element schema is not a JSON object"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


CHECKS: Mapping[str, Callable[[str], None]] = MappingProxyType({"datacite": check_datacite, "schema": check_schema})
"""The check of each element that is a document."""
