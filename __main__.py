"""``python -m ararat``: the command ``ararat``."""

from .cli import run

if __name__ == "__main__":
    run()
