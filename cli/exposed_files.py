"""Warnings about files that other users of the machine can read: databases with accounts, secrets and tokens."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..bindings.system.files import open_to_others
from ..identifiers.text import display

if TYPE_CHECKING:
    from ..middleware import Bindings

SECRET_OPTIONS = {
    "openid_secret_file": "a secret",
    "remote_user_secret_file": "a secret",
    "metrics_token_file": "a token",
}
"""The options of ``ararat serve`` that name a file with a secret or token. Each has a variable, such as
ARARAT_METRICS_TOKEN_FILE.
"""


class ExposedFile(NamedTuple):
    """A file that other users can read or change: its path, its permissions, and its content in words."""

    path: Path
    rights: str
    content: str

    @property
    def message(self) -> str:
        """The clause of a warning that other users can read the file, in printable ASCII."""
        return f"other users can read {display.escape(str(self.path))} ({self.rights}), which contains {self.content}"

    @property
    def fix(self) -> str:
        """The shell command that corrects the permissions of the file."""
        return f"chmod o= {display.escape(str(self.path))}"


def files_of(database: str) -> list[Path]:
    """Return the existing files of an SQLite database: the database, its log and its index. Another store has none."""
    from ..bindings.names.errors import BindingError
    from ..bindings.open import database_at, table_file
    from ..bindings.storage.databases.sqlite import SQLite

    try:
        store = None if table_file(database) else database_at(database)
    except BindingError:
        return []
    if not isinstance(store, SQLite):
        return []
    file = store.path.resolve() if store.path.is_symlink() else store.path  # SQLite writes the log beside the file
    beside = (file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm"))
    return [path for path in beside if path.exists()]


def exposed_database(database: str, bindings: Bindings) -> Iterator[ExposedFile]:
    """Yield the files of a database with accounts that other users can read. Without accounts, yield nothing."""
    exposed = [(path, rights) for path in files_of(database) if (rights := open_to_others(path))]
    if exposed and has_accounts(bindings):
        for path, rights in exposed:
            yield ExposedFile(path, rights, "accounts")


def exposed_secrets(options: Mapping[str, str | None]) -> Iterator[ExposedFile]:
    """Yield the files with secrets that other users can read. ``options`` are paths by option
    (:data:`SECRET_OPTIONS`).
    """
    for option, content in SECRET_OPTIONS.items():
        file = options.get(option)
        if file and (rights := open_to_others(file)):
            yield ExposedFile(Path(file), rights, content)


def secret_files(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return the files with secrets and tokens that environment variables of ``ararat serve`` name, by their option.

    >>> secret_files({"ARARAT_METRICS_TOKEN_FILE": "/etc/ararat/token"})["metrics_token_file"]
    '/etc/ararat/token'
    """
    return {option: environ.get(f"ARARAT_{option.upper()}") for option in SECRET_OPTIONS}


def has_accounts(bindings: Bindings) -> bool:
    """Return whether a store has an account. The result is False if it cannot be read."""
    from ..middleware import BindingError, BindingsUnavailable
    from ..webapp.accounts.store import Accounts

    try:
        return Accounts(bindings).exist()
    except (BindingError, BindingsUnavailable):
        return False


def warn(exposed: Iterable[ExposedFile]) -> None:
    """Print a warning on standard error for each file that other users can read."""
    from .errors import write
    from .output import Sheet

    sheet = Sheet.of(sys.stderr)
    for each in exposed:
        write(sheet.prose(f"ararat: warning: {each.message}; run: {each.fix}", style="warning"), to=sys.stderr)
