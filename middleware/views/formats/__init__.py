"""The formats of a description for programs: schema.org, DataCite, CSL-JSON, BibTeX, ERC and link sets."""
