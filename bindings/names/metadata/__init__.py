"""The metadata of a name: its elements, the checks of records, and personal data."""
