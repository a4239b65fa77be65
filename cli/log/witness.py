"""The command ``witness``: cosign the logs of other institutions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, UNAVAILABLE, CommandError, store_errors, write
from ..options import WholeNumber
from ..output import Sheet, format_count, words

if TYPE_CHECKING:
    from ...bindings.log.witnesses.witness import Witness

_folder_option = click.option(
    "--dir",
    "folder",
    metavar="DIR",
    required=True,
    envvar="ARARAT_WITNESS_FOLDER",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="The private folder of the witness, with its key and what it has seen.",
)


@click.group("witness", short_help="Cosign the logs of other institutions.")
def witness_command() -> None:
    """Cosign the logs of other institutions, so that they cannot show two histories.

    A witness signs a checkpoint only if the log proves that it contains all entries of the last one. Two institutions
    can be witnesses of each other. A reader trusts a checkpoint that enough witnesses have cosigned.
    """


@witness_command.command("init", short_help="Create a witness with its key.")
@click.option("--name", metavar="NAME", required=True, help="The name of the witness, such as example.org/witness.")
@_folder_option
def init_command(name: str, folder: Path) -> int:
    """Create a witness in DIR, and print its public key. Give the key to the operators of logs, and publish it.

    Never restore DIR from a backup: an older copy could cosign a second history. Create a new witness instead.

    Exit code: 0 done, 2 refused, 74 the key cannot be written.

    \b
      ararat witness init --name example.org/witness --dir /var/lib/ararat/witness
    """
    from ...bindings.log.notes.key_file import create_key
    from ...bindings.log.notes.keys import COSIGNATURE

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"the folder {words(str(folder))} cannot be created: {error.strerror or error}") from None
    with store_errors():
        key = create_key(_key_path(folder), name, COSIGNATURE)
        _witness(folder).create()
    write([f"{key.verifier}"])
    return DONE


@witness_command.command("add", short_help="Cosign a log from now on.")
@click.argument("vkey", metavar="VKEY")
@_folder_option
def add_command(vkey: str, folder: Path) -> int:
    """Cosign the log with the public key VKEY from now on. `ararat log init` prints this key.

    A running `ararat witness serve` knows the log at once.

    Exit code: 0 done, 2 VKEY is not valid, or another key of this log is known.
    """
    from ...bindings.log.errors import LogError
    from ...bindings.log.notes.keys import VerifierKey

    try:
        key = VerifierKey.of_text(vkey)
    except LogError as error:
        raise CommandError(str(error), ("Fix", "copy the key from the web site of the log")) from None
    with store_errors():
        is_new = _witness(folder).add_log(key)
    added = "The witness cosigns the log" if is_new else "The witness already cosigns the log"
    write(Sheet.of(sys.stdout).prose(f"{added} {words(key.name)}."))
    return DONE


@witness_command.command("list", short_help="List the logs, and what the witness has seen of them.")
@_folder_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def list_command(folder: Path, as_json: bool) -> int:
    """List the logs that the witness cosigns, with the number of entries of the last cosigned checkpoint.

    Exit code: 0 done, 2 DIR is not a witness.
    """
    with store_errors():
        logs = _witness(folder).logs()
    for log in logs:
        if as_json:
            streams.dump({"log": log.key.name, "vkey": str(log.key), "size": log.size})
        else:
            entries = format_count(log.size, "entry", "entries")
            write(Sheet.of(sys.stdout).prose(f"{words(log.key.name)}: {entries}"))
    return DONE


@witness_command.command("serve", short_help="Answer the requests of logs.")
@_folder_option
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--port", type=WholeNumber(0, 65535), metavar="N", help="The port; 0 for any free one.  [default: from 8000 on]"
)
def serve_command(folder: Path, host: str, port: int | None) -> int:
    """Answer the requests of logs for cosignatures, at the path /add-checkpoint (C2SP tlog-witness).

    Use a proxy with https in front of it. Stop it with SIGTERM or Ctrl-C.

    Exit code: 0 stopped, 2 DIR is not a witness, 69 the port is in use.
    """
    from ...bindings.log.notes.key_file import locked_key
    from ...middleware.log.witnesses.application import witness_application
    from ..serving.listening import address_of, listen
    from ..serving.server import run

    with store_errors(), locked_key(_key_path(folder)) as key:
        witness = _witness(folder)
        witness.logs()  # a state that cannot be used is reported now
        try:
            listener = listen(host, port)
        except OSError as error:
            where = f"{words(host)}, port {'from 8000 on' if port is None else port}"
            raise CommandError(f"cannot listen on {where}: {error.strerror or error}", exit_code=UNAVAILABLE) from None
        address = address_of(listener)

        def ready() -> None:
            write(Sheet.of(sys.stdout).prose(f"Witness {words(key.name)}: {address}"))
            sys.stdout.flush()

        run(witness_application(witness, key), listener, ready)
    return DONE


def _key_path(folder: Path) -> Path:
    return folder / "witness.key"


def _witness(folder: Path) -> Witness:
    from ...bindings.log.witnesses.witness import Witness

    return Witness(folder / "witness.sqlite")
