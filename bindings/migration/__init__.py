"""Migration of databases of older versions."""
