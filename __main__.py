"""``python -m ararat``: the command ``ararat``."""

from .webapp.command import main

if __name__ == "__main__":
    main()
