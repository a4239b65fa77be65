"""Views: one module per URL."""
