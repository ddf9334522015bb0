"""Sequence tagging: the compiled tagger, and the same task for the general search learner."""
