"""The HTTP client of traces and of ``ararat doctor``: URLs, DNS, allowed addresses, connections and messages."""
