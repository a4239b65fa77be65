"""How reports, traces and bindings read in a terminal."""
