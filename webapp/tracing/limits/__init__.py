"""Limits of tracing: concurrency, request rates, pauses and the response cache."""
