"""Metrics of the resolver for Prometheus."""
