"""Records of NAANs and shoulders: their texts, patterns, character sets and redirect rules."""
