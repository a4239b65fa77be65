"""The tables of a bindings database, their triggers and their indexes."""
