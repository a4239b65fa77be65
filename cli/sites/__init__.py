"""Commands that request the pages and names of a running site."""
