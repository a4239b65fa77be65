"""The HTTP part of the resolver: request targets, content negotiation, conditional requests and responses."""
