"""The part that all descriptions share: their formats and links for programs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from functools import cached_property
from importlib import import_module
from typing import Any

from ..resolution.description_formats import FORMATS, Format
from .formats import datacite, schema_org
from .formats.reference import Reference
from .presentation import PLAIN, Presentation
from .signposting import Signposts


class Formatted(ABC):
    """The base class of the description of a name, or of a NAAN or shoulder, in several formats. A subclass defines
    ``reference``, ``signposts``, ``as_dict``, ``as_html`` and ``as_text``; the other formats come from these.
    """

    @cached_property
    @abstractmethod
    def reference(self) -> Reference:
        """The bibliographic reference, from which the citation formats are made."""

    @property
    @abstractmethod
    def signposts(self) -> Signposts:
        """The links from the description to related resources, for programs (FAIR Signposting)."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]: ...

    @abstractmethod
    def as_html(self, site: Presentation = PLAIN) -> bytes: ...

    @abstractmethod
    def as_text(self) -> bytes: ...

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        """The formats of this description, the default first: all, or all but DataCite without enough metadata."""
        missing = set() if datacite.is_known(self.reference) else {"datacite-json"}
        if missing and not datacite.has_document(self.reference):
            missing.add("datacite-xml")
        return tuple(form for form in FORMATS if form.name not in missing) if missing else FORMATS

    @property
    def json_ld(self) -> str:
        """The JSON-LD object for an element ``script`` of the page. No character of it can end the element."""
        return schema_org.as_script(self.reference)

    def as_json(self) -> bytes:
        return json.dumps(self.as_dict(), indent=1).encode() + b"\n"

    def in_format(self, form: Format) -> bytes:
        """Return the description in one of :attr:`formats`, in UTF-8. The page is in English and without a branding."""
        if form.serializer is not None:
            module, _, function = form.serializer.partition(".")
            text: str = getattr(import_module(f".formats.{module}", __package__), function)(self.reference)
            # A surrogate, which has no UTF-8 encoding, becomes "?". Only a recorded document can contain one.
            return text.encode("utf-8", "replace")
        match form.name:
            case "html":
                return self.as_html()
            case "json":
                return self.as_json()
            case "erc":
                return self.as_text()
            case "linkset":
                return self.signposts.as_linkset()
            case _:
                raise ValueError(f"the format {form.name} has no serializer")
