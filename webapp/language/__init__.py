"""The language of a page for people: its choice, its translations, and its dates and numbers.
The languages are English and each with a catalogue in the folder ``po``. The API and the commands are in English.
"""
