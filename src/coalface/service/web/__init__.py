"""The HTTP service: REST, pages, authentication."""
