"""Compiled loops of tagging and parsing."""
