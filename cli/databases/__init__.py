"""The commands that create, fill, copy and check databases."""
