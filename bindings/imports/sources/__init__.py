"""The dumps of other systems: EZID, arklet, noid and N2T. Each format has one module, which yields records."""
