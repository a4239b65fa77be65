"""The texts of the resolver's answers as pages and for programs: descriptions, prefix records and error pages."""
