"""Read the dumps of noid and its minters."""
