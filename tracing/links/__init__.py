"""Link health: trace the targets of all names in rounds, and record which are dead or moved, and since when."""
