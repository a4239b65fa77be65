"""A table file, such as a CSV file, that is served without a database."""
