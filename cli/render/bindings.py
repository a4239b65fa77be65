"""Turn bindings and their history into lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from ..output import Sheet, Style, identifier, words

if TYPE_CHECKING:
    from ...bindings.names.binding import Event
    from ...bindings.names.prefixes.prefixes import InheritedText, PrefixEvent, PrefixRecord
    from ...bindings.names.prefixes.rules import RuleEvent
    from ...middleware import Binding
    from ...webapp.management.succession import Succession


# The fields with one text that have lines of their own.
_OWN_LINES = ("target", "successor", "spelling", "resource", "hold_reason")


def binding_lines(
    binding: Binding, sheet: Sheet, inherited: Mapping[str, InheritedText] | None = None
) -> Iterator[str]:
    """Yield the lines that show a binding: its name, its state and the fields that have a value.
    ``inherited`` has persistence statements of prefix records that the binding does not have, by short names.
    """
    from ...bindings.names.fields import FIELDS, text_of

    yield from sheet.prose(identifier(binding.identifier), style="strong")
    yield from sheet.prose(state(binding), style="good" if binding.is_live else "warning")
    yield ""
    if binding.is_test:
        yield from sheet.field("Test", "yes: the name is never in feeds or the log", style="warning")
    if binding.hold is not None:
        yield from sheet.field("On hold", f"until {moment(binding.hold.until)}", style="warning")
        yield from sheet.field("", words(binding.hold.reason or "the reason was redacted"))
    if binding.target is not None:
        yield from sheet.field("Target", identifier(binding.target), style="name")
    yield from sheet.table(
        "Alternates", [(words(choice), identifier(target)) for choice, target in binding.alternates.items()]
    )
    for field in FIELDS:
        if field.type == "text" and field.name not in _OWN_LINES and (text := text_of(field.name, binding)):
            yield from sheet.field(field.title, words(text))
    if binding.successor is not None:
        yield from sheet.field("Successor", identifier(binding.successor))
    if binding.spelling != binding.identifier:
        yield from sheet.field("Spelling", identifier(binding.spelling))
    yield from sheet.field("Resource", words(binding.resource) if binding.resource else "none recorded")
    shown = [(kind.capitalize(), words(text.replace("|", " | "))) for kind, text in binding.numbers.items()]
    yield from sheet.table("Numbers", shown)
    if binding.passthrough:
        how = "as received" if binding.passthrough == "given" else "in normal form"
        yield from sheet.field("Passthrough", f"the rest of a longer name is appended to the target {how}")
    if not binding.listed:
        yield from sheet.field("Listed", "no: the name is in no feed, and its description has noindex")
    if binding.scope == "subtree":
        yield from sheet.field("Scope", "the site also serves all names below this one")
    from ...bindings.names.metadata import metadata

    recorded = metadata.shorten_names(binding.metadata)
    yield from sheet.table("Metadata", [(words(key), words(text)) for key, text in recorded.items()])
    # ARK-007: without a statement nothing is called persistent.
    inherited = inherited or {}
    statements = [(name, f"{words(each.text)} (from {identifier(each.prefix)})") for name, each in inherited.items()]
    yield from sheet.table("" if binding.metadata else "Metadata", statements)
    if not {"persistence", "availability"} & {*inherited, *recorded}:
        yield from sheet.field("" if binding.metadata else "Metadata", "no persistence statement known")
    yield from sheet.field("Created", moment(binding.created))
    yield from sheet.field("Changed", f"{moment(binding.changed)}, revision {binding.revision}")


def binding_line(outcome: str, binding: Binding, sheet: Sheet) -> Iterator[str]:
    """Yield the line that shows the change of a binding, such as "relocated ark:12345/x5 -> https://a.example/"."""
    style: Style = "soft" if outcome == "unchanged" else "good"
    target = f" -> {identifier(binding.target)}" if binding.target else ""
    yield f"{sheet.paint(outcome, style)} {sheet.paint(f'{identifier(binding.identifier)}{target} ({state(binding)})')}"


def event_lines(event: Event, sheet: Sheet) -> Iterator[str]:
    """Yield the lines that show one change in the history of a name: time, action, actor, and the binding after it."""
    by = f" by {words(event.actor)}" if event.actor else ""
    part = f" (operation {event.operation})" if event.operation is not None else ""
    style: Style = "warning" if event.action == "withdrawn" else "good"
    yield f"{sheet.paint(moment(event.when), 'soft')}  {sheet.paint(event.action, style)}{sheet.paint(f'{by}{part}')}"
    after = event.after
    yield from sheet.prose(f"{state(after)}{f' -> {identifier(after.target)}' if after.target else ''}", indent=4)
    if after.reason:
        yield from sheet.prose(words(after.reason), indent=4)
    before = event.before
    if before is not None and event.action == "updated":
        yield from difference_lines(before, after, sheet, indent=4)
    if (after.hold_until, after.hold_reason) != (before and before.hold_until, before and before.hold_reason):
        if after.hold_until is None:
            yield from sheet.prose("the hold was released", indent=4)
        else:
            yield from sheet.prose(f"on hold until {moment(after.hold_until)}", indent=4)
            yield from sheet.prose(words(after.hold_reason or ""), indent=4)


def rule_event_lines(event: RuleEvent, sheet: Sheet) -> Iterator[str]:
    """Yield the lines that show one change of a redirect rule: time, action, actor, and the rule after it."""
    by = f" by {words(event.actor)}" if event.actor else ""
    style: Style = "warning" if event.action == "removed" else "good"
    yield f"{sheet.paint(moment(event.when), 'soft')}  {sheet.paint(event.action, style)}{sheet.paint(by)}"
    if event.template is not None:
        rule = f"{identifier(event.prefix)} -> {identifier(event.template)} ({event.redirect})"
        yield from sheet.prose(rule, indent=4)


def prefix_lines(record: PrefixRecord, sheet: Sheet) -> Iterator[str]:
    """Yield the lines that show the record of a NAAN or shoulder: its texts, its redirect rule and its last change."""
    yield from sheet.prose(identifier(record.prefix), style="strong")
    yield ""
    yield from _texts(record, sheet)
    if record.rule is not None:
        yield from sheet.field("Rule", f"{identifier(record.rule.template)} ({record.rule.redirect})")
    by = f" by {words(record.actor)}" if record.actor else ""
    yield from sheet.field("Changed", f"{moment(record.changed)}{by}, revision {record.revision}")


def succession_lines(done: Succession, sheet: Sheet) -> Iterator[str]:
    """Yield the lines that show a succession: the new institution, and the grants of accounts that change or stay."""
    word = "succeeded" if done.written else "would succeed"
    before = f", before {words(done.before)}" if done.before else ""
    record = done.record
    yield from sheet.prose(f"{word} {identifier(record.prefix)}: {words(record.who or '')}{before}")
    for title, grants in (("granted", done.granted), ("revoked", done.revoked), ("unchanged", done.kept)):
        for grant in grants:
            yield from sheet.prose(f"{title} {words(grant.account)} {identifier(grant.prefix)}")


def prefix_event_lines(event: PrefixEvent, sheet: Sheet) -> Iterator[str]:
    """Yield the lines that show one change of the record of a NAAN or shoulder: time, action, actor, and its texts."""
    record = event.record
    by = f" by {words(record.actor)}" if record.actor else ""
    style: Style = "warning" if event.action == "removed" else "good"
    yield f"{sheet.paint(moment(record.changed), 'soft')}  {sheet.paint(event.action, style)}{sheet.paint(by)}"
    yield from _texts(record, sheet)


def _texts(record: PrefixRecord, sheet: Sheet) -> Iterator[str]:
    from ...bindings.names.prefixes.patterns import read_form

    for name, text in record.all_texts.items():
        if name == "lineage":
            continue
        form = read_form(text) if name == "pattern" else None
        title = name.replace("_", " ").capitalize()
        yield from sheet.field(title, f"{text} ({form.words})" if form else words(text, most=4000))
    for each in record.predecessors:
        contact = f" ({words(each.contact)})" if each.contact else ""
        yield from sheet.field("Before", f"{words(each.who or 'not recorded')}{contact}, until {words(each.until)}")


def state(binding: Binding) -> str:
    """Return the state of a name in words, such as "located, by 302". That of a name for tests ends with ", test"."""
    return f"{_state(binding)}{', test' if binding.is_test else ''}"


def _state(binding: Binding) -> str:
    if binding.is_reserved:
        was = ", was public" if binding.is_hidden else ""
        return f"reserved{was}{f', live from {moment(binding.embargo)}' if binding.embargo else ''}"
    if binding.is_withdrawn:
        return f"withdrawn, was {binding.kind}"
    return f"located, by {binding.redirect}" if binding.kind == "located" else binding.kind


def name_and_target(before: Binding | None, after: Binding) -> str:
    """Return a text such as "ark:12345/x -> /b (was /a)": a changed name, its target, and another target before."""
    target = f" -> {identifier(after.target)}" if after.target else ""
    was = f" (was {identifier(before.target)})" if before and before.target and before.target != after.target else ""
    return f"{identifier(after.identifier)}{target}{was}"


def difference_lines(before: Binding, after: Binding, sheet: Sheet, *, indent: int) -> Iterator[str]:
    """Yield a line for each field that a change replaced, except the target, with its new value and its old one."""
    for name, old, new in _differences(before, after):
        yield from sheet.prose(f"{name}: {words(new, most=200)} (was {words(old, most=200)})", indent=indent)


def _differences(before: Binding, after: Binding) -> Iterator[tuple[str, str, str]]:
    from ...bindings.names.fields import differing
    from ...bindings.names.metadata import metadata

    for field, old, new in differing(before, after):
        if field.name != "target":
            yield field.name, old or "none", new or "none"
    for olds, news, label in (
        (metadata.shorten_names(before.metadata), metadata.shorten_names(after.metadata), "{}"),
        (before.alternates, after.alternates, "target[{}]"),
        (before.numbers, after.numbers, "{} numbers"),
    ):
        for name in sorted(olds.keys() | news.keys()):
            if olds.get(name) != news.get(name):
                yield label.format(words(name)), olds.get(name, "none"), news.get(name, "none")


def moment(when: datetime) -> str:
    """Return a time in UTC as a text for a terminal, to the second.

    >>> moment(datetime(2026, 11, 22, 15, 0, 0))
    '2026-11-22 15:00:00Z'
    """
    return when.strftime("%Y-%m-%d %H:%M:%SZ")
