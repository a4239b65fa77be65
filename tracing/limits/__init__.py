"""Limits on traces: their number at the same time, request rates and pauses. The response cache is here, too."""
