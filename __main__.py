"""``python -m ararat``: the command ``ararat``."""

from .cli.main import main

if __name__ == "__main__":
    main()
