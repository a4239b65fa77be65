"""The guarded HTTP client of a trace: addresses, connections, deadlines."""
