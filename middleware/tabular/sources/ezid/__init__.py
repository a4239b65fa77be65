"""Read the batch downloads of EZID."""
