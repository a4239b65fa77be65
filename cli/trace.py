"""``ararat trace``: the reference algorithm over the network, each hop shown as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from ..webapp.tracing.events import End, Event
from . import streams
from .errors import DONE, FAILURE, UNREADABLE, UNSPECIFIED, read_name, write
from .output import Sheet

_CODES = {"success": DONE, "refused": UNREADABLE, "failure": FAILURE, "unspecified": UNSPECIFIED}
_DIFFERENT = 1
_RESOLVER = "https://n2t.net"


resolver_option: Callable[..., Any] = click.option(
    "--resolver",
    metavar="URL",
    default=_RESOLVER,
    show_default=True,
    help="The resolver prefix that is asked first; 'registry' for the one that is known for the name.",
)
network_option: Callable[..., Any] = click.option(
    "--allow-network",
    "networks",
    metavar="CIDR",
    multiple=True,
    envvar="ARARAT_ALLOW_NETWORK",
    show_envvar=True,
    help="Also ask hosts in this network, at any port, though its addresses are not public; repeatable.",
)


@click.command("trace", short_help="Follow an identifier to where it leads.")
@click.argument("identifier", metavar="ID")
@resolver_option
@click.option(
    "--method",
    type=click.Choice(["GET", "HEAD"], case_sensitive=False),
    default="GET",
    show_default=True,
    help="For every request.",
)
@click.option("--max-redirects", type=int, metavar="N", default=10, show_default=True, help="5 to 20.")
@click.option(
    "--compare",
    "other",
    metavar="URL",
    help="Ask this resolver after the other one, and say whether both lead to the same place.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each event, as the web API has it.")
@network_option
def trace_command(
    identifier: str,
    resolver: str,
    method: str,
    max_redirects: int,
    other: str | None,
    networks: tuple[str, ...],
    as_json: bool,
) -> int:
    """Resolve ID as the reference algorithm of the ARK draft does, and show each hop as it comes.

    Nothing is asked but hosts at public addresses, at the ports 80 and 443, unless --allow-network says so. Of an
    address with an ARK in it the ARK is resolved, at the resolver named.

    Exit code: 0 success, 1 the two of --compare lead to different places, 2 ID cannot be read, 3 failure, 4 an answer
    that the draft gives no meaning.

    \b
      ararat trace ark:/12148/btv1b8449691v
      ararat trace ark:/12148/btv1b8449691v --compare registry
      ararat trace ark:12345/x8rd4 --resolver http://127.0.0.1:8000 --allow-network 127.0.0.0/8
    """
    # The client for hops takes a while to load; nobody else waits for it.
    from ..webapp.tracing.algorithm import TraceError, trace
    from ..webapp.tracing.client.guard import guarded_fetch
    from ..webapp.tracing.comparison import compare_ends

    try:
        fetch = guarded_fetch(networks=networks)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--allow-network") from None
    named = {"--resolver": resolver} | ({"--compare": other} if other else {})
    resolvers = [_prefix(each, identifier, option) for option, each in named.items()]
    try:
        # Both are looked at before one is asked.
        runs = [
            trace(identifier, fetch=fetch, resolver=each, method=method.upper(), max_redirects=max_redirects)
            for each in resolvers
        ]
    except TraceError as error:
        raise click.UsageError(str(error)) from None
    if not as_json:
        # People are shown the place; programs get the same as an event.
        read_name(identifier)
    told = [_tell(events, as_json) for events in runs]
    codes = [_CODES[end.outcome] for *_, end in told if isinstance(end, End)]
    if len(told) == 1:
        return codes[0]
    compared = compare_ends(*told)
    if as_json:
        streams.dump(compared.as_dict())
    else:
        sheet = Sheet.of(sys.stdout)
        write(["", *sheet.prose(compared.sentence, style="good" if compared.same else "doubtful")])
    return codes[0] if compared.same else _DIFFERENT


def _prefix(resolver: str, identifier: str, option: str) -> str:
    from ..webapp.tracing.known_resolvers import REGISTRY_KEYWORD, prefix_for

    if resolver != REGISTRY_KEYWORD:
        return resolver
    if (known := prefix_for(identifier)) is None:
        raise click.BadParameter("no resolver is known for this identifier", param_hint=option)
    return known


def _tell(events: Iterator[Event], as_json: bool) -> list[Event]:
    """Show the events as they come; all of them."""
    from .render import traces

    sheet, told = Sheet.of(sys.stdout), []
    for event in events:
        told.append(event)
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(traces.event_lines(event, sheet))
        sys.stdout.flush()
        if isinstance(event, End) and event.code in ("blocked", "port"):
            advice = "To ask hosts that are not public, or other ports, name their network: --allow-network 127.0.0.0/8"
            write(Sheet.of(sys.stderr).prose(f"ararat: {advice}"), to=sys.stderr)
    return told
