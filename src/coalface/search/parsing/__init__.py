"""Dependency parsing: the arc-hybrid system, its features, and the task for the search learner."""
