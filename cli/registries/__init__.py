"""The commands for registries, URI scheme records and IRI policies, and the folder of updated registries."""
