"""Changes of a database. These modules load SQLAlchemy, which a reader does not need."""
