"""The commands that read and change names."""
