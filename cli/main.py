"""The command ``ararat``: its subcommands, and how the process ends.

The module of a command is loaded when the command runs. A command returns its exit code. A usage error ends with 64,
because 2, the default of click, means "not valid" here. A :class:`~ararat.cli.errors.CommandError` is printed to
standard error. An interrupt or a closed pipe ends the process by the signal itself, so that the calling shell sees it.
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
from ..bindings.storage.versions import VERSION
from .errors import USAGE, CommandError, cannot_write, write

# The sections of the help text: each command with its module, and its first words.
_SECTIONS = {
    "Identifiers": {
        "inspect": ("inspect", "Show the parts, normal form and problems of an identifier."),
        "equal": ("inspect", "Compare two identifiers."),
        "find": ("inspect", "List the identifiers in a text."),
        "trace": ("trace", "Resolve an identifier and show each HTTP request."),
    },
    "Names": {
        "bind": ("bindings.names", "Bind an identifier to a URL."),
        "relocate": ("bindings.names", "Change the target of one identifier, or of many."),
        "passthrough": ("bindings.names", "Set how many names append the rest of longer identifiers."),
        "withdraw": ("bindings.names", "Withdraw an identifier, or many. They then answer 410 Gone."),
        "restore": ("bindings.names", "Restore a withdrawn identifier, or many."),
        "hold": ("bindings.holds", "Stop the redirect of a name or prefix until a date."),
        "release": ("bindings.holds", "End the hold of a name or prefix."),
        "holds": ("bindings.holds", "List the holds of names and prefixes."),
        "change": ("bindings.change", "Edit, publish, move, withdraw, hold or delete the selected names."),
        "reserve": ("bindings.names", "Reserve an identifier without publishing it."),
        "delete": ("bindings.names", "Delete a reserved identifier."),
        "mint": ("bindings.mint", "Create new opaque identifiers."),
        "rule": ("bindings.rules", "Manage redirect rules for a prefix."),
        "prefix": ("bindings.prefixes", "Manage the records of prefixes."),
        "show": ("bindings.names", "Show the binding of an identifier."),
        "history": ("bindings.names", "Show all changes of an identifier."),
        "undo": ("bindings.bulk", "Undo an operation, or the last change of a name."),
        "operations": ("bindings.bulk", "List the operations that changed many names."),
        "jobs": ("bindings.jobs", "List the unfinished jobs of the site, or continue one."),
        "list": ("bindings.listing", "List names by prefix, state, target, text, resource or time."),
        "count": ("bindings.listing", "Count names by shoulder, state or month."),
        "stats": ("bindings.statistics", "Show how often names were requested."),
    },
    "Databases": {
        "init": ("databases.init", "Create a database for bindings."),
        "import": ("databases.import_table", "Bind all identifiers of a table."),
        "export": ("databases.export", "Write all bindings to a table."),
        "backup": ("databases.backup", "Copy a database into a file while names are written."),
        "snapshot": ("databases.snapshot", "Write the names to a file for nodes that only read."),
        "copy": ("databases.copy", "Copy a database or file with its history."),
        "check": ("databases.check", "Find problems in the bindings."),
        "verify": ("databases.verify", "Compare bindings with their history."),
        "recover": ("databases.recover", "Protect names that a restored database lacks."),
        "rounds": ("databases.rounds", "Trace targets, and record which are dead, moved or refused."),
        "digest": ("databases.digest", "Report what a person must act on, such as broken links."),
        "migrate": ("databases.migrate", "Upgrade the database of an older version."),
    },
    "The log": {
        "log": ("log.log", "Publish a log that proves that names are not re-assigned."),
        "verify-name": ("log.verify_name", "Verify a proof that a change of an identifier is in a log."),
        "monitor": ("log.monitor", "Check all entries of a log, and report problems."),
        "witness": ("log.witness", "Cosign the logs of other institutions."),
        "redact": ("log.redact", "Remove personal values from the history of an identifier."),
    },
    "Sites": {
        "account": ("accounts.account", "Manage the accounts of people and programs."),
        "serve": ("serving.serve", "Run the inspector and a resolver, by default with a demo site."),
        "doctor": ("doctor.command", "Diagnose a deployment."),
    },
    "Standards": {
        "policy": ("registries.policy", "Check IRIs against an IRI policy."),
        "registry": ("registries.registry", "Update the registries of NAANs, URN namespaces and URI schemes."),
        "schemes": ("registries.schemes", "Check registrations of URI schemes."),
        "conformance": ("conformance.command", "Check a resolver, or an implementation by test vectors."),
    },
}
_COMMANDS = {name: command for section in _SECTIONS.values() for name, command in section.items()}
_DEFECT = 70
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Commands(click.Group):
    """The group of all commands. It loads the module of a command only when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f".{_COMMANDS[cmd_name][0]}", __package__)
        return getattr(module, f"{cmd_name.replace('-', '_')}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, _COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{widest}}", words) for name, (_, words) in commands.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command, and end the process with its exit code. The default of ``args`` is those of the process."""
        _discard_closed_output()
        extra["standalone_mode"] = False
        extra["prog_name"] = "ararat"
        try:
            code = super().main(*args, **extra)
        except CommandError as refused:
            from .output import Sheet

            write(refused.lines(Sheet.of(sys.stderr)), to=sys.stderr)
            code = refused.exit_code
        except click.ClickException as error:
            _complain(error)
            code = USAGE
        except click.Abort:
            _end_by_signal("SIGINT", 130)
        sys.exit(code or 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and return its exit code. An unexpected error ends with 70 and an escaped traceback.
        If another program closes the pipe of the output, the process ends by SIGPIPE.
        """
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _end_by_signal("SIGPIPE", 141)
        except (CommandError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort
            if isinstance(error, OSError) and error.errno in _UNWRITABLE:
                # Python writes the rest of the buffer at exit, which would fail again with a traceback.
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                raise cannot_write("the output", error) from None
            from ..identifiers.text import display

            # A traceback can quote untrusted text, which must not control the terminal.
            report = "\n".join(map(display.escape, traceback.format_exc().splitlines()))
            sys.stderr.write(f"{report}\nararat: internal error; report it with the lines above\n")
            ctx.exit(_DEFECT)
        return code


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ararat", message=f"%(prog)s %(version)s (schema {VERSION})")
def main() -> None:
    """Inspect, resolve and manage ARKs and URNs, which are persistent identifiers.

    A binding connects an identifier to a URL, its target. In ark:12345/x5np1, 12345 is the NAAN, the number of an
    organization. x5 is a shoulder, a beginning of names.

    Run `ararat COMMAND --help` for help. Usage errors end with exit code 64.
    """
    # --version and --help end before this and load none of these.
    from .registries.registry_folder import use_user_tables
    from .serving.logs import FOR_COMMANDS, log_plainly

    log_plainly(FOR_COMMANDS)
    click.get_current_context().with_resource(use_user_tables())


def _discard_closed_output() -> None:
    """Discard what is written to standard output or standard error if the process was started with it closed."""
    for name in ("stdout", "stderr"):
        # Python sets such a stream to None. A command that has changed names must not fail afterwards.
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _complain(error: click.ClickException) -> None:
    from .output import Sheet

    sheet = Sheet.of(sys.stderr)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        write([error.format_message()], to=sys.stderr)
        return
    # click writes the choices of a missing option in lines with tabs.
    message = " ".join(error.format_message().split())
    write(sheet.prose(f"ararat: {message}", style="error"), to=sys.stderr)
    if isinstance(error, click.MissingParameter) and error.param and (error.param.metavar or "").endswith("|-"):
        write(sheet.field("Fix", "add an argument, or - to read standard input"), to=sys.stderr)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        write(sheet.prose(f"{error.ctx.get_usage()}\nTry: {error.ctx.command_path} --help"), to=sys.stderr)


def _end_by_signal(name: str, otherwise: int) -> NoReturn:
    number = getattr(signal, name, None)
    if number is not None and hasattr(os, "kill") and os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(otherwise)
