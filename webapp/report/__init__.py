"""A report as words and rows, for the pages and the terminal."""
