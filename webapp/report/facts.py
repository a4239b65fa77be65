"""List facts about an identifier: from registries, URN namespaces, draft-kunze-ark and IRI policies.

Page and terminal show the same facts. Texts of registries are not trusted. A caller must display a :class:`Fact` like
an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...identifiers import Report

MAX_FINDINGS = 12
"""Maximum number of findings and of parent IRIs that are shown."""


_SEVERITIES = {"error": "Error", "warning": "Warning", "note": "Note"}


_WEB = {("uri-schemes", "http"), ("uri-schemes", "https")}


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, such as the label "Holder" and the text "National Library of France".

    ``identifier`` is true if the text is an identifier or a URL.
    """

    label: str
    text: str
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about an identifier from one source. ``title`` names the source, such as "NAAN 12148"."""

    title: str
    facts: tuple[Fact, ...]


def known(report: Report) -> tuple[Facts, ...]:
    """Return the facts about an identifier, grouped by source. Sources without facts are omitted.

    >>> from ararat.identifiers import examine
    >>> facts = known(examine("ark:/12148/btv1b8449691v"))[0]
    >>> facts.title, facts.facts[0].label, facts.facts[0].text[:26]
    ('NAAN 12148', 'Holder', 'National Library of France')
    """
    found = []
    # The scheme of a web address describes no identifier.
    if report.registry and (report.registry["registry"], report.registry["key"]) not in _WEB:
        found.append(Facts(_title(report.registry), tuple(_registry(report.registry))))
    if report.form == "urn" and report.parts.get("details"):
        title = f"Namespace {report.parts['nid'].lower()}"
        found.append(Facts(title, tuple(_namespace(report.parts))))
    if report.check_character:
        found.append(Facts("Check character", tuple(_check_character(report.check_character))))
    if report.kunze and report.kunze["normal_form"] != (report.normal_form or "").partition("?")[0].partition("#")[0]:
        title = f"draft-kunze-ark, revision {report.kunze['revision']}"
        found.append(Facts(title, tuple(_kunze(report.kunze))))
    if report.policy:
        title = f"Policy {report.policy['profile']}"
        found.append(Facts(title, tuple(_policy(report.policy))))
    return tuple(found)


def _title(registry: Mapping[str, Any]) -> str:
    titles = {"naan": "NAAN", "urn-namespaces": "URN namespace", "uri-schemes": "Scheme"}
    return f"{titles[registry['registry']]} {registry['key']}"


def _registry(registry: Mapping[str, Any]) -> Iterator[Fact]:
    if explanation := registry["explanation"]:
        yield Fact("Meaning", f"{explanation['text']} ({explanation['reference']})")
    if not registry["registered"]:
        yield Fact("Registered", "not in this copy of the registry")
    elif registry["registry"] == "naan":
        yield from _authority(registry)
    else:
        yield from _entry(registry)
    snapshot = registry["snapshot"]
    yield Fact("As of", f"{snapshot['date']}, {snapshot['source']}")


def _authority(registry: Mapping[str, Any]) -> Iterator[Fact]:
    holder = registry["holder"]
    others = ", ".join(filter(None, (holder["native_name"], holder["acronym"])))
    yield Fact("Holder", f"{holder['name'].strip()} ({others})" if others else holder["name"].strip())
    if shoulder := registry["shoulder"]:
        yield Fact("Shoulder", f"{shoulder['shoulder']}, {shoulder['name'].strip()}")
    if holder["since"]:
        yield Fact("Since", holder["since"])
    if holder["policy"]:
        yield Fact("Policy", " ".join(holder["policy"].values()))
    resolver = registry["resolver"]
    if resolver["address"]:
        yield Fact("Resolver", resolver["address"], identifier=True)
    elif resolver["template"]:
        yield Fact("Resolver", resolver["template"], identifier=True)
    for problem in resolver["problems"]:
        yield Fact("", problem["message"])


def _entry(registry: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Status", registry.get("kind") or registry.get("status") or "registered")
    if description := registry.get("description"):
        yield Fact("Description", description)
    for reference in registry["references"]:
        yield Fact("Reference", reference["text"])
    if registry["since"]:
        yield Fact("Since", registry["since"])


def _namespace(parts: Mapping[str, Any]) -> Iterator[Fact]:
    for label, text in parts["details"].items():
        yield Fact(label, text)
    if parts["display"] != parts["canonical"]:
        yield Fact("Display form", parts["display"], identifier=True)
    if parts["canonical"] != parts["assigned_name"]:
        yield Fact("Canonical", parts["canonical"], identifier=True)


def _check_character(check: Mapping[str, Any]) -> Iterator[Fact]:
    character, text = check["character"], check["text"]
    if not check["valid"]:
        yield Fact("Character", f"{character}, which is wrong for {text} (NOID)")
        yield Fact("", "The NAAN has names with a check character, so this one may be mistyped. Some names have none.")
        return
    covers = "the NAAN and the Name" if check["covers"] == "noid" else "the Name"
    yield Fact("Character", f"{character}, which is right for {text} (NOID, {covers})")
    yield Fact("", "One of 29 names without a check character matches by chance.")


def _kunze(form: Mapping[str, Any]) -> Iterator[Fact]:
    if form["normal_form"] is None:
        yield Fact("Normal form", f"none, because the text is not an ARK there: {form['reason']}")
        return
    yield Fact("Normal form", form["normal_form"], identifier=True)
    for rule in form["differs_by"]:
        title, reference = f"{rule['title'][0].lower()}{rule['title'][1:]}", rule["reference"]
        theirs = reference.startswith("draft-kunze-ark")
        yield Fact("Difference", f"only {'in draft-kunze-ark' if theirs else 'here'}: {title} ({reference})")


def _policy(verdict: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Result", "can be allocated" if verdict["allocatable"] else "must not be allocated")
    for found in verdict["findings"][:MAX_FINDINGS]:
        said = f"{found['message']}; expected {found['expected']} ({found['reference']}, {found['code']})"
        yield Fact(_SEVERITIES[found["severity"]], said)
    if len(verdict["findings"]) > MAX_FINDINGS:
        yield Fact("", f"and {len(verdict['findings']) - MAX_FINDINGS} more")
    yield Fact("Namespace", ", ".join(verdict["namespaces"]))
    if verdict["reserved"]:
        yield Fact("Reserved", "for the resolver of an identifier scheme")
    for parent in verdict["parents"][:MAX_FINDINGS]:
        yield Fact("Parent", parent, identifier=True)
