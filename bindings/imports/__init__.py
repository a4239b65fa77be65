"""Import of tables into a database, and export of a store as a table."""
