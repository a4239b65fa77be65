"""Turn reports, traces, bindings and findings into lines for a terminal, in the layout of a ``Sheet``."""
