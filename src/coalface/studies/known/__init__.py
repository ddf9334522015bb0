"""Datasets by name: those that scikit-learn bundles, and those that it downloads into the folder ``COALFACE_DATA``."""

from coalface.studies.known.catalogue import KnownData, known_data, load_known

__all__ = ["KnownData", "known_data", "load_known"]
