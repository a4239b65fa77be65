"""The texts of the resolver's answers as pages, JSON and plain text: descriptions, prefix records and error pages."""
