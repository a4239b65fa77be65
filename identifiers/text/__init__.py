"""Texts below the level of identifiers: the characters of IRIs, safe display, look-alike characters, and ANVL."""
