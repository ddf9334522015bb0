"""What the services of several products share: middleware, error responses, tokens, the server."""
