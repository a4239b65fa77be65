"""The databases SQLite and PostgreSQL, and their connections."""
