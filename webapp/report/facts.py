"""What registries, namespaces and the other draft say of an identifier, in the same words for page and terminal.

The texts of a registry are strangers' words: what shows a :class:`Fact` treats them as it treats an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...identifiers import Report

MOST_FINDINGS = 12
"""Findings of a policy, and more general IRIs, that are shown of one IRI."""


_SEVERITIES = {"error": "Error", "warning": "Warning", "note": "Note"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known. ``identifier`` is whether the text is an identifier or address, not a sentence."""

    label: str
    text: str
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What one source knows, under a title ("NAAN 12148")."""

    title: str
    facts: tuple[Fact, ...]


def known(report: Report) -> tuple[Facts, ...]:
    """What is known of the identifier, source by source; what nothing is known of is left out.

    >>> from ararat.identifiers import examine
    >>> facts = known(examine("ark:/12148/btv1b8449691v"))[0]
    >>> facts.title, facts.facts[0].label, facts.facts[0].text[:26]
    ('NAAN 12148', 'Holder', 'National Library of France')
    """
    found = []
    if report.registry:
        found.append(Facts(_title(report.registry), tuple(_registry(report.registry))))
    if report.form == "urn" and report.parts.get("details"):
        title = f"In the namespace {report.parts['nid'].lower()}"
        found.append(Facts(title, tuple(_namespace(report.parts))))
    if report.kunze:
        found.append(Facts("By draft-kunze-ark", tuple(_kunze(report.kunze))))
    if report.policy:
        title = f"By the policy {report.policy['profile']}"
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
        yield Fact("Its resolver", resolver["address"], identifier=True)
    elif resolver["template"]:
        yield Fact("Its resolver", resolver["template"], identifier=True)
    for problem in resolver["problems"]:
        yield Fact("", problem["message"])


def _entry(registry: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Status", registry.get("kind") or registry.get("status") or "registered")
    if description := registry.get("description"):
        yield Fact("For", description)
    for reference in registry["references"]:
        yield Fact("Reference", reference["text"])
    if registry["since"]:
        yield Fact("Since", registry["since"])


def _namespace(parts: Mapping[str, Any]) -> Iterator[Fact]:
    for label, text in parts["details"].items():
        yield Fact(label, text)
    if parts["display"] != parts["canonical"]:
        yield Fact("For people", parts["display"], identifier=True)
    if parts["canonical"] != parts["assigned_name"]:
        yield Fact("Canonical", parts["canonical"], identifier=True)


def _kunze(form: Mapping[str, Any]) -> Iterator[Fact]:
    # As that draft leaves it, non-ASCII characters and all: not percent-encoded for show.
    yield Fact("Normal form", form["normal_form"])
    for rule in form["differs_by"]:
        title, reference = f"{rule['title'][0].lower()}{rule['title'][1:]}", rule["reference"]
        theirs = reference.startswith("draft-kunze-ark")
        said = f"That draft alone: {title} ({reference})" if theirs else f"Ours alone: {title} ({reference})"
        yield Fact("Differs by", said)


def _policy(verdict: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Verdict", "may be allocated" if verdict["allocatable"] else "is not to be allocated")
    for found in verdict["findings"][:MOST_FINDINGS]:
        said = f"{found['message']}; expected {found['expected']} ({found['reference']}, {found['code']})"
        yield Fact(_SEVERITIES[found["severity"]], said)
    if len(verdict["findings"]) > MOST_FINDINGS:
        yield Fact("", f"and {len(verdict['findings']) - MOST_FINDINGS} more")
    yield Fact("Namespace", ", ".join(verdict["namespaces"]))
    if verdict["reserved"]:
        yield Fact("Reserved", "for the resolver of an identifier scheme")
    for parent in verdict["parents"][:MOST_FINDINGS]:
        yield Fact("More general", parent, identifier=True)
