"""Ready-made search tasks."""
