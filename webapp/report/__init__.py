"""Convert reports to text and rows for pages and terminal."""
