"""Changes of many names in one operation: relocation, withdrawal, undo, and edits of selected names."""

from . import kinds as kinds  # declares them
