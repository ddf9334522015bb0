"""Programs that answer questions."""
