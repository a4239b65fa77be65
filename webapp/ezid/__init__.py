"""The EZID API, version 2: clients of EZID manage the names of this site with another base URL (docs/ezid-api.md)."""
