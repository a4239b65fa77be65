"""Turn reports, traces, bindings and findings into lines for a terminal."""
