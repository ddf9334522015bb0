"""Studies: many simulated runs described by one TOML file, on one machine or a cluster, and what they show.

A study becomes cells (one run each); a sweep runs the cells that are not finished yet; a report chooses learning
rates, draws the curves and counts the savings.
"""
