"""The commands that read and change bindings."""
