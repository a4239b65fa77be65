"""Change the tables of a database that an older Ararat created, so that this Ararat can use it."""
