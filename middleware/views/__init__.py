"""Pages and records of the resolver: descriptions and refusals."""
