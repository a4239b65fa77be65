"""The command ``verify-name``: verify a proof that a change of an identifier is in a log."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, CommandError, read_name, write
from ..options import network_options
from ..output import Sheet, format_count, words
from .remote import Client, is_url, read_file
from .trust import policy_file_option, read_trust_policy, vkey_option

if TYPE_CHECKING:
    from ...bindings.log.verification.name_proof import ProvedEntry
    from ...net.allowed_addresses import Destinations


@click.command("verify-name", short_help="Verify a proof that a change of an identifier is in a log.")
@click.argument("identifier", metavar="ID")
@click.option(
    "--proof",
    metavar="FILE|URL",
    help="The proof: a file, - for standard input, or the address ID?proof at its resolver.  [default: ID?proof if ID "
    "is a URL]",
)
@policy_file_option
@vkey_option
@network_options()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def verify_name_command(
    identifier: str,
    proof: str | None,
    policy_file: str | None,
    vkey: str | None,
    destinations: Destinations,
    as_json: bool,
) -> int:
    """Verify that a log contains a change of the identifier ID, without trust in the server that sent the proof.

    The proof is a file in the format c2sp.org/tlog-proof. The resolver of ID returns it for ID?proof. No network is
    needed to verify a file. Give the trusted logs with --policy, or one log with --vkey.

    The command verifies the signature of the log, the cosignatures and the quorum of the policy. It also verifies that
    the entry is in the log and about ID.

    Exit code: 0 proved, 1 not proved, 2 ID or the policy is not valid, 66 a file cannot be read, 69 no response.

    \b
      curl -o x.tlog-proof 'https://example.org/ark:12345/x6np1?proof'
      ararat verify-name ark:12345/x6np1 --proof x.tlog-proof --policy trusted.policy
    """
    from ...bindings.log.errors import LogError
    from ...bindings.log.notes.notes import MAX_BYTES
    from ...bindings.log.verification.name_proof import verify_name
    from ...bindings.names import naming

    key = naming.key(read_name(identifier))
    policy = read_trust_policy(policy_file, vkey)
    if policy is None:
        raise click.UsageError("give the trusted log with --policy or --vkey")
    if proof is None and not is_url(identifier):
        raise click.UsageError("give the proof with --proof, or give ID as a URL")
    source = proof or f"{identifier.partition('?')[0].partition('#')[0]}?proof"
    try:
        if source == "-":
            content = streams.standard_input().read(MAX_BYTES + 1)
        elif is_url(source):
            with closing(Client(destinations)) as client:
                content = client.get(source)
        else:
            content = read_file(source, MAX_BYTES)
        proved = verify_name(key, content, policy)
    except LogError as error:
        if as_json:
            streams.dump({"identifier": key, "proved": False, "error": str(error)})
            return NO
        raise CommandError(f"not proved: {error}", ("Proof", words(source)), exit_code=NO) from None
    if as_json:
        streams.dump(_as_dict(key, proved))
    else:
        _print(key, proved)
    return DONE


def _print(key: str, proved: ProvedEntry) -> None:
    sheet = Sheet.of(sys.stdout)
    entry, number = proved.entry, proved.cosignatures
    size = format_count(proved.size, "entry", "entries")
    write(sheet.prose(f"Proved: {words(key)} is in the log {words(proved.log.name)}.", style="good"))
    write(sheet.field("Entry", f"{proved.index:,}; the signed checkpoint has {size}"))
    write(sheet.field("Change", f"{entry.revision:,}: {entry.action}, {entry.time:%Y-%m-%d %H:%M:%S} UTC"))
    if entry.thing is None:
        write(sheet.field("Resource", "the entry has no resource"))
    else:
        write(sheet.field("Resource", f"hash {entry.thing.hex()}; it must be the same in all entries of the name"))
    for each in number:
        write(sheet.field("Witness", f"{words(each.key.name)} has seen the checkpoint, {_moment(each.time)}"))
    if not number:
        write(sheet.field("Witness", "no witness of the policy has seen the checkpoint"))
    missing = "that this is the last change, that no other entry has another resource, and which target the name has"
    write(sheet.field("Not proved", f"{missing}. Run ararat monitor to check all entries.", style="soft"))


def _as_dict(key: str, proved: ProvedEntry) -> dict[str, object]:
    entry = proved.entry
    return {
        "identifier": key,
        "proved": True,
        "log": proved.log.name,
        "entry": proved.index,
        "size": proved.size,
        "revision": entry.revision,
        "action": entry.action,
        "time": f"{entry.time:%Y-%m-%dT%H:%M:%S.%fZ}",
        "thing": None if entry.thing is None else entry.thing.hex(),
        "before": entry.before,
        "witnesses": [{"name": each.key.name, "time": each.time} for each in proved.cosignatures],
    }


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"
