"""Tables that users upload: the stored files, their columns, the outcome of each row, and the jobs that import them."""
