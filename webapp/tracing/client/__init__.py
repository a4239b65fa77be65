"""The HTTP client of traces and of ``ararat doctor``: URLs, lookups, allowed addresses, connections and messages."""
