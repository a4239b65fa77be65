"""Read the tables of arklet."""
