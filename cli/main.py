"""The command ``ararat``: what it is made of, and how it ends.

Each command is in a module of :mod:`~ararat.cli.errors`, loaded when it is used, and returns its exit code. The
other ways to end are here, the same for all of them: a usage error is 64 (click's own 2 would read as "invalid"), a
refusal says on standard error what, where, what was expected and what to do next, and an interrupt or a closed pipe
ends the process by the signal itself, so that whoever started it sees what happened.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

import click

from .. import __version__
from ..identifiers.text import display
from .errors import USAGE, Refused, write
from .logs import FOR_COMMANDS, log_plainly
from .output import Sheet
from .registry_folder import consulted

_COMMANDS = {
    "inspect": ("inspect", "Say what an identifier is, its parts and its normal form."),
    "equal": ("inspect", "Say whether two identifiers are equivalent, and why."),
    "find": ("inspect", "List the identifiers in running text."),
    "trace": ("trace", "Follow an identifier to where it leads, hop by hop."),
    "serve": ("serve", "Run the inspector and a resolver, with a demo site."),
    "init": ("init", "Create a database for names."),
    "bind": ("names", "Let a name lead to something."),
    "relocate": ("names", "Say where the thing of a bound name is now."),
    "withdraw": ("names", "Retire a name; it keeps its tombstone."),
    "restore": ("names", "Bring a withdrawn name back, for the same thing."),
    "show": ("names", "Show what a name is bound to."),
    "history": ("names", "Show all that happened to a name."),
    "import": ("import_table", "Bind the names of a table, all or none."),
    "export": ("export", "Write all bindings as a table."),
    "mint": ("mint", "Make new names that nobody used."),
    "check": ("check", "Look for what is doubtful in the bindings."),
    "doctor": ("doctor.command", "Look whether a deployment is well, and say what to change."),
    "migrate": ("migrate", "Bring a database of an older Ararat up to date."),
    "rule": ("rules", "Let the names of a NAAN or shoulder lead somewhere."),
    "policy": ("policy", "Say whether IRIs may be allocated by a policy."),
    "registry": ("registry", "Bring the registries up to date."),
    "schemes": ("schemes", "Registrations of URI/IRI schemes."),
    "conformance": ("conformance", "Put test vectors to an implementation."),
}
_DEFECT = 70
_OUTPUT = 74
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Commands(click.Group):
    """The group of all commands, in the order of the help text, each loaded on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order a newcomer meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f".{_COMMANDS[cmd_name][0]}", __package__)
        return getattr(module, f"{cmd_name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in _COMMANDS.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run, and end the process with the exit code of what was run."""
        log_plainly(FOR_COMMANDS)
        extra["standalone_mode"] = False
        extra["prog_name"] = "ararat"
        try:
            code = super().main(*args, **extra)
        except Refused as refused:
            write(refused.lines(Sheet.of(sys.stderr)), to=sys.stderr)
            code = refused.exit_code
        except click.ClickException as error:
            _complain(error)
            code = USAGE
        except click.Abort:
            _end_by("SIGINT", 130)
        sys.exit(code or 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for; what it could not say because nobody reads on is no error."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _end_by("SIGPIPE", 141)
        except (Refused, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort
            if isinstance(error, OSError) and error.errno in _UNWRITABLE:
                # What cannot be written once will not be written at exit either, and would end in a traceback there.
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                raise Refused(f"the output cannot be written: {error.strerror}", exit_code=_OUTPUT) from None
            # A traceback can quote what came from strangers, and a terminal must not act on it.
            report = "\n".join(map(display.escape, traceback.format_exc().splitlines()))
            sys.stderr.write(f"{report}\nararat: this is a defect of Ararat; the lines above say where\n")
            ctx.exit(_DEFECT)
        return code


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ararat", message="%(prog)s %(version)s")
def main() -> None:
    """What ARKs and URNs say, equal and lead to. Each command has its own --help; letters are
    printed where the output is UTF-8 and escaped elsewhere, --json gives JSON Lines in ASCII, and usage errors end
    with 64.
    """
    click.get_current_context().with_resource(consulted())


def _complain(error: click.ClickException) -> None:
    sheet = Sheet.of(sys.stderr)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        write([error.format_message()], to=sys.stderr)
        return
    write(sheet.prose(f"ararat: {error.format_message()}", style="bad"), to=sys.stderr)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        write(sheet.prose(f"{error.ctx.get_usage()}\nTry: {error.ctx.command_path} --help"), to=sys.stderr)


def _end_by(name: str, otherwise: int) -> NoReturn:
    number = getattr(signal, name, None)
    if number is not None and hasattr(os, "kill") and os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(otherwise)
