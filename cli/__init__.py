"""The command ``ararat``. :mod:`~ararat.cli.main` lists the commands and their modules."""

from __future__ import annotations

import sys
from importlib.util import find_spec

# One module of each package that the extra app installs and that a command imports.
NEEDED = ("click", "flask", "h11", "idna", "segno", "stdnum", "waitress")


def run() -> None:
    """Run the command ``ararat``. Without the extra ``app``, print what to install and exit with 69."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(  # noqa: T201
            f"ararat: the command needs packages that are not installed: {', '.join(missing)}\n"
            "  Fix  pip install 'ararat[app]'",
            file=sys.stderr,
        )
        raise SystemExit(69)
    from .main import main

    main()
