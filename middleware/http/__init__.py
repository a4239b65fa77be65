"""HTTP: request targets, responses, negotiation and conditional requests."""
