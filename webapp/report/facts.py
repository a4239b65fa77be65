"""List facts about an identifier: from registries, URN namespaces, draft-kunze-ark and IRI policies.
Texts of registries are not trusted: a caller must display a :class:`Fact` like an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...bindings.names.binding import NOTHING
from ...bindings.names.metadata import persistence
from ...identifiers.text.translatable import Translatable

if TYPE_CHECKING:
    from ...identifiers import Report

MAX_FINDINGS = 12
"""Maximum number of findings and of parent IRIs that are shown."""


_SEVERITIES = {"error": Translatable("Error"), "warning": Translatable("Warning"), "note": Translatable("Note")}


_DETAILS = {
    "registration group": Translatable("registration group"),
    "country": Translatable("country"),
    "sub-namespace": Translatable("sub-namespace"),
    "check digit": Translatable("check digit"),
    "kind": Translatable("kind"),
    "variant": Translatable("variant"),
    "version": Translatable("version"),
    "root": Translatable("root"),
    "document": Translatable("document"),
}


def detail_label(name: str) -> str:
    """Return the label for a detail of a URN namespace, such as "country". A name without a label is unchanged."""
    return _DETAILS.get(name, name)


_STATEMENTS = {
    "erc.persistence": Translatable("Statement"),
    "erc.availability": Translatable("Availability"),
    "erc.variance": Translatable("Variance"),
}
STATEMENTS = frozenset(_STATEMENTS)
"""The elements of the metadata that state how long a name and its item last."""

_WEB = {("uri-schemes", "http"), ("uri-schemes", "https")}


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, such as the label "Holder" and the text "National Library of France".
    ``identifier``: the text is an identifier or a URL.
    """

    label: str
    text: str
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about an identifier from one source, such as the ``title`` "NAAN 12148".
    ``heading`` is that of a page for the entry of a registry, or "" for another source.
    """

    title: str
    facts: tuple[Fact, ...]
    heading: str = ""


def collect_facts(report: Report, promises: Mapping[str, str] = NOTHING) -> tuple[Facts, ...]:
    """Return the facts about an identifier, grouped by source. Sources without facts are omitted. ``promises`` are the
    persistence statements that are recorded here for it, by their elements.

    >>> from ararat.identifiers import examine
    >>> facts = collect_facts(examine("ark:/12148/btv1b8449691v"))[0]
    >>> facts.title, facts.facts[0].label, facts.facts[0].text[:26]
    ('NAAN 12148', 'Holder', 'National Library of France')
    """
    found = []
    if promises:
        found.append(Facts(Translatable("Persistence"), tuple(_promises(promises))))
    # The scheme of a web address describes no identifier.
    if report.registry and (report.registry["registry"], report.registry["key"]) not in _WEB:
        title, heading = _title(report.registry)
        found.append(Facts(title, tuple(_registry(report.registry)), heading))
    if report.form == "urn" and report.parts.get("details"):
        title = Translatable("Namespace %(namespace)s", namespace=report.parts["nid"].lower())
        found.append(Facts(title, tuple(_namespace(report.parts))))
    if report.check_character:
        found.append(Facts(Translatable("Check character"), tuple(_check_character(report.check_character))))
    if report.kunze and report.kunze["normal_form"] != (report.normal_form or "").partition("?")[0].partition("#")[0]:
        title = Translatable("draft-kunze-ark, revision %(revision)s", revision=str(report.kunze["revision"]))
        found.append(Facts(title, tuple(_kunze(report.kunze))))
    if report.policy:
        title = Translatable("Policy %(policy)s", policy=report.policy["profile"])
        found.append(Facts(title, tuple(_policy(report.policy))))
    return tuple(found)


def _promises(promises: Mapping[str, str]) -> Iterator[Fact]:
    meanings = persistence.definitions({name.removeprefix("erc."): text for name, text in promises.items()})
    for element, label in _STATEMENTS.items():
        if (text := promises.get(element)) is not None:
            meaning = meanings.get(element.removeprefix("erc."))
            yield Fact(
                label, text if meaning is None else Translatable("%(term)s: %(meaning)s", term=text, meaning=meaning)
            )


def _title(registry: Mapping[str, Any]) -> tuple[str, str]:
    key = registry["key"]
    match registry["registry"]:
        case "naan":
            return f"NAAN {key}", Translatable("Registry entry of NAAN %(naan)s", naan=key)
        case "urn-namespaces":
            heading = Translatable("Registry entry of URN namespace %(namespace)s", namespace=key)
            return Translatable("URN namespace %(namespace)s", namespace=key), heading
        case _:
            heading = Translatable("Registry entry of Scheme %(scheme)s", scheme=key)
            return Translatable("Scheme %(scheme)s", scheme=key), heading


def _registry(registry: Mapping[str, Any]) -> Iterator[Fact]:
    if explanation := registry["explanation"]:
        yield Fact(Translatable("Meaning"), Translatable("%(text)s (%(reference)s)", **explanation))
    if not registry["registered"]:
        yield Fact(Translatable("Registered"), Translatable("not in this copy of the registry"))
    elif registry["registry"] == "naan":
        yield from _authority(registry)
    else:
        yield from _entry(registry)
    snapshot = registry["snapshot"]
    yield Fact(Translatable("As of"), f"{snapshot['date']}, {snapshot['source']}")


def _authority(registry: Mapping[str, Any]) -> Iterator[Fact]:
    holder = registry["holder"]
    others = ", ".join(filter(None, (holder["native_name"], holder["acronym"])))
    yield Fact(Translatable("Holder"), f"{holder['name'].strip()} ({others})" if others else holder["name"].strip())
    if shoulder := registry["shoulder"]:
        yield Fact(Translatable("Shoulder"), f"{shoulder['shoulder']}, {shoulder['name'].strip()}")
    if holder["since"]:
        yield Fact(Translatable("Since"), holder["since"])
    if holder["policy"]:
        yield Fact(Translatable("Policy"), " ".join(holder["policy"].values()))
    resolver = registry["resolver"]
    if resolver["address"]:
        yield Fact(Translatable("Resolver"), resolver["address"], identifier=True)
    elif resolver["template"]:
        yield Fact(Translatable("Resolver"), resolver["template"], identifier=True)
    for problem in resolver["problems"]:
        yield Fact("", problem["message"])


def _entry(registry: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact(Translatable("Status"), registry.get("kind") or registry.get("status") or Translatable("registered"))
    if description := registry.get("description"):
        yield Fact(Translatable("Description"), description)
    for reference in registry["references"]:
        yield Fact(Translatable("Reference"), reference["text"])
    if registry["since"]:
        yield Fact(Translatable("Since"), registry["since"])


def _namespace(parts: Mapping[str, Any]) -> Iterator[Fact]:
    for label, text in parts["details"].items():
        yield Fact(detail_label(label), text)
    if parts["display"] != parts["canonical"]:
        yield Fact(Translatable("Display form"), parts["display"], identifier=True)
    if parts["canonical"] != parts["assigned_name"]:
        yield Fact(Translatable("Canonical"), parts["canonical"], identifier=True)


def _check_character(check: Mapping[str, Any]) -> Iterator[Fact]:
    values = {"character": check["character"], "text": check["text"]}
    if not check["valid"]:
        yield Fact(
            Translatable("Character"), Translatable("%(character)s, which is wrong for %(text)s (NOID)", **values)
        )
        yield Fact(
            "",
            Translatable(
                "The NAAN has names with a check character, so this one may be mistyped. Some names have none."
            ),
        )
        return
    right = Translatable("%(character)s, which is right for %(text)s (NOID, the Name)", **values)
    if check["covers"] == "noid":
        right = Translatable("%(character)s, which is right for %(text)s (NOID, the NAAN and the Name)", **values)
    yield Fact(Translatable("Character"), right)
    yield Fact("", Translatable("One of 29 names without a check character matches by chance."))


def _kunze(form: Mapping[str, Any]) -> Iterator[Fact]:
    if form["normal_form"] is None:
        why = Translatable("none, because the text is not an ARK there: %(reason)s", reason=form["reason"])
        yield Fact(Translatable("Normal form"), why)
        return
    yield Fact(Translatable("Normal form"), form["normal_form"], identifier=True)
    for rule in form["differs_by"]:
        title, reference = rule["title"], rule["reference"]
        difference = Translatable("only here: %(rule)s (%(reference)s)", rule=title, reference=reference)
        if reference.startswith("draft-kunze-ark"):
            difference = Translatable(
                "only in draft-kunze-ark: %(rule)s (%(reference)s)", rule=title, reference=reference
            )
        yield Fact(Translatable("Difference"), difference)


def _policy(verdict: Mapping[str, Any]) -> Iterator[Fact]:
    result = Translatable("can be allocated") if verdict["allocatable"] else Translatable("must not be allocated")
    yield Fact(Translatable("Result"), result)
    for found in verdict["findings"][:MAX_FINDINGS]:
        said = Translatable(
            "%(message)s; expected %(expected)s (%(reference)s, %(code)s)",
            **{name: found[name] for name in ("message", "expected", "reference", "code")},
        )
        yield Fact(_SEVERITIES[found["severity"]], said)
    if len(verdict["findings"]) > MAX_FINDINGS:
        more = len(verdict["findings"]) - MAX_FINDINGS
        yield Fact("", Translatable.counted("and %(number)s more", "and %(number)s more", more))
    yield Fact(Translatable("Namespace"), ", ".join(verdict["namespaces"]))
    if verdict["reserved"]:
        yield Fact(Translatable("Reserved"), Translatable("for the resolver of an identifier scheme"))
    for parent in verdict["parents"][:MAX_FINDINGS]:
        yield Fact(Translatable("Parent"), parent, identifier=True)
