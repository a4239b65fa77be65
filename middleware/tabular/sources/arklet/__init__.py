"""Read the table of ARKs of arklet: one module for each form of the file, and one for the columns."""
