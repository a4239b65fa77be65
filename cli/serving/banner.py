"""The lines that ``ararat serve`` prints when it answers: its addresses, its bindings and its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..errors import creation
from ..output import Sheet, identifier

if TYPE_CHECKING:
    from ...middleware import Bindings

_FEEDS = ("sitemap", "atom", "oai")


def lines(
    sheet: Sheet,
    bindings: Bindings,
    options: Mapping[str, Any],
    *,
    address: str,
    inspector: str | None,
    first_secret: str | None = None,
) -> Iterator[str]:
    """Yield the lines that ``ararat serve`` prints when it is ready. ``options`` are the parameters of the command.
    ``inspector`` and ``first_secret`` are those of :class:`.application.Placement`.
    """
    from ...webapp.accounts import first_account

    is_demo = not (options["database"] or options["table"])
    prefix = options["prefix"]
    public = (prefix or address).rstrip("/")
    yield f"{sheet.paint(f'Ararat {__version__} at')} {sheet.paint(address, 'strong')}"
    if is_demo:
        yield from sheet.field("Demo site", f"{address}/demo/")
    if prefix:
        yield from sheet.field("Prefix", identifier(prefix))
        linked = identifier(inspector) if inspector else "not linked from error pages; to link it, set --inspector"
        yield from sheet.field("Inspector", linked)
    elif options["host"] in ("0.0.0.0", "::"):  # noqa: S104 - a comparison
        yield from sheet.field("Prefix", f"{address}, not reachable from other machines; set --prefix")
    # Without a link to the inspector, the front server may send only names to this address.
    pages = address if inspector is None else public if inspector.startswith("/") else inspector.rstrip("/")
    role = options["only"]
    if role:
        roles = {"names": "names; this server writes nothing", "desk": "desk, without names for readers"}
        yield from sheet.field("Role", roles[role])
    if bindings.kind == "database" and role != "names":
        yield from sheet.field("Desk", f"{identifier(pages)}/desk")
        if first_secret:
            yield from _first_account(sheet, bindings, pages, first_secret)
        yield from sheet.field("JSON API", f"{identifier(pages)}/api/v1")
    if options["ezid"] and role != "names":
        yield from sheet.field("EZID API", identifier(f"{public}{options['ezid'].rstrip('/')}"))
    if feeds := [identifier(f"{public}{options[name]}") for name in _FEEDS if options[name]]:
        yield from sheet.field("Feeds", ", ".join(feeds))
    if options["log"]:
        yield from sheet.field("Log", identifier(f"{public}{options['log']}"))
    note = " (temporary; names are lost when the server stops)" if is_demo else ""
    if bindings.kind != "database":
        note = " (read again when it changes, never written)"
    yield from sheet.field("Bindings", f"{bindings.location}{note}")
    if is_demo:
        yield from sheet.field("Keep names", "run this command instead:")
        # It is not wrapped, so that a copy of it works.
        yield f"  {first_account.keeping_command()}"
    yield from sheet.field("Names", _names(bindings))
    if role == "names":
        yield from sheet.field("Stop", "Ctrl-C")
        return
    hosts = "also to other hosts; to forbid, set --no-trace-elsewhere"
    yield from sheet.field("Traces", hosts if options["trace_elsewhere"] else "to this site only")
    yield from sheet.field("Stop", "Ctrl-C")


def _first_account(sheet: Sheet, bindings: Bindings, pages: str, secret: str) -> Iterator[str]:
    """Yield the link and the command that add the first account. They are not wrapped, so that a copy of them works."""
    from ...webapp.accounts import first_account

    link = first_account.may_print(pages)
    todo = "open this link once, or run this command" if link else "run this command"
    yield from sheet.field("Account", f"none yet; {todo}:")
    if link:
        yield f"  {identifier(pages)}/first-account/{secret}"
    command = first_account.command(bindings)
    yield f"  {command if command.isprintable() else identifier(command)}"


def _names(bindings: Bindings) -> str:
    from ...middleware import BindingsUnavailable

    try:
        return str(bindings.count())
    except BindingsUnavailable as error:
        advice = f"; {create}" if (create := creation(error)) else ""
        return f"unknown; the resolver answers 503 until the bindings can be read: {error}{advice}"


def has_no_account(bindings: Bindings) -> bool:
    """Return whether a store is a database without an account. A file and an unreadable database are False."""
    from ...middleware import BindingsUnavailable

    if bindings.kind != "database":
        return False
    from ...webapp.accounts.store import Accounts

    try:
        return not Accounts(bindings).exist()
    except BindingsUnavailable:
        return False
