"""Convert the report of an identifier to the texts and rows that pages and terminal show."""
