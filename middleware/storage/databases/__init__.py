"""The SQL databases SQLite and PostgreSQL: opening them, their connections for reading, and their errors."""
