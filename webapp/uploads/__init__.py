"""Tables that users upload: the stored files, their columns, and the outcome of each row."""
