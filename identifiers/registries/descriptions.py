"""Describe the registration of an identifier, NAAN, URN namespace or URI scheme in JSON values, for reports and pages.

Each description has the ``registry``, the registered name as ``key``, whether it is ``registered``, and the date and
source of the table (``snapshot``). Its ``explanation`` is about a special name such as NAAN 99999, or None.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from ..ark import embedded
from ..ark.grammar import BASE29
from ..ark.model import Ark
from ..text.translatable import Translatable
from ..urn.model import Urn
from . import target_templates
from .lookup import BUNDLED, authority, current, namespace, scheme
from .tables import NAANS, NAMESPACES, SCHEMES, Authority, RegisteredNamespace, Registry, Scheme, TableOrigin
from .target_templates import TemplateParts

POLICIES = {
    "NR": Translatable("A name is never reassigned to another thing."),
    "OP": Translatable("Names are opaque."),
    "CC": Translatable("Names have a check character."),
    # The registry does not define these codes. The meanings are guessed from the letters.
    "LC": Translatable("Letters in names are lower case."),
    "UC": Translatable("Letters in names are upper case."),
    "MC": Translatable("Letters in names are of either case."),
}
"""The promises of the holder of a NAAN about its names, by code. The codes are in the field ``how`` of the registry."""

HAS_CHECK_CHARACTER = "CC"
"""The code of :data:`POLICIES` for names with a check character."""

ORGANIZATIONS = {"NP": Translatable("non-profit"), "FP": Translatable("for-profit")}
"""The kinds of organizations that hold NAANs, by code."""

_QUICK_TEST = re.compile(f"ark:99999/9([{BASE29}]{{5}})_")
_MAX_SCHEME = 64
_SCHEME = re.compile(f"({embedded.SCHEME}):")
_ADDRESS = re.compile("https?://[!-~]+")
_NAMED = re.compile("(.*) <(https?://[!-~]+)>")
_DOCUMENTS = {
    "RFC Errata ": "https://www.rfc-editor.org/errata/eid",
    "RFC": "https://www.rfc-editor.org/rfc/rfc",
    "draft-": "https://datatracker.ietf.org/doc/draft-",
    "IANA registry ": "https://www.iana.org/assignments/",
}


def of_ark(ark: Ark) -> dict[str, Any]:
    """Describe the registration of the NAAN and shoulder of an ARK in JSON values. The keys are ``registry``, ``key``
    (the NAAN), ``registered``, ``snapshot``, ``explanation``, ``holder``, ``shoulder`` and ``resolver``. ``holder`` and
    ``shoulder`` are None if they are not registered. ``resolver`` has the template, its HTTP status, and the address of
    this ARK, or the problems that prevent one.

    >>> from ararat.identifiers.ark import parser as ark
    >>> of_ark(ark.parse("ark:12148/bpt6-k1"))["resolver"]["address"]
    'https://ark.bnf.fr/ark:/12148/bpt6-k1'
    """
    return of_template_parts(ark.normal_naan, TemplateParts.of(ark))


def of_template_parts(key: str, parts: TemplateParts) -> dict[str, Any]:
    """Describe the registration of the NAAN ``key`` and of a shoulder, like :func:`of_ark`. The parts are those of a
    text that begins like an ARK. The rest of the text need not be valid.
    """
    holder = authority(key)
    shoulder = current().shoulder(parts.key) if holder else None
    explanation = _explanation(NAANS, key)
    if (tested := holder_of_test(f"ark:{parts.key}")) is not None:
        text = Translatable(
            "A quick test ARK, which arks.org sets aside for NAAN %(naan)s: %(holder)s. N2T forwards it to the "
            "resolver of that NAAN. It must not be bound.",
            naan=tested.key,
            holder=tested.name,
        )
        explanation = {**explanation, "text": text, "reference": "arks.org"}
    return {
        **_answer(NAANS, key, holder is not None, explanation),
        "holder": holder and _holder(holder),
        "shoulder": shoulder and {"shoulder": shoulder.key.partition("/")[2], **_names(shoulder)},
        "resolver": _resolver(shoulder or holder, parts, resolved=explanation.get("resolved", True)),
    }


def of_naan(naan: str) -> dict[str, Any]:
    """Describe the registration of a NAAN in normal form, like :func:`of_ark`, with two differences. ``resolver`` has
    the prefix of the template instead of an address. ``shoulders`` lists all registered ones with their resolvers.

    >>> naan = of_naan("99152")
    >>> naan["registered"], naan["shoulders"][0]["shoulder"], naan["shoulders"][0]["resolver"]["prefix"]
    (True, 'b4', 'https://id.cci.drexel.edu')
    """
    holder = authority(naan)
    below = current().shoulders.get(naan, ()) if holder else ()
    return {
        **_answer(NAANS, naan, holder is not None, _explanation(NAANS, naan)),
        "holder": holder and _holder(holder),
        "resolver": _describe_template(holder),
        "shoulders": [
            {"shoulder": each.key.partition("/")[2], **_names(each), "resolver": _describe_template(each)}
            for each in below
        ],
    }


def headline_of_naan(naan: str) -> str | None:
    """Return a phrase about the ARKs of a special NAAN, such as the one for tests, or None for other NAANs.

    >>> headline_of_naan("99999"), headline_of_naan("12148")
    ('An ARK for tests, which leads nowhere', None)
    """
    return _explanation(NAANS, naan).get("headline")


def holder_of_test(normal_form: str) -> Authority | None:
    """Return the organization whose quick test ARK this is, or None. arks.org sets the names 9NNNNN_... below NAAN
    99999 aside for tests of the holder of NNNNN.

    >>> holder_of_test("ark:99999/912148_testxyz").key, holder_of_test("ark:99999/fk4x")
    ('12148', None)
    """
    matched = _QUICK_TEST.match(normal_form)
    return authority(matched[1]) if matched else None


def of_urn(urn: Urn) -> dict[str, Any]:
    """Describe the registration of the namespace of a URN in JSON values. Besides ``registry``, ``key`` (the NID),
    ``registered``, ``snapshot`` and ``explanation``, it has ``since`` and ``updated``. ``kind`` is "formal", "informal"
    or None. ``references`` have text and URL each, and ``template`` is the address of the registration.

    >>> from ararat.identifiers.urn import parser as urn
    >>> description = of_urn(urn.parse("urn:ISBN:0451450523"))
    >>> description["key"], description["kind"], description["references"][0]["url"]
    ('isbn', 'formal', 'https://www.isbn-international.org')
    """
    return of_namespace(urn.nid)


def of_namespace(nid: str) -> dict[str, Any]:
    """Describe the registration of a URN namespace, in any case of its letters, like :func:`of_urn`."""
    key = nid.lower()
    record = namespace(key)
    return {
        **_answer(NAMESPACES, key, record is not None, _explanation(NAMESPACES, key)),
        "kind": record and record.kind,
        **_registration(record),
    }


def of_scheme(text: str) -> dict[str, Any] | None:
    """Describe the URI scheme at the start of ``text``, or return None without one. The result is like that of
    :func:`of_urn`, but with ``name``, ``status``, ``description`` and ``notes`` instead of ``kind``.

    >>> description = of_scheme("doi:10.1000/182")
    >>> description["key"], description["status"], description["registered"], of_scheme("no scheme")
    ('doi', 'permanent', True, None)
    """
    written = _SCHEME.match(text)
    if written is None or len(written[1]) > _MAX_SCHEME:
        return None
    return of_scheme_name(written[1])


def of_scheme_name(name: str) -> dict[str, Any]:
    """Describe the registration of a URI scheme, without its colon, like :func:`of_scheme`."""
    key = name.lower()
    record = scheme(key)
    return {
        **_answer(SCHEMES, key, record is not None, _explanation(SCHEMES, key)),
        "name": record and (record.name or record.key),
        "status": record and record.status,
        "description": record and record.description,
        "notes": record and record.notes,
        **_registration(record),
    }


def _answer(registry: Registry[Any], key: str, registered: bool, explanation: Mapping[str, Any]) -> dict[str, Any]:
    snapshot: TableOrigin = current().table(registry).snapshot
    return {
        "registry": registry.name,
        "key": key,
        "registered": registered,
        "snapshot": snapshot.as_dict(),
        "explanation": {name: explanation[name] for name in ("text", "reference")} if explanation else None,
    }


def _names(holder: Authority) -> dict[str, Any]:
    return {name: getattr(holder, name) for name in ("name", "native_name", "acronym", "since", "where")}


def _holder(holder: Authority) -> dict[str, Any]:
    return {
        **_names(holder),
        "organization": ORGANIZATIONS.get(holder.organization or ""),
        "policy": {code: POLICIES.get(code) for code in holder.policy},
        "policy_url": holder.policy_url,
    }


def _resolver(matched: Authority | None, parts: TemplateParts, *, resolved: bool) -> dict[str, Any] | None:
    if matched is None or matched.template is None:
        return None
    template = target_templates.read(matched.template)
    address, problems = template.expand(parts, matched.key.partition("/")[2])
    if not resolved:
        address, problems = None, ("reserved-naan",)
    return {
        "template": matched.template,
        "status": matched.status,
        "address": address,
        "problems": [{"code": code, "message": target_templates.FLAWS[code]} for code in problems],
    }


def _describe_template(holder: Authority | None) -> dict[str, Any] | None:
    if holder is None or holder.template is None:
        return None
    template = target_templates.read(holder.template)
    return {
        "template": holder.template,
        "status": holder.status,
        "prefix": template.prefix,
        "problems": [{"code": code, "message": target_templates.FLAWS[code]} for code in template.flaws],
    }


def _registration(record: RegisteredNamespace | Scheme | None) -> dict[str, Any]:
    return {
        "references": [_reference(text) for text in record.references] if record else [],
        "template": record and record.template,
        "since": record and record.since,
        "updated": record and record.updated,
    }


def _reference(text: str) -> dict[str, str | None]:
    """Return a reference as text and, if known, URL."""
    if named := _NAMED.fullmatch(text):
        return {"text": named[1], "url": named[2]}
    for start, address in _DOCUMENTS.items():
        if text.startswith(start):
            number = text.removeprefix(start)
            return {"text": f"RFC {number}" if start == "RFC" else text, "url": address + number}
    return {"text": text, "url": text if _ADDRESS.fullmatch(text) else None}


def _explanation(registry: Registry[Any], key: str) -> Mapping[str, Any]:
    return _explanations()[registry.name].get(key, {})


@functools.cache
def _explanations() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = json.loads((BUNDLED / "explanations.json").read_text("utf-8"))
    for table in found.values():
        for entry in table.values():
            entry |= {name: Translatable.literal(entry[name]) for name in ("text", "headline") if name in entry}
    return found
