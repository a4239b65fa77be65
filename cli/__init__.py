"""The command ``ararat``: one module per command."""
