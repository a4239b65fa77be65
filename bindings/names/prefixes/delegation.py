"""The delegation of a NAAN or shoulder to another resolver, and its earlier institutions. An unbound name below a
delegated prefix leads to the address of the other resolver, in the spelling of the request and with its query. The
address is a beginning such as ``https://lower.example``, a template with one variable (:mod:`.rule_templates`), or only
a page for people, if the network is closed to clients outside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from ....identifiers.text import iri
from ....identifiers.text.translatable import Translatable
from .. import targets, validation
from ..errors import BindingError

MAX_ADDRESS = 2000
"""The maximum length of an address in characters."""

MAX_PREDECESSORS = 100
"""The maximum number of earlier institutions of a prefix."""

_MAX_LINEAGE = 100_000


class Predecessor(NamedTuple):
    """An institution that was responsible for a prefix until its last day, such as "2026-11-26", with its contact."""

    who: str | None
    contact: str | None
    until: str

    def as_dict(self) -> dict[str, str | None]:
        """Return the institution as a JSON object with the fields of this class."""
        return self._asdict()


def read_lineage(text: str | None) -> list[Predecessor]:
    """Return the earlier institutions of a prefix from the recorded JSON, the first one first.

    >>> read_lineage('[{"who": "Old Library", "contact": null, "until": "2026-11-26"}]')
    [Predecessor(who='Old Library', contact=None, until='2026-11-26')]
    """
    return [Predecessor(**each) for each in json.loads(text)] if text else []


def write_lineage(predecessors: list[Predecessor]) -> str:
    """Return the earlier institutions of a prefix as the JSON text of its record."""
    return json.dumps([each.as_dict() for each in predecessors], ensure_ascii=False)


def check_state(text: str) -> str:
    """Return the state of a prefix in stored form: "delegated", "retired", or "" for "active". Raises
    :class:`BindingError` with the code ``prefix-state``.
    """
    if text not in ("active", "delegated", "retired"):
        raise BindingError("prefix-state", Translatable("there is no state %(text)s", text=validation.quote(text)))
    return "" if text == "active" else text


def check_resolver(text: str) -> str:
    """Return the http(s) URL or template of the resolver of a delegated prefix in stored form. Raises
    :class:`BindingError` (``prefix-address``, ``rule-template``).

    >>> check_resolver("https://lower.example/"), check_resolver("https://lower.example/?id=${pid:given}")
    ('https://lower.example', 'https://lower.example/?id=${pid:given}')
    """
    if "$" in text:
        from .rule_templates import check_template  # it loads the registries

        template = check_template(text)
        if template.startswith("/"):
            raise BindingError("prefix-address", Translatable("the address of the resolver is a path of this site"))
        return template
    address = check_address(text)
    if "?" in address or "#" in address:
        raise BindingError(
            "prefix-address",
            Translatable("%(text)s has a query or fragment, and no variable in it", text=validation.quote(text)),
        )
    return address.rstrip("/")


def check_address(text: str) -> str:
    """Return the address of a page or service of a prefix in stored form. Raises :class:`BindingError`
    (``prefix-address``).
    """
    validation.check(text, "prefix-address", Translatable("Address"), MAX_ADDRESS)
    try:
        address = targets.check(text, "located")
    except BindingError as error:
        raise BindingError("prefix-address", error.message) from None
    if address is None or not address.startswith("http"):
        raise BindingError(
            "prefix-address", Translatable("%(text)s is not an http or https address", text=validation.quote(text))
        )
    return address


def check_lineage(text: str) -> str:
    """Return the JSON of the earlier institutions in a table. Raises :class:`BindingError` (``prefix-lineage``)."""
    validation.check(text, "prefix-lineage", Translatable("Lineage"), _MAX_LINEAGE)
    try:
        items = json.loads(text)
        predecessors = [Predecessor(**each) for each in items]
    except (ValueError, TypeError, RecursionError):
        predecessors = None
    if (
        not isinstance(predecessors, list)
        or not 0 < len(predecessors) <= MAX_PREDECESSORS
        or not all(map(_is_text, predecessors))
    ):
        raise BindingError(
            "prefix-lineage", Translatable("%(shown)s is not a list of institutions", shown=validation.quote(text, 100))
        )
    return write_lineage(predecessors)


def _is_text(predecessor: Predecessor) -> bool:
    others = all(each is None or (isinstance(each, str) and 0 < len(each) <= 4000) for each in predecessor[:2])
    return others and isinstance(predecessor.until, str) and len(predecessor.until) == len("2026-11-26")


def complete(prefix: str, before: Mapping[Any, str], after: dict[Any, str], changes: Mapping[Any, str]) -> None:
    """Check the delegation in the texts ``after`` of a prefix record, with the texts ``before`` and the requested
    ``changes``. Of an active prefix, ``resolver`` and ``minter`` are deleted from ``after`` in place. Raises
    :class:`BindingError` (``prefix-retired``, ``prefix-delegation``).
    """
    state = after.get("state", "active")
    if before.get("state") == "retired" and state != "retired":
        raise BindingError("prefix-retired", Translatable("%(prefix)s is retired, and stays retired", prefix=prefix))
    if state == "active":
        for field in ("resolver", "minter"):
            if changes.get(field):
                raise BindingError(
                    "prefix-delegation",
                    Translatable("%(prefix)s is active, so it has no %(field)s elsewhere", prefix=prefix, field=field),
                )
            after.pop(field, None)
    elif state == "delegated" and not (after.get("resolver") or after.get("about")):
        raise BindingError(
            "prefix-delegation",
            Translatable("%(prefix)s would be delegated, but no resolver or page has its names", prefix=prefix),
        )


def _spell(core: str, key: str) -> str:
    """Return a name as received, but with its label in lower case and no hyphens in its NAAN (R-06)."""
    if key.startswith("urn:"):
        return f"urn:{core[4:]}"
    label = "ark:/" if core[4:5] == "/" else "ark:"
    naan = key[4:].partition("/")[0]
    return f"{label}{naan}/{core[len(label) :].partition('/')[2]}"


def address_elsewhere(resolver: str, prefix: str, key: str, given: str) -> str | None:
    """Return the address of a name at the resolver of its delegated prefix, or None if it is invalid. ``resolver`` is
    an address or a template, and ``given`` the name as received, with its query.

    >>> address_elsewhere("https://lower.example", "ark:12345/x5", "ark:12345/x5ab", "ark:/12345/x5-ab?info")
    'https://lower.example/ark:/12345/x5-ab?info'
    >>> address_elsewhere("https://lower.example", "ark:12345/x5", "ark:12345/x5ab", "ARK:12-345/x5-ab")
    'https://lower.example/ark:12345/x5-ab'
    """
    core, mark, query = given.partition("?")
    core = _spell(core, key)
    if "$" not in resolver:
        # A server can pass on characters that no address has, such as a quotation mark.
        address: str | None = f"{resolver}/{quote(core, safe=targets.AS_IT_IS)}"
    else:
        from .rule_templates import expand  # it loads the registries

        address = expand(resolver, key, prefix, core)
    if address is None or iri.has_dot_segment(address.partition("#")[0].partition("?")[0]):
        return None
    try:
        return targets.check(targets.with_query(address, query if mark else None), "located")
    except BindingError:
        return None
