"""One cost regressor per label: what they know, and how they learn it."""
