"""The language of a page for people: its choice, its translations, and its dates and numbers.

The inspector and the desk are in English and in each language that has a catalogue in the folder ``po``. The API and
the commands stay in English.
"""
