"""Dependency parsing: its transition systems, its features, and the task for the search learner."""
