"""The tables, triggers and indexes of a database."""
