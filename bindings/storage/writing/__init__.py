"""Transactions, and the creation of databases. These modules load SQLAlchemy."""
