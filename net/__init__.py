"""The guarded HTTP client for requests to other hosts: URLs, DNS, allowed addresses, connections and responses."""
