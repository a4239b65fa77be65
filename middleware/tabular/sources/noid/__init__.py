"""Read the dumps of noid and egg: the elements of names, and the minter."""
