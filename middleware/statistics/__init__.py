"""Counts of the requests for each name and day, without data of the clients."""
