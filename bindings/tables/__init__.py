"""Tables in CSV, TSV, JSON Lines and ANVL: their formats, columns and cells."""
