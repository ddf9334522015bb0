"""Datasets known by name: bundled, local or fetched."""
