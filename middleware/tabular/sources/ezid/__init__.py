"""Read the batch downloads of EZID: one module for each form of the file, and one for the elements."""
