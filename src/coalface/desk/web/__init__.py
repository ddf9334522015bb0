"""The labelling service over HTTP: REST routes, pages, authentication and webhooks."""
