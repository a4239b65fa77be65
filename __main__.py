"""``python -m ararat``: the command ``ararat``."""

from .cli import main

if __name__ == "__main__":
    main()
